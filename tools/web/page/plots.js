// Small plots in SVG.

const NS = 'http://www.w3.org/2000/svg';
const WIDTH = 240;
const HEIGHT = 84;
const EDGE = 5;

function add(svg, name, attributes) {
  const element = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  svg.append(element);
}

/** A line over `values` from `low` to `high`; `label` says the same in words. */
export function line(place, values, { low, high, label }) {
  const svg = document.createElementNS(NS, 'svg');
  svg.setAttribute('viewBox', `0 0 ${WIDTH} ${HEIGHT}`);
  svg.setAttribute('preserveAspectRatio', 'none');
  svg.setAttribute('role', 'img');
  svg.setAttribute('aria-label', label);
  const y = (value) => HEIGHT - EDGE - ((value - low) / (high - low || 1)) * (HEIGHT - 2 * EDGE);
  const x = (at) => EDGE + (values.length > 1 ? at / (values.length - 1) : 1) * (WIDTH - 2 * EDGE);
  for (const part of [0, 0.5, 1]) {
    const at = y(low + part * (high - low));
    add(svg, 'line', { class: 'axis', x1: 0, x2: WIDTH, y1: at, y2: at, 'vector-effect': 'non-scaling-stroke' });
  }
  if (values.length > 0) {
    const points = values.map((value, at) => `${x(at).toFixed(1)},${y(value).toFixed(1)}`);
    if (values.length === 1) points.unshift(`${EDGE},${y(values[0]).toFixed(1)}`);
    add(svg, 'polygon', { class: 'under', points: `${EDGE},${HEIGHT} ${points.join(' ')} ${WIDTH - EDGE},${HEIGHT}` });
    add(svg, 'polyline', { class: 'line', points: points.join(' '), 'vector-effect': 'non-scaling-stroke' });
  }
  place.replaceChildren(svg);
}
