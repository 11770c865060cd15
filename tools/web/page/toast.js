// A sentence at the foot of the page that goes away by itself.
import { $ } from './dom.js';
import { plainly } from './words.js';

let timer = 0;
let act = null;

/** `offer`: {word, act} of a button beside it. */
export function tell(text, { kind = '', offer = null } = {}) {
  clearTimeout(timer);
  $('toast').dataset.kind = kind;
  $('toast').hidden = false;
  const words = plainly(text);
  $('toast-text').textContent = words.charAt(0).toUpperCase() + words.slice(1);
  $('toast-act').hidden = !offer;
  $('toast-act').textContent = offer?.word ?? '';
  act = offer?.act ?? null;
  timer = setTimeout(hide, kind === 'danger' ? 9000 : 5000);
}

export function complain(error) {
  tell(error.message, { kind: 'danger' });
}

function hide() {
  $('toast').hidden = true;
}

export function prepareToast() {
  $('toast-act').addEventListener('click', () => {
    hide();
    act?.();
  });
}
