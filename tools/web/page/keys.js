// The keyboard: the same letters as in the terminal. Keys in a field or on a button mean what they always do.
import { $ } from './dom.js';
import { help, isOpen } from './dialog.js';
import { aim, learnOnce, press, relabel, release, target, undo, wrong } from './teach.js';
import { BACKGROUND } from './words.js';

/** `labels()`: the classes in order; `pause()`: pauses or goes on. */
export function prepareKeys({ labels, pause }) {
  const actions = {
    n: () => { aim(''); $('name').focus(); },
    u: () => undo(), r: relabel, x: wrong, b: () => learnOnce(BACKGROUND), p: pause, '?': help,
  };

  addEventListener('keydown', (event) => {
    const at = event.target;
    const typing = at.matches('input, textarea, select');
    if (event.ctrlKey || event.metaKey || event.altKey || isOpen()) return;
    if (typing) {
      if (event.key === 'Escape') at.blur();
      return;
    }
    if (event.key === ' ' && (at === $('learn') || !at.matches('button, a, summary'))) {
      event.preventDefault();
      if (!event.repeat) press(target());
    } else if (/^[1-9]$/.test(event.key)) {
      const label = labels()[event.key - 1];
      if (!label || event.repeat) return;
      aim(label);
      press(label);
    } else if (Object.hasOwn(actions, event.key) && !event.repeat) {
      event.preventDefault();
      actions[event.key]();
    }
  });
  addEventListener('keyup', (event) => {
    if (event.key === ' ' || /^[1-9]$/.test(event.key)) {
      if (event.target === $('learn')) event.preventDefault(); // no click besides
      release();
    }
  });
}
