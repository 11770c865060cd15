// The first visit: three steps that tick themselves off and never stand in the way; and a little joy
// when the first thing is recognised.
import { $, calm, memory } from './dom.js';
import { isWaiting } from './link.js';
import { tell } from './toast.js';
import { target } from './teach.js';
import { BACKGROUND } from './words.js';

let samples = 0; // of things: the empty picture alone is nothing to recognise
let tells = false; // it can tell what it knows from what it does not
let frames = 0;
let wasEmpty = false; // this visit began with nothing learned

export function coach(state) {
  samples = state.classes.reduce((sum, c) => sum + (c.label === BACKGROUND ? 0 : c.samples), 0);
  tells = state.says_unknown !== false;
  frames = state.feed.frames;
  if (samples === 0) wasEmpty = true;
  update();
}

function update() {
  const closed = memory.get('coach') === 'closed';
  const done = [frames > 0 && (target() !== '' || samples > 0), target() !== '' || samples > 0, samples > 0 && tells];
  const now = done.indexOf(false);
  $('coach').hidden = closed || !wasEmpty || now < 0;
  done.forEach((finished, at) => {
    const step = $(`coach-${at + 1}`);
    step.classList.toggle('done', finished);
    step.classList.toggle('now', at === now);
    if (at === now) step.setAttribute('aria-current', 'step');
    else step.removeAttribute('aria-current');
  });
}

function close() {
  memory.set('coach', 'closed');
  update();
}

export function celebrate(sight) {
  const best = sight.answers[0];
  if (!wasEmpty || samples === 0 || !tells || memory.get('joy') === 'had') return;
  if (!best || sight.unknown || best.label === BACKGROUND) return;
  if (isWaiting()) return; // what became of the order is said first: the next sight comes soon
  memory.set('joy', 'had');
  close();
  tell(`It knows ${best.label}! Show it something else, or the same from another side.`);
  if (!calm()) confetti();
}

function confetti() {
  const canvas = $('confetti');
  const context = canvas.getContext('2d');
  canvas.hidden = false;
  canvas.width = innerWidth;
  canvas.height = innerHeight;
  const box = $('picture').getBoundingClientRect();
  const colours = ['#52d3ae', '#ffcf7d', '#8fb8ff', '#ff9a91', '#d9b3ff'];
  const bits = Array.from({ length: 90 }, (_, at) => ({
    x: box.left + box.width / 2, y: box.top + box.height * 0.8, colour: colours[at % colours.length],
    dx: (Math.random() - 0.5) * 13, dy: -6 - Math.random() * 9, turn: Math.random() * 6, size: 5 + Math.random() * 5,
  }));
  const began = performance.now();
  (function draw(now) {
    const age = (now - began) / 1800;
    context.clearRect(0, 0, canvas.width, canvas.height);
    if (age >= 1) {
      canvas.hidden = true;
      return;
    }
    context.globalAlpha = Math.min(1, 2 - 2 * age);
    for (const bit of bits) {
      bit.x += bit.dx;
      bit.y += bit.dy;
      bit.dy += 0.32;
      bit.dx *= 0.985;
      bit.turn += 0.12;
      context.setTransform(Math.cos(bit.turn), Math.sin(bit.turn), -Math.sin(bit.turn), Math.cos(bit.turn), bit.x, bit.y);
      context.fillStyle = bit.colour;
      context.fillRect(-bit.size / 2, -bit.size / 4, bit.size, bit.size / 2);
    }
    context.setTransform(1, 0, 0, 1, 0, 0);
    requestAnimationFrame(draw);
  }(began));
}

export function prepareCoach() {
  $('coach-close').addEventListener('click', close);
  $('name').addEventListener('aimed', update);
}
