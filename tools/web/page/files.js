// What was learned as a file: out, and in from another device.
import { $, make } from './dom.js';
import { sendFile, takeFile } from './link.js';
import { bytes } from './words.js';
import { show } from './dialog.js';
import { complain, tell } from './toast.js';

const MOST = 8 * 1024 * 1024; // the device reads no more

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

async function load(file) {
  if (file.size > MOST) {
    complain(new Error(`The file has ${bytes(file.size)}, more than a page may send. Copy it to the device and use engram merge.`));
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

export function prepareFiles() {
  $('export').addEventListener('click', save);
  $('import').addEventListener('click', () => $('file').click());
  $('file').addEventListener('change', () => {
    const [file] = $('file').files;
    $('file').value = '';
    if (file) load(file);
  });
}
