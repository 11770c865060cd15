// Small helpers. Text from the server goes through textContent only: labels come from strangers.

export const $ = (id) => document.getElementById(id);

/** An element with properties and children; strings become text. */
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith('aria-') || name === 'role') element.setAttribute(name, value);
    else element[name] = value;
  }
  element.append(...children);
  return element;
}

export function icon(name) {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('class', 'icon');
  svg.setAttribute('aria-hidden', 'true');
  const use = document.createElementNS('http://www.w3.org/2000/svg', 'use');
  use.setAttribute('href', `#i-${name}`);
  svg.append(use);
  return svg;
}

/** Changes text only where it differs, so that screen readers and layouts are left in peace. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

export const calm = () => matchMedia('(prefers-reduced-motion: reduce)').matches;

/** Remembers small things for this browser; where it may not, for this visit. */
const visit = new Map();
export const memory = {
  get(key) {
    try { return localStorage.getItem(`engram-${key}`) ?? visit.get(key); } catch { return visit.get(key); }
  },
  set(key, value) {
    visit.set(key, value);
    try { localStorage.setItem(`engram-${key}`, value); } catch { /* this visit it is */ }
  },
};
