// The line to the device: orders go out, state and answers come in. It comes back by itself.

/** The device refused, or could not be reached; the message is a sentence for people. */
export class Refused extends Error {
  constructor(message, code) {
    super(message);
    this.code = code;
  }
}

async function ask(path, options) {
  let response;
  try {
    response = await fetch(path, { ...options, cache: 'no-store' });
  } catch {
    throw new Refused('No answer came from the device. It may have been done all the same: look at what happened before you repeat it.', 'unreachable');
  }
  if (response.ok) return response;
  const told = await response.json().catch(() => ({}));
  throw new Refused(told.error || `The device answered ${response.status}.`, told.code || 'unknown');
}

const ANSWER = 65000; // ms; the device itself gives an order up after a minute
let waiting = 0; // orders without an answer yet

export const isWaiting = () => waiting > 0;

export async function order(name, fields = {}) {
  waiting += 1;
  try {
    const response = await ask(`/api/${name}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(fields),
      signal: AbortSignal.timeout(ANSWER),
    });
    return await response.json();
  } finally {
    waiting -= 1;
  }
}

export async function sendFile(file) {
  const response = await ask('/api/import', {
    method: 'POST',
    headers: { 'Content-Type': 'application/octet-stream' },
    body: file,
  });
  return response.json();
}

export async function takeFile() {
  return (await ask('/api/export', {})).blob();
}

const SILENCE = 5000; // ms; the device says something every second
const PATIENCE = 2000; // ms; a device that is there says at once whether it lets us in

/**
 * Calls on.state, on.sight, on.rates with what the device tells, and on.link with 'connecting', 'open',
 * 'lost' or 'denied'. A page that nobody sees lets go of the line: browsers have few of them.
 */
export function connect(on) {
  let source = null;
  let watch = 0;
  let retry = 0;
  let failures = 0;
  let refused = 'lost'; // what a line that broke was last found to be

  function close() {
    clearTimeout(watch);
    clearTimeout(retry);
    source?.close();
    source = null;
  }

  function heard() {
    clearTimeout(watch);
    watch = setTimeout(lost, SILENCE);
  }

  // It is said before anything is asked: a device that hangs takes questions and answers none.
  async function lost() {
    close();
    failures += 1;
    on.link(refused);
    const answer = await fetch('/api/state', { cache: 'no-store', signal: AbortSignal.timeout(PATIENCE) }).catch(() => null);
    if (source) return; // opened meanwhile
    refused = answer?.status === 401 || answer?.status === 403 ? 'denied' : 'lost';
    on.link(refused);
    clearTimeout(retry);
    if (!document.hidden) retry = setTimeout(open, Math.min(400 * failures, 2000));
  }

  function open() {
    close();
    source = new EventSource('/api/events');
    for (const name of ['state', 'sight', 'rates']) {
      source.addEventListener(name, (event) => {
        heard();
        on[name](JSON.parse(event.data));
        if (name === 'state') {
          failures = 0;
          refused = 'lost';
          on.link('open');
        }
      });
    }
    source.onerror = lost;
    heard();
  }

  document.addEventListener('visibilitychange', () => {
    if (document.hidden) close();
    else open();
  });
  on.link('connecting');
  open();
}
