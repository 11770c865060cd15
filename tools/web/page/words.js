// Figures and states in plain words.

export const BACKGROUND = 'background';

export function percent(part) {
  const value = 100 * part;
  return value > 99 && value < 100 ? '99 %' : `${Math.round(value)} %`;
}

export function count(number, one, many = `${one}s`) {
  return `${number} ${number === 1 ? one : many}`;
}

export function bytes(number) {
  if (number < 1e6) return `${Math.round(number / 1e3)} kB`;
  if (number < 1e9) return `${Math.round(number / 1e6)} MB`;
  return `${(number / 1e9).toFixed(1)} GB`;
}

export function cameraWord(state, link) {
  if (link !== 'open') return link === 'connecting' ? 'Connecting' : 'Not connected';
  if (state.paused) return 'Paused';
  return { opening: 'Opening camera', live: 'Live', lost: 'No picture', ended: 'Ended' }[state.feed.kind];
}

/** Where a GPU answers, or will: empty on a device without one. */
export function engineWord(engine) {
  if (engine.kind === 'answers') return 'GPU';
  if (engine.kind === 'given_up') return 'CPU';
  return engine.words && `${engine.words[0].toUpperCase()}${engine.words.slice(1)}`;
}

/** What is wrong, as {text, kind}; null when all is well. */
export function trouble(state, link) {
  if (link === 'lost') {
    return { kind: 'warn', text: 'The connection to the device is lost. It is tried again by itself; nothing that was learned is gone.' };
  }
  if (link === 'denied') {
    return { kind: 'danger', text: 'The device does not let this browser in. Open the address with the token that it printed when it started.' };
  }
  if (!state) return null;
  if (state.fault) return { kind: 'danger', text: state.fault };
  if (state.feed.kind === 'lost') return { kind: 'warn', text: `${sentence(state.feed.why)} It is tried again by itself.` };
  if (state.feed.kind === 'ended') return { kind: 'warn', text: 'The source has been shown in full. Start again to see it once more.' };
  if (state.throttled) return { kind: 'warn', text: 'The device is hot, so it looks less often until it has cooled down.' };
  return null;
}

function sentence(text) {
  const trimmed = (text || 'The camera gives no picture').trim();
  const begun = trimmed[0].toUpperCase() + trimmed.slice(1);
  return /[.!?]$/.test(begun) ? begun : `${begun}.`;
}

/** How well a class is known, from its samples left out one at a time. */
export function judged(known) {
  if (known.judged === 0) return '';
  return percent(known.right / known.judged);
}
