/* The page: what is clicked, typed and said. */

const $ = id => document.getElementById(id);
const NARROWEST = 200, STEP = 1.5; /* µs; of one zoom */

const capture = new Capture(JSON.parse($('index').textContent), $('columns').textContent);
const stage = $('stage');
const timeline = new Timeline(capture, $('lanes'));
let drawn = false, waiting = false;

/* --- the view --- */

function redraw() {
  if (waiting)
    return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    paint();
  });
}

function paint() {
  timeline.draw();
  drawOverview();
  stage.dataset.from = timeline.from;
  stage.dataset.to = timeline.to;
  stage.dataset.detail = timeline.detail;
  if (!drawn)
    performance.mark('timeline');
  drawn = true;
}

function margins(span = timeline.to - timeline.from) {
  return Math.max(Math.min((capture.to - capture.from) * 0.02, span * 0.1), capture.period);
}

function view(from, to) {
  const least = capture.from - margins(to - from), most = capture.to + margins(to - from);
  const span = Math.min(Math.max(to - from, NARROWEST), most - least);
  from = Math.min(Math.max((from + to) / 2 - span / 2, least), most - span);
  timeline.from = from;
  timeline.to = from + span;
  redraw();
}

function zoom(times, x = (timeline.left + timeline.width) / 2) {
  const t = timeline.instant(x), from = timeline.from, to = timeline.to;
  const span = Math.min(Math.max((to - from) * times, NARROWEST), capture.to - capture.from + 2 * margins());
  const part = (t - from) / (to - from);
  view(t - part * span, t - part * span + span);
}

function pan(part) {
  const by = (timeline.to - timeline.from) * part;
  view(timeline.from + by, timeline.to + by);
}

/* So many refreshes as can be read. */
function nearSpan() {
  return Math.max(4, Math.min(12, Math.round((stage.clientWidth || 800) / 95))) * capture.period;
}

function centre(t) {
  const now = timeline.to - timeline.from;
  const span = timeline.detail && now < 60 * capture.period ? now : nearSpan();
  view(t - span / 2, t + span / 2);
}

/* --- a frame that is looked at --- */

function element(tag, text = '', className = '') {
  const e = document.createElement(tag);
  e.textContent = text;
  if (className)
    e.className = className;
  return e;
}

function describe(spot) {
  const box = $('frame'), focus = spot || timeline.selected;
  box.replaceChildren();
  if (!focus) {
    box.append(element('p',
      'Point at a frame, or tap it, for its numbers. n goes to the next event, ? explains.', 'soft'));
    return;
  }
  const f = capture.chunk(focus.chunk).frames, guest = capture.guests[f.guest[focus.row]];
  box.append(element('h3', `Frame ${f.number[focus.row]}`));
  const at = element('span', ` at ${clock(f.anchor[focus.row] - capture.from)}`, 'soft');
  if (capture.guests.length > 1) {
    const name = element('bdi', guest.name);
    at.append(', of ', name);
  }
  box.append(at);
  const list = element('ul', '', 'story');
  for (const [text, bad] of story(focus))
    list.append(element('li', text, bad ? 'bad' : ''));
  const dl = element('dl', '', 'numbers');
  for (const [name, value] of numbers(focus)) {
    const div = element('div');
    div.append(element('dt', name), element('dd', value));
    dl.append(div);
  }
  box.append(list, dl);
}

function select(spot) {
  timeline.selected = spot;
  stage.dataset.frame = spot ? capture.chunk(spot.chunk).frames.number[spot.row] : '';
  describe();
  redraw();
}

