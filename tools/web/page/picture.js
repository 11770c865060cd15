// The live picture, what is seen in it, and the region that is looked at.
import { $, setText } from './dom.js';
import { order } from './link.js';
import { BACKGROUND, guessHint, nameOf, percent } from './words.js';
import { complain } from './toast.js';

const WHOLE = [0, 0, 1000, 1000];
let region = WHOLE;
let mirror = false;

// ---- pictures --------------------------------------------------------------------------------------
/** Starts the stream again: after a break the browser would show the last picture for ever. */
export function restartPicture() {
  $('video').src = `/video.mjpeg?${Date.now()}`;
}

export function stopPicture() {
  $('video').removeAttribute('src');
}

export function showPictureState(state, link) {
  const gone = link !== 'open' || state?.feed.kind === 'lost';
  $('picture').classList.toggle('gone', gone);
  $('nothing').hidden = Boolean(state && state.feed.frames > 0);
  setText($('nothing'), state?.feed.kind === 'lost' ? 'No picture yet.' : 'Waiting for the camera…');
  $('paused').hidden = !state?.paused;
  if (!state) return;
  region = state.region;
  mirror = state.mirror;
  drawRegion();
}

// ---- answers ---------------------------------------------------------------------------------------
function kindOf(best, sight, state) {
  if (!best) return 'none';
  if (sight.unknown) return 'unknown';
  if (best.label === BACKGROUND) return 'background';
  return state?.says_unknown === false ? 'guess' : 'known';
}

const besides = (sight) => sight.answers.slice(1, 3).map((a) => `${nameOf(a.label)} ${percent(a.probability)}`).join('  ·  ');

/** `old`: what was seen last is not what is there now. */
export function showAnswer(sight, state, old) {
  const best = sight.answers[0];
  const kind = kindOf(best, sight, state);
  $('answer').dataset.kind = kind;
  $('answer').hidden = Boolean(state?.paused) || old;
  const samples = state?.classes.find((c) => c.label === best?.label)?.samples;
  const [label, p, others] = {
    none: () => [state?.samples ? 'Looking …' : 'Nothing learned yet', '', ''],
    unknown: () => ['Unknown', '', `most like ${nameOf(best.label)}, but not enough`],
    background: () => [nameOf(best.label), '', ''],
    guess: () => [`${best.label}?`, '', guessHint(samples)],
    known: () => [best.label, percent(best.probability), besides(sight)],
  }[kind]();
  setText($('answer-label'), label);
  setText($('answer-p'), p);
  setText($('answer-others'), others);
  $('answer-bar').style.transform = `scaleX(${best?.probability ?? 0})`;
}

// ---- the region ------------------------------------------------------------------------------------
/** The picture within its frame, which may leave bars at two sides. */
function shown() {
  const box = $('picture').getBoundingClientRect();
  const { naturalWidth: w, naturalHeight: h } = $('video');
  if (!w || !h) return { left: 0, top: 0, width: box.width, height: box.height, box };
  const scale = Math.min(box.width / w, box.height / h);
  const width = w * scale;
  const height = h * scale;
  return { left: (box.width - width) / 2, top: (box.height - height) / 2, width, height, box };
}

const isWhole = (r) => r.every((value, at) => value === WHOLE[at]);

function drawRegion(asked = region) {
  const element = $('region');
  element.hidden = isWhole(asked);
  setText($('crop-word'), element.hidden ? 'Region' : 'Whole picture');
  $('crop').setAttribute('aria-pressed', String(!element.hidden));
  const at = shown();
  const [left, top, width, height] = asked.map((value) => value / 1000);
  element.style.left = `${at.left + left * at.width}px`;
  element.style.top = `${at.top + top * at.height}px`;
  element.style.width = `${width * at.width}px`;
  element.style.height = `${height * at.height}px`;
}

async function setRegion(asked) {
  region = asked;
  drawRegion();
  try {
    await order('view', { mirror, region });
  } catch (error) {
    complain(error);
  }
}

export async function setMirror(wanted) {
  try {
    await order('view', { mirror: wanted, region });
  } catch (error) {
    complain(error);
  }
}

function between(a, b) {
  const clamp = (value) => Math.round(Math.min(1000, Math.max(0, value)));
  const at = shown();
  const x = [a, b].map((p) => clamp(1000 * (p.x - at.box.left - at.left) / at.width)).sort((p, q) => p - q);
  const y = [a, b].map((p) => clamp(1000 * (p.y - at.box.top - at.top) / at.height)).sort((p, q) => p - q);
  return [x[0], y[0], x[1] - x[0], y[1] - y[0]];
}

/** A mouse drags a region at any time; a finger only after "Region", so that the page can be scrolled. */
export function prepareRegion() {
  const picture = $('picture');
  $('video').addEventListener('load', () => {
    const { naturalWidth: w, naturalHeight: h } = $('video');
    if (w && h) document.querySelector('main').style.setProperty('--ratio', Math.min(2, Math.max(0.75, w / h)));
    drawRegion();
  });
  let from = null;
  picture.addEventListener('pointerdown', (event) => {
    if (event.button !== 0 || (event.pointerType === 'touch' && !picture.classList.contains('choosing'))) return;
    from = { x: event.clientX, y: event.clientY };
    picture.setPointerCapture(event.pointerId);
  });
  picture.addEventListener('pointermove', (event) => {
    if (!from) return;
    const asked = between(from, { x: event.clientX, y: event.clientY });
    if (asked[2] > 20 && asked[3] > 20) drawRegion(asked);
  });
  const end = (event) => {
    if (!from) return;
    const asked = between(from, { x: event.clientX, y: event.clientY });
    from = null;
    picture.classList.remove('choosing');
    if (event.type === 'pointerup' && asked[2] >= 50 && asked[3] >= 50) setRegion(asked);
    else drawRegion();
  };
  picture.addEventListener('pointerup', end);
  picture.addEventListener('pointercancel', end);

  $('crop').addEventListener('click', () => {
    if (!isWhole(region)) return setRegion(WHOLE);
    picture.classList.add('choosing');
    setRegion([200, 150, 600, 700]);
    $('region').focus();
    return undefined;
  });
  $('region').addEventListener('keydown', (event) => {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (!step) return;
    event.preventDefault();
    const [dx, dy] = step.map((s) => 25 * s);
    let [left, top, width, height] = region;
    if (event.shiftKey) {
      width = Math.min(1000 - left, Math.max(50, width + dx));
      height = Math.min(1000 - top, Math.max(50, height + dy));
    } else {
      left = Math.min(1000 - width, Math.max(0, left + dx));
      top = Math.min(1000 - height, Math.max(0, top + dy));
    }
    setRegion([left, top, width, height]);
  });
  addEventListener('resize', () => drawRegion());
}
