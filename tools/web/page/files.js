// What was learned as a file: out, and in from another device.
import { $, make } from './dom.js';
import { sendFile, takeFile } from './link.js';
import { bytes } from './words.js';
import { show } from './dialog.js';
import { complain, tell } from './toast.js';

const MOST = 8 * 1024 * 1024; // the device reads no more
const SERVICE = '/var/lib/engram/'; // belongs to the service's own user: no other command may change it

async function save() {
  $('export').disabled = true;
  try {
    const file = await takeFile();
    const link = make('a', { href: URL.createObjectURL(file), download: 'learned.engram' });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    tell(`Exported ${bytes(file.size)}.`);
  } catch (error) {
    complain(error);
  } finally {
    $('export').disabled = false;
  }
}

const quoted = (path) => (/^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`);

/** What a page may not send is merged on the device itself, into a new state. */
function explain(file, directory) {
  const name = quoted(file.name);
  const why = `${file.name} has ${bytes(file.size)}; a page sends at most ${bytes(MOST)}.`;
  const close = [{ word: 'Close', value: 'close', kind: 'main' }];
  if (directory.startsWith(SERVICE)) {
    return show('Too large for the page', [make('p', { textContent: `${why} This device runs as a service, and only its page adds to what that knows: the file cannot be added here.` })], close);
  }
  return show('Too large for the page', [
    make('p', { textContent: `${why} Copy it to the device, stop the app and make one state of both:` }),
    make('pre', { textContent: `engram merge ${quoted(directory)} ${name} -o ${quoted(`${directory}-merged`)}` }),
    make('p', { textContent: `Then start the app with --state ${quoted(`${directory}-merged`)}. What is known here stays as it is.` }),
  ], close);
}

async function load(file, directory) {
  if (file.size > MOST) {
    await explain(file, directory);
    return;
  }
  const how = await show('Add what this file knows?', [
    make('p', { textContent: `${file.name}, ${bytes(file.size)}. What is known here stays; classes of the same name are joined.` }),
  ], [{ word: 'Cancel', value: '' }, { word: 'Add', value: 'yes', kind: 'main' }]);
  if (how !== 'yes') return;
  try {
    tell((await sendFile(file)).said);
  } catch (error) {
    complain(error);
  }
}

/** `directory()`: where the device keeps what it learned. */
export function prepareFiles(directory) {
  $('export').addEventListener('click', save);
  $('import').addEventListener('click', () => $('file').click());
  $('file').addEventListener('change', () => {
    const [file] = $('file').files;
    $('file').value = '';
    if (file) load(file, directory() ?? 'STATE');
  });
}