/* To the next frame of the one that is selected, or what is in the midst. */
function step(by) {
  let spot = timeline.selected;
  if (!spot) {
    const middle = (timeline.from + timeline.to) / 2;
    let nearest = Infinity;
    for (const i of timeline.chunks) {
      const f = capture.chunk(i).frames;
      for (let k = 0; k < f.n; k++)
        if (Math.abs(f.anchor[k] - middle) < nearest) {
          nearest = Math.abs(f.anchor[k] - middle);
          spot = { chunk: i, row: k };
        }
    }
  } else {
    const row = spot.row + by, beside = capture.list[spot.chunk + by];
    if (row >= 0 && row < capture.list[spot.chunk].frames)
      spot = { chunk: spot.chunk, row };
    else if (beside && beside.frames > 0)
      spot = { chunk: spot.chunk + by, row: by > 0 ? 0 : beside.frames - 1 };
  }
  if (!spot)
    return;
  const f = capture.chunk(spot.chunk).frames, from = f.anchor[spot.row];
  const to = f.line[spot.row] === f.line[spot.row] ? f.line[spot.row] : from;
  select(spot);
  if (from < timeline.from || to > timeline.to || !timeline.detail)
    centre((from + to) / 2);
}

/* --- events --- */

const links = [...document.querySelectorAll('[data-event]')];

function go(i) {
  if (i < 0 || i >= capture.events.length)
    return;
  const [kind, guest, from, to, first] = capture.events[i];
  timeline.event = i;
  stage.dataset.kind = kind;
  const ofFrame = !['stop', 'rate', 'change'].includes(kind);
  const spot = ofFrame ? capture.find(guest, first, from) : null;
  let t = kind === 'stop' ? (from + to) / 2 : from;
  if (spot) {
    const f = capture.chunk(spot.chunk).frames;
    t = ((f.anchor[spot.row] || from) + from) / 2;
  }
  if (kind === 'stop' && to - from > nearSpan())
    view(from - (to - from) / 4, to + (to - from) / 4);
  else
    centre(t);
  select(spot);
  if (!spot && ofFrame)
    $('frame').prepend(element('p',
      'What happened here is not kept in full: it is in the figures and the overview alone.', 'soft'));
  markLink(links[i]);
}

function markLink(link) {
  links.forEach(a => a.removeAttribute('aria-current'));
  link.setAttribute('aria-current', 'true');
  const list = link.closest('.list');
  const box = link.getBoundingClientRect(), outer = list.getBoundingClientRect();
  if (box.top < outer.top || box.bottom > outer.bottom)
    list.scrollTop += box.top - outer.top - outer.height / 3;
}

function isHidden(i) {
  return timeline.hidden && timeline.hidden.has(capture.events[i][0]);
}

function nextEvent(by) {
  const n = capture.events.length;
  let i = timeline.event;
  if (i < 0) { /* the one that is nearest in that direction */
    const middle = (timeline.from + timeline.to) / 2;
    i = capture.events.findIndex(e => e[2] > middle);
    i = i < 0 ? n : i;
    i -= by > 0 ? 1 : 0;
  }
  do
    i += by;
  while (i >= 0 && i < n && isHidden(i));
  go(i);
}

const KINDS = {
  tear: 'torn',
  wait: 'waited too long',
  stop: 'panel stopped',
  drop: 'never shown',
  repeat: 'shown late',
  late: 'missed the latch',
  release: 'released late',
  rate: 'rate',
  change: 'settings',
};

function filters() {
  const box = document.querySelector('.filters');
  const kinds = [...new Set(capture.events.map(e => e[0]))];
  if (!box || kinds.length < 2)
    return;
  timeline.hidden = new Set();
  for (const kind of kinds) {
    const b = element('button');
    b.type = 'button';
    b.setAttribute('aria-pressed', 'true');
    const n = capture.events.filter(e => e[0] === kind).length;
    b.append(element('i', LETTERS[kind], `mark ${kind}`), ` ${KINDS[kind]} (${n})`);
    b.addEventListener('click', () => {
      const hide = !timeline.hidden.has(kind);
      timeline.hidden[hide ? 'add' : 'delete'](kind);
      b.setAttribute('aria-pressed', String(!hide));
      links.forEach((a, i) => { a.parentNode.hidden = isHidden(i); });
      redraw();
    });
    box.append(b);
  }
}

/* --- the overview --- */

