// What happened, how well it goes, what it costs.
import { $, icon, make, setText } from './dom.js';
import { line } from './plots.js';
import { bytes, percent, plainly } from './words.js';

const ICONS = { learn: 'plus', undo: 'undo', relabel: 'tag', rename: 'tag', forget: 'close', end_task: 'chart', task: 'chart',
  merge: 'up', export: 'down', camera: 'camera', engine: 'chart', gpu: 'warn', fault: 'warn' };
let shownEvents = '';
let shownPlots = '';

export function showHistory(state) {
  showEvents(state.events);
  showPlots(state);
  showAbout(state);
}

function showEvents(events) {
  const key = events.map((e) => e.number).join();
  if (key === shownEvents) return;
  shownEvents = key;
  $('events').replaceChildren(...[...events].reverse().map((event) =>
    make('li', { className: event.failed ? 'failed' : '' }, icon(event.failed ? 'warn' : ICONS[event.kind] ?? 'check'),
      make('span', { textContent: event.kind === 'export' && !event.failed ? 'exported into a file' : plainly(event.text) }))));
  $('events-empty').hidden = events.length > 0;
}

function showPlots(state) {
  const accuracy = state.accuracy_history.filter((value) => value >= 0); // -1: could not be judged then
  const memory = state.memory_history;
  const key = JSON.stringify([accuracy, memory, state.accuracy]);
  if (key === shownPlots) return;
  shownPlots = key;
  const now = state.accuracy >= 0 ? percent(state.accuracy) : '–';
  setText($('accuracy-now'), now);
  line($('plot-accuracy'), accuracy, { low: 0, high: 1, label: `Accuracy, each sample left out once: ${now} now, ${accuracy.length} values` });
  const most = Math.max(1, ...memory);
  line($('plot-memory'), memory, { low: 0, high: 1.1 * most, label: `Memory after each task: ${bytes(memory.at(-1) ?? 0)} at last` });
}

export function showRates(rates) {
  setText($('memory-now'), bytes(rates.resident_bytes));
  const ms = rates.backbone_ms + rates.head_ms;
  setText($('fact-time'), ms > 0 ? `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms a look` : '');
  setText($('fact-heat'), rates.temperature >= 0 ? `${Math.round(rates.temperature)} °C` : '');
}

function showAbout(state) {
  const rows = [['Camera', state.source], ['Model', state.model], ['GPU', state.engine.device], ['Power', state.power_mode], ['Kept in', state.directory], ['Version', state.version]];
  $('about').replaceChildren(...rows.filter(([, value]) => value).flatMap(([name, value]) =>
    [make('dt', { textContent: name }), make('dd', { textContent: value })]));
}
