// Teaching: press = learn what is seen now, hold = go on learning, 5 times a second.
import { $, setText } from './dom.js';
import { order } from './link.js';
import { BACKGROUND, count, labelOf, nameOf } from './words.js';
import { ask } from './dialog.js';
import { complain, tell } from './toast.js';

const HOLD = 400; // ms until a press is a hold
const PACE = 200; // ms between the samples of a hold

let newest = 0; // the frame that was told last
let known = [];
let held = null;
let blocked = ''; // why nothing can be learned now

/** `why`: '' when there is something to learn from. Buttons keep the focus, and say it when pressed. */
export function mayLearn(why) {
  if (why === blocked) return;
  blocked = why;
  for (const id of ['learn', 'background']) $(id).setAttribute('aria-disabled', String(Boolean(why)));
  if (why) release();
  showHint();
}

function isBlocked() {
  if (blocked) tell(`Nothing was learned: ${blocked}.`);
  return Boolean(blocked);
}

function showHint() {
  setText($('learn-hint'), blocked || 'press · hold for more');
}

export function seen(sight) {
  newest = sight.frame;
}

export function knows(classes) {
  known = classes.map((c) => c.label);
  showTarget();
}

export const target = () => labelOf($('name').value);

export function aim(label) {
  $('name').value = nameOf(label);
  showTarget();
}

function showTarget() {
  setText($('learn-word'), target() ? `Learn as ${nameOf(target())}` : 'Learn');
  $('name').dispatchEvent(new Event('aimed'));
}

/** One sample. `frame`: the one that the user saw; without it the newest. */
async function learn(label, frame, burst = false) {
  const fields = { label, burst };
  if (frame) fields.frame = frame;
  return order('learn', fields);
}

export async function learnOnce(label, frame = newest) {
  if (isBlocked()) return false;
  try {
    const done = await learn(label, frame);
    tell(done.said, { offer: { word: 'Undo', act: () => undo() } });
    return true;
  } catch (error) {
    complain(error);
    return false;
  }
}

const pause = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

/** From the press of a button or key until release(). */
export async function press(label) {
  if (held || isBlocked()) return;
  if (!label) {
    $('name').focus();
    tell('Give it a name first.');
    return;
  }
  const hold = { on: true, learned: 0, skipped: 0 };
  const released = new Promise((resolve) => { hold.end = resolve; });
  held = hold;
  $('learn').classList.add('held');
  const began = performance.now();
  try {
    let { said } = await learn(label, newest);
    hold.learned = 1;
    await Promise.race([released, pause(HOLD - (performance.now() - began))]);
    while (hold.on) {
      const sent = performance.now();
      const done = await learn(label, newest, true);
      if (done.skipped) {
        hold.skipped += 1;
      } else {
        hold.learned += 1;
        said = done.said;
      }
      if (hold.on) setText($('learn-hint'), `${hold.learned} learned`);
      await Promise.race([released, pause(PACE - (performance.now() - sent))]);
    }
    report(label, said, hold);
  } catch (error) {
    complain(error);
    if (held === hold) release();
  }
}

function report(label, said, { learned, skipped }) {
  const offer = { word: learned > 1 ? 'Undo all' : 'Undo', act: () => undo(learned) };
  const alike = skipped > 0 ? `, ${count(skipped, 'view')} too alike to add` : '';
  tell(learned + skipped > 1 ? `Learned ${count(learned, 'view')} of ${nameOf(label)}${alike}.` : said, { offer });
}

export function release() {
  if (!held) return;
  held.on = false;
  held.end();
  held = null;
  $('learn').classList.remove('held');
  showHint();
}

export async function undo(steps = 1) {
  try {
    tell((await order('undo', { steps })).said);
  } catch (error) {
    complain(error);
  }
}

/** "No, it is ...": what is seen now gets its right name. */
export async function wrong() {
  if (isBlocked()) return;
  const frame = newest;
  const label = await ask({ title: 'What is it really?', word: 'Learn', choices: known });
  if (label) learnOnce(label, frame);
}

/** The last thing that was taught was something else. */
export async function relabel() {
  const label = await ask({ title: 'What was the last one really?', word: 'Change', choices: known });
  if (!label) return;
  try {
    tell((await order('relabel', { label })).said);
  } catch (error) {
    complain(error);
  }
}

export function prepareTeaching() {
  const button = $('learn');
  button.addEventListener('pointerdown', (event) => {
    if (event.button === 0 && target() && !blocked) press(target()); // else the click says why not
  });
  for (const name of ['pointerup', 'pointercancel', 'pointerleave']) button.addEventListener(name, release);
  button.addEventListener('contextmenu', (event) => event.preventDefault());
  addEventListener('blur', release);
  // Of a screen reader or the Enter key; a pointer was there already, unless there was no name.
  button.addEventListener('click', (event) => {
    if (!target() || blocked || (event.detail === 0 && !held)) tap();
  });
  $('teach').addEventListener('submit', (event) => {
    event.preventDefault();
    tap();
  });
  $('name').addEventListener('input', showTarget);
  $('undo').addEventListener('click', () => undo());
  $('relabel').addEventListener('click', relabel);
  $('wrong').addEventListener('click', wrong);
  $('background').addEventListener('click', () => learnOnce(BACKGROUND));
}

function tap() {
  press(target());
  release();
}
