// Questions. One dialog for all of them; it keeps the focus, and Escape closes it.
import { $, make } from './dom.js';
import { labelOf, nameOf } from './words.js';

/**
 * Shows a dialog and gives the value of the button that closed it, '' when it was left.
 * acts: [{word, value, kind}], the last is the one for Enter.
 */
export function show(title, body, acts) {
  const dialog = $('dialog');
  if (dialog.open) dialog.close('');
  $('dialog-title').textContent = title;
  $('dialog-body').replaceChildren(...body);
  $('dialog-acts').replaceChildren(...acts.map(({ word, value, kind }) =>
    make('button', { type: value ? 'submit' : 'button', value, className: `plain ${kind ?? ''}`, textContent: word,
      onclick: value ? null : () => dialog.close('') })));
  dialog.returnValue = '';
  dialog.showModal();
  dialog.querySelector('input')?.select();
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => resolve(dialog.returnValue), { once: true });
  });
}

export const isOpen = () => $('dialog').open;

/** Asks for a name; null when the question was left. */
export async function ask({ title, word, choices = [], value = '' }) {
  const input = make('input', { type: 'text', id: 'dialog-name', maxLength: 80, value, spellcheck: false,
    autocapitalize: 'none', placeholder: 'a name' });
  const picks = make('div', { className: 'choices' }, ...choices.slice(0, 40).map((label) =>
    make('button', { type: 'submit', className: 'plain small', textContent: nameOf(label), value: 'picked',
      onclick: () => { input.value = nameOf(label); } })));
  const body = [make('label', { htmlFor: 'dialog-name', textContent: 'Name' }), input];
  if (choices.length > 0) body.push(picks);
  // Enter takes the first submit button of the form: a hidden one, not the first choice.
  body.unshift(make('button', { type: 'submit', value: 'typed', hidden: true }));
  const how = await show(title, body, [{ word: 'Cancel', value: '' }, { word, value: 'typed', kind: 'main' }]);
  const label = labelOf(input.value);
  return how && label ? label : null;
}

export async function confirm(title, text, word) {
  const how = await show(title, [make('p', { textContent: text })],
    [{ word: 'Cancel', value: '' }, { word, value: 'yes', kind: 'danger' }]);
  return how === 'yes';
}

const KEYS = [
  ['Space', 'learn what you see; hold for more views'],
  ['1 – 9', 'learn it as that class; hold for more'],
  ['n', 'new class'], ['u', 'undo the last learn'], ['r', 'the last one was something else'],
  ['x', 'the answer is wrong'], ['b', 'nothing here: learn the empty picture'], ['p', 'pause'], ['?', 'this help'],
];

export function help() {
  const keys = make('div', { className: 'keys' }, ...KEYS.flatMap(([key, what]) =>
    [make('kbd', { textContent: key }), make('span', { textContent: what })]));
  return show('Keys', [
    make('p', { textContent: 'Show it a thing, name it, press Learn. Turn the thing a little while you hold the button: a few different views are worth more than many alike.' }),
    keys,
  ], [{ word: 'Close', value: 'close', kind: 'main' }]);
}
