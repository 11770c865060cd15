// Figures and states in plain words.

/** The class of the empty picture: what the device calls it, and what the page does. */
export const BACKGROUND = 'background';
export const NOTHING = 'Nothing here';

export const nameOf = (label) => (label === BACKGROUND ? NOTHING : label);

export function labelOf(typed) {
  const text = typed.trim();
  return text.toLowerCase() === NOTHING.toLowerCase() ? BACKGROUND : text;
}

/** A sentence of the device, with the page's word for the empty picture. */
export function plainly(text) {
  return text.replace(/\b((?:learn|learned|of|forgotten:|renamed:|called|from|to|and) )background(?=[.,;]|$| \(| (?:and|to|is|now|are|again)\b)/g,
    `$1“${NOTHING}”`);
}

/** A hint of the device; the empty picture cannot be "shown", so it is asked for by its button. */
export function hintWords(hint) {
  const press = (number) => `press “${NOTHING}” ${count(Number(number), 'more time', 'more times')} while nothing is shown`;
  const few = hint.match(/^background has \d+ samples?: show (\d+) more/);
  if (few) return `To judge the empty picture, ${press(few[1])}`;
  const like = hint.match(/^background looks like (.+) (\(\d+ of \d+\)): show background (\d+) more$/);
  if (like) return `The empty picture looks like ${like[1]} ${like[2]}: ${press(like[3])}`;
  return plainly(hint.replace(/ looks like background(?= \()/, ' looks like the empty picture'));
}

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

/** Why nothing can be learned now: what is on the screen is old. '' when all is well. */
export function whyNot(state, link) {
  if (link === 'connecting') return 'connecting …';
  if (link !== 'open') return 'not connected to the device';
  return { opening: 'the camera is not open yet', lost: 'no picture from the camera' }[state.feed.kind] ?? '';
}

/** While few samples are there everything gets the nearest name: how many more it takes. */
export function guessHint(samples) {
  const more = { 1: 'twice more', 2: 'once more' }[samples] ?? 'a few more times';
  return `Show it ${more}, then it can say unknown.`;
}

const SHORT_OF_POWER = 'The device gets too little power, so it looks less often. A stronger power supply or another power mode helps.';

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
  if (state.throttled) return { kind: 'warn', text: state.slowed_by === 'power' ? SHORT_OF_POWER : 'The device is hot, so it looks less often until it has cooled down.' };
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
