// The page: what comes from the device is shown, what the user wants is sent.
import { $, setText } from './dom.js';
import { connect, order } from './link.js';
import { prepareRegion, restartPicture, setMirror, showAnswer, showPictureState, stopPicture } from './picture.js';
import { knows, learnOnce, mayLearn, prepareTeaching, seen } from './teach.js';
import { showChosen, showClasses, showSeen } from './classes.js';
import { showHistory, showRates } from './history.js';
import { celebrate, coach, prepareCoach } from './coach.js';
import { prepareFiles } from './files.js';
import { prepareKeys } from './keys.js';
import { complain, prepareToast, tell } from './toast.js';
import { help } from './dialog.js';
import { BACKGROUND, cameraWord, engineWord, nameOf, trouble, whyNot } from './words.js';

let state = null;
let sight = null;
let rates = null;
let link = 'connecting';

function showCamera() {
  const kind = link !== 'open' ? (link === 'connecting' ? 'opening' : 'gone') : state.feed.kind;
  const rate = rates && kind === 'live' && !state.paused ? ` ${Math.round(rates.looks_per_second || rates.frames_per_second)} fps` : '';
  $('camera').dataset.kind = kind;
  setText($('camera-word'), cameraWord(state, link) + rate);
  const wrong = trouble(state, link);
  $('banner').hidden = !wrong;
  if (wrong) {
    $('banner').dataset.kind = wrong.kind;
    setText($('banner-text'), wrong.text);
  }
}

function showSwitches() {
  const { paused, mirror, samples, sequence, opening, learning } = state;
  $('pause').setAttribute('aria-pressed', String(paused));
  setText($('pause').querySelector('.word'), paused ? 'Go on' : 'Pause');
  $('pause').querySelector('use').setAttribute('href', paused ? '#i-play' : '#i-pause');
  $('mirror').setAttribute('aria-pressed', String(mirror));
  $('undo').disabled = samples === 0;
  $('relabel').disabled = samples === 0;
  setText($('fact-engine'), engineWord(state.engine));
  setText($('fact-saved'), opening ? 'Reading what was learned …' : learning ? 'Learning …' : sequence > 0 ? 'All saved' : '');
}

// What is seen, and whether it may be learned: not what was seen before the picture went.
function showSight() {
  const why = whyNot(state, link);
  mayLearn(why);
  $('asking').hidden = Boolean(why) || !sight?.answers.length || state.paused;
  if (sight) showAnswer(sight, state, Boolean(why));
}

// A screen reader hears a new answer when it has stood for a second.
let heard = '';
let speak = 0;
function announce() {
  const best = sight.answers[0];
  const word = !best ? '' : sight.unknown ? 'Unknown' : state?.says_unknown === false ? `Perhaps ${nameOf(best.label)}` : nameOf(best.label);
  if (word === heard) return;
  heard = word;
  clearTimeout(speak);
  speak = setTimeout(() => setText($('said'), word), 1000);
}

const on = {
  link(now) {
    if (now === 'open' && link !== 'open') restartPicture();
    link = now;
    showCamera();
    showPictureState(state, link);
    showSight();
  },
  state(told) {
    const back = state !== null && state.feed.kind !== 'live' && told.feed.kind === 'live';
    state = told;
    if (back) restartPicture();
    showCamera();
    showSwitches();
    showPictureState(state, link);
    knows(state.classes);
    showClasses(state);
    showHistory(state);
    coach(state);
    showSight();
  },
  sight(told) {
    sight = told;
    seen(sight);
    showSight();
    showSeen(sight);
    $('yes').hidden = sight.unknown;
    setText($('asking-word'), sight.unknown ? 'Do you know it?' : 'Is this right?');
    setText($('wrong'), sight.unknown ? 'It is …' : 'No, it is …');
    announce();
    celebrate(sight);
  },
  rates(told) {
    rates = told;
    if (state) state.feed.frames = told.frames;
    showRates(rates);
    if (state && link === 'open') {
      showCamera();
      showPictureState(state, link);
    }
  },
};

async function pause() {
  if (!state) return;
  try {
    await order('pause', { paused: !state.paused });
  } catch (error) {
    complain(error);
  }
}

prepareToast();
prepareTeaching();
prepareRegion();
prepareCoach();
prepareFiles(() => state?.directory);
prepareKeys({ labels: () => state?.classes.map((c) => c.label).filter((l) => l !== BACKGROUND) ?? [], pause });
$('name').addEventListener('aimed', showChosen);
$('help').addEventListener('click', help);
$('pause').addEventListener('click', pause);
$('mirror').addEventListener('click', () => setMirror(!state?.mirror));
$('yes').addEventListener('click', () => sight?.answers[0] && learnOnce(sight.answers[0].label));
$('judge').addEventListener('click', async () => {
  $('judge').disabled = true;
  try {
    tell((await order('end-task')).said);
  } catch (error) {
    complain(error);
  } finally {
    $('judge').disabled = false;
  }
});
document.addEventListener('visibilitychange', () => document.hidden ? stopPicture() : restartPicture());
document.title = `Engram · ${location.hostname}`;
connect(on);