function drawOverview() {
  const canvas = $('overview'), ratio = Math.min(window.devicePixelRatio || 1, 3);
  const width = canvas.clientWidth, height = 44;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.height = height + 'px';
  const g = canvas.getContext('2d'), c = timeline.c, { worst, kinds, us } = capture.bins;
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  const x = t => (t - capture.from) / Math.max(capture.to - capture.from, 1) * width;
  const top = Math.log(16);
  for (let i = 0; i < worst.length; i++) {
    if (worst[i] === 0 && kinds[i] === 0)
      continue;
    const x0 = x(i * us), w = Math.max(x((i + 1) * us) - x0, 1);
    const h = worst[i] ? Math.min(Math.log(1 + worst[i] / capture.usual) / top, 1) * (height - 12) : 0;
    g.fillStyle = worst[i] > 1.5 * capture.usual ? c.late : c.edges[0];
    g.globalAlpha = 0.75;
    g.fillRect(x0, height - h, w, h);
    g.globalAlpha = 1;
    const kind = capture.kinds.findIndex((_, k) => kinds[i] >> k & 1);
    if (kind >= 0) {
      g.fillStyle = c[capture.kinds[kind]];
      g.fillRect(x0, 2, Math.max(w, 2), 5);
    }
  }
  const a = x(timeline.from), b = Math.max(x(timeline.to), a + 3);
  g.fillStyle = c.accent;
  g.globalAlpha = 0.16;
  g.fillRect(a, 0, b - a, height);
  g.globalAlpha = 1;
  g.strokeStyle = c.accent;
  g.lineWidth = 1.5;
  g.strokeRect(a + 0.75, 0.75, b - a - 1.5, height - 1.5);
}

function overviewTo(e) {
  const box = $('overview').getBoundingClientRect(), span = timeline.to - timeline.from;
  const t = capture.from + (e.clientX - box.left) / box.width * (capture.to - capture.from);
  view(t - span / 2, t + span / 2);
}

/* --- pointers --- */

const pointers = new Map();
let moved = 0, pinch = 0;

function place(e) {
  const box = $('lanes').getBoundingClientRect();
  return [e.clientX - box.left, e.clientY - box.top];
}

stage.addEventListener('pointerdown', e => {
  pointers.set(e.pointerId, e.clientX);
  moved = 0;
  stage.setPointerCapture(e.pointerId);
});

stage.addEventListener('pointermove', e => {
  if (!pointers.has(e.pointerId)) {
    hover(e);
    return;
  }
  const by = e.clientX - pointers.get(e.pointerId);
  pointers.set(e.pointerId, e.clientX);
  if (pointers.size === 1) {
    moved += Math.abs(by);
    if (moved > 3)
      pan(-by / (timeline.width - timeline.left));
    return;
  }
  const [a, b] = [...pointers.values()], apart = Math.abs(a - b);
  moved += 10;
  if (pinch > 10 && apart > 10)
    zoom(pinch / apart, (a + b) / 2 - $('lanes').getBoundingClientRect().left);
  pinch = apart;
});

function up(e) {
  const was = pointers.delete(e.pointerId);
  pinch = 0;
  if (!was || e.type === 'pointercancel' || moved > 3 || pointers.size > 0)
    return;
  const spot = timeline.at(...place(e));
  if (spot && spot.event !== undefined)
    go(spot.event);
  else
    select(spot ? { chunk: spot.chunk, row: spot.row } : null);
}
stage.addEventListener('pointerup', up);
stage.addEventListener('pointercancel', up);

function hover(e) {
  if (e.pointerType === 'touch')
    return;
  const spot = timeline.at(...place(e));
  const frame = spot && spot.event === undefined ? { chunk: spot.chunk, row: spot.row } : null;
  const was = timeline.hovered;
  if ((was && was.chunk) === (frame && frame.chunk) && (was && was.row) === (frame && frame.row))
    return;
  timeline.hovered = frame;
  stage.style.cursor = spot ? 'pointer' : '';
  describe(frame);
  redraw();
}

stage.addEventListener('pointerleave', () => {
  timeline.hovered = null;
  $('hint').hidden = true;
  describe();
  redraw();
});

