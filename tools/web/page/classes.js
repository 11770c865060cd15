// The classes: how many samples each has, how well it is known, and what may be done with it.
import { $, icon, make, setText } from './dom.js';
import { order } from './link.js';
import { BACKGROUND, count, hintWords, judged, labelOf, nameOf, percent } from './words.js';
import { aim, target } from './teach.js';
import { confirm, show } from './dialog.js';
import { complain, tell } from './toast.js';

const rows = new Map(); // label > {item, samples}
const renamed = new Map(); // old label > new one, until the list shows it

/** Removes what is gone. Gives the way to what has the focus instead, where it was on such a row. */
function removeRows(labels) {
  let refocus = () => {};
  for (const [label, row] of rows) {
    if (labels.has(label)) continue;
    if (row.item.contains(document.activeElement)) {
      const at = [...$('classes').children].indexOf(row.item);
      const heir = renamed.get(label);
      refocus = () => {
        const list = $('classes').children;
        const next = rows.get(heir)?.item ?? list[Math.min(at, list.length - 1)];
        (next?.querySelector('.more') ?? $('name')).focus();
      };
    }
    renamed.delete(label);
    row.item.remove();
    rows.delete(label);
  }
  return refocus;
}

export function showClasses(state) {
  const list = $('classes');
  const refocus = removeRows(new Set(state.classes.map((c) => c.label)));
  let number = 0; // the background has none, as in the terminal
  state.classes.forEach((known, at) => {
    let row = rows.get(known.label);
    if (!row) {
      row = newRow(known.label);
      rows.set(known.label, row);
    }
    if (list.children[at] !== row.item) list.insertBefore(row.item, list.children[at] ?? null);
    fillRow(row, known, known.label === BACKGROUND ? 0 : number += 1);
  });
  refocus();
  const things = state.classes.filter((c) => c.label !== BACKGROUND);
  $('classes-empty').hidden = state.classes.length > 0;
  setText($('known-sum'), things.length > 0 ? `${count(things.length, 'class', 'classes')}, ${count(things.reduce((sum, c) => sum + c.samples, 0), 'sample')}` : '');
  $('names').replaceChildren(...things.map((c) => make('option', { value: c.label })));
  $('hints').replaceChildren(...state.hints.slice(0, 4).map((hint) => make('li', { textContent: hintWords(hint) })));
  showChosen();
}

function newRow(label) {
  const parts = {
    key: make('kbd', { 'aria-hidden': 'true' }), label: make('span', { className: 'label', textContent: nameOf(label), title: nameOf(label) }),
    count: make('span', { className: 'count' }), bar: make('span'),
  };
  const pick = make('button', { type: 'button', className: 'pick', onclick: () => aim(target() === label ? '' : label) },
    parts.key, parts.label, parts.count, make('span', { className: 'meter' }, parts.bar));
  const more = make('button', { type: 'button', className: 'more', 'aria-label': `Rename or forget ${nameOf(label)}`, onclick: () => edit(label) },
    icon('more'));
  const item = make('li', { className: 'class' }, pick, more);
  item.addEventListener('animationend', () => item.classList.remove('grown'));
  return { item, pick, parts, samples: 0, known: null };
}

function fillRow(row, known, number) {
  const { parts } = row;
  const share = judged(known);
  setText(parts.key, number > 0 && number <= 9 ? String(number) : '·');
  const samples = known.samples || '…'; // 0: they are still being read
  setText(parts.count, share ? `${samples} · ${share}` : `${samples}`);
  parts.bar.style.transform = `scaleX(${known.judged ? known.right / known.judged : 0})`;
  const words = known.samples ? [nameOf(known.label), count(known.samples, 'sample')] : [nameOf(known.label)];
  if (share) words.push(`${share} right when left out`);
  if (known.too_few) words.push('show a few more views');
  row.pick.setAttribute('aria-label', words.join(', '));
  row.pick.title = share ? `${known.right} of ${known.judged} right, each asked for as if it had never been learned` : '';
  if (row.samples > 0 && known.samples > row.samples) row.item.classList.add('grown');
  row.samples = known.samples;
  row.known = known;
}

export function showChosen() {
  const label = target();
  for (const [name, { item, pick }] of rows) {
    item.classList.toggle('chosen', name === label);
    pick.setAttribute('aria-pressed', String(name === label));
  }
}

/** Marks the class that the camera sees. */
export function showSeen(sight) {
  const best = sight.unknown ? '' : sight.answers[0]?.label;
  for (const [name, { item }] of rows) item.classList.toggle('seen', name === best);
}

async function edit(label) {
  const { known } = rows.get(label);
  const input = make('input', { type: 'text', id: 'dialog-name', maxLength: 80, value: nameOf(label), spellcheck: false });
  const told = known.judged
    ? `${count(known.samples, 'sample')}; ${known.right} of ${known.judged} (${percent(known.right / known.judged)}) are recognised when left out.`
    : `${count(known.samples, 'sample')}, not yet judged.`;
  const how = await show(nameOf(label), [
    make('p', { className: 'soft', textContent: told }),
    make('button', { type: 'submit', value: 'rename', hidden: true }),
    make('label', { htmlFor: 'dialog-name', textContent: 'Name' }), input,
  ], [{ word: 'Forget …', value: 'forget', kind: 'danger' }, { word: 'Cancel', value: '' }, { word: 'Rename', value: 'rename', kind: 'main' }]);
  const to = labelOf(input.value);
  if (how === 'forget') await forget(label, known.samples);
  if (how === 'rename' && to && to !== label) await rename(label, to);
}

async function rename(from, to) {
  const there = rows.get(to)?.known.samples;
  const here = rows.get(from)?.known.samples ?? 0;
  if (there !== undefined && !await confirm(`Join ${nameOf(from)} and ${nameOf(to)}?`,
    `${nameOf(to)} is known already. ${count(here, 'sample')} of ${nameOf(from)} would be added to its ${there}. This cannot be undone.`, 'Join')) return;
  renamed.set(from, to);
  const told = there === undefined ? null : `Joined: ${nameOf(from)} is part of ${nameOf(to)} now (${count(here + there, 'sample')}).`;
  const done = await carryOut('rename', { from, to }, () => target() === from && aim(to), told);
  if (!done) renamed.delete(from);
}

async function forget(label, samples) {
  const sure = await confirm(`Forget ${nameOf(label)}?`,
    `${count(samples, 'sample')} will be gone, and no byte of them stays. This cannot be undone.`, 'Forget');
  if (sure) await carryOut('forget', { label }, () => target() === label && aim(''));
}

async function carryOut(name, fields, then, told = null) {
  try {
    const done = await order(name, fields);
    then();
    tell(told ?? done.said);
    return true;
  } catch (error) {
    complain(error);
    return false;
  }
}