/* The page scrolls until somebody works with the timeline. */
stage.addEventListener('wheel', e => {
  const across = Math.abs(e.deltaX) > Math.abs(e.deltaY) || e.shiftKey;
  const own = document.activeElement === stage || e.ctrlKey || e.metaKey;
  $('hint').hidden = own || across;
  if (!own && !across)
    return;
  e.preventDefault();
  if (across)
    pan((e.deltaX || e.deltaY) / timeline.width);
  else
    zoom(Math.exp(Math.max(-100, Math.min(100, e.deltaY)) / 250), place(e)[0]);
}, { passive: false });

$('overview').addEventListener('pointerdown', e => {
  $('overview').setPointerCapture(e.pointerId);
  overviewTo(e);
});
$('overview').addEventListener('pointermove', e => e.buttons && overviewTo(e));

/* --- keys --- */

const anywhere = {
  n: () => nextEvent(1),
  p: () => nextEvent(-1),
  '?': () => $('keys').showModal(),
  t: () => theme(),
  '.': () => step(1),
  ',': () => step(-1),
  Escape: () => {
    timeline.event = -1;
    delete stage.dataset.kind;
    select(null);
  },
};
const onStage = {
  ArrowLeft: () => pan(-0.2),
  ArrowRight: () => pan(0.2),
  ArrowUp: () => zoom(1 / STEP),
  ArrowDown: () => zoom(STEP),
  '+': () => zoom(1 / STEP),
  '=': () => zoom(1 / STEP),
  '-': () => zoom(STEP),
  0: () => view(capture.from - margins(), capture.to + margins()),
  Home: () => view(capture.from - margins(), capture.from - margins() + timeline.to - timeline.from),
  End: () => view(capture.to + margins() - timeline.to + timeline.from, capture.to + margins()),
};

document.addEventListener('keydown', e => {
  if (e.ctrlKey || e.metaKey || e.altKey || $('keys').open)
    return;
  const does = (stage.contains(document.activeElement) && onStage[e.key]) || anywhere[e.key];
  if (!does)
    return;
  e.preventDefault();
  does();
});

/* --- dark, light, paper --- */

function theme(to) {
  const root = document.documentElement, now = root.dataset.theme || 'auto';
  const next = to || { auto: 'dark', dark: 'light', light: 'auto' }[now];
  if (next === 'auto')
    delete root.dataset.theme;
  else
    root.dataset.theme = next;
  $('theme').querySelector('span').textContent = next;
  $('theme').setAttribute('aria-label', `Theme: ${next === 'auto' ? 'as the system' : next}`);
  redraw();
}

let before = 'auto';
window.addEventListener('beforeprint', () => {
  before = document.documentElement.dataset.theme || 'auto';
  theme('light');
  paint();
});
window.addEventListener('afterprint', () => theme(before));
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);

/* --- begin --- */

function begin() {
  document.documentElement.classList.add('js');
  $('prev').addEventListener('click', () => nextEvent(-1));
  $('next').addEventListener('click', () => nextEvent(1));
  $('in').addEventListener('click', () => zoom(1 / STEP));
  $('out').addEventListener('click', () => zoom(STEP));
  $('all').addEventListener('click', () => onStage[0]());
  $('help').addEventListener('click', () => $('keys').showModal());
  $('close').addEventListener('click', () => $('keys').close());
  $('theme').addEventListener('click', () => theme());
  links.forEach((a, i) => a.addEventListener('click', e => {
    e.preventDefault();
    go(i);
    $('timeline').scrollIntoView({ block: 'nearest' });
  }));
  $('prev').disabled = $('next').disabled = capture.events.length === 0;
  filters();
  new ResizeObserver(redraw).observe(stage);
  timeline.width = stage.clientWidth;
  const order = capture.kinds.map(k => capture.events.findIndex(e => e[0] === k)).find(i => i >= 0);
  describe();
  if (order !== undefined)
    go(order);
  else
    view(capture.from + 20 * capture.period, capture.from + 20 * capture.period + nearSpan());
}

begin();
