/* Draws frames between two instants onto a canvas: lanes where a refresh is wide enough to be seen,
 * else how long intervals are. It knows what it drew where. */

const LABELS = 74, AXIS = 22, MARKS = 20, GAME = 26, GPU = 22, IMAGE = 24, PANEL = 26, GAP = 5;
const IMAGES_MOST = 8;
const LANES_FROM = 5; /* pixels a refresh */
const FRAMES_MOST = 30000; /* are looked at one by one */
const FILLS = {
  light: ['#8db9f2', '#86d0a8', '#cbb0ee', '#e6cf7a', '#c3c9d0'],
  dark: ['#24528c', '#1f6040', '#573a85', '#6b570f', '#4a525c'],
};
const EDGES = {
  light: ['#3d78c2', '#2f8a5b', '#8056b8', '#a5851a', '#818b98'],
  dark: ['#6ca4ec', '#58b987', '#b294e0', '#d3b440', '#9aa4af'],
};
const LETTERS = {
  tear: 'T', wait: 'W', stop: 'S', drop: 'D', repeat: 'R', late: 'L', release: 'F', rate: '≈', change: '=',
};

class Timeline {
  constructor(capture, canvas) {
    this.capture = capture;
    this.canvas = canvas;
    this.from = capture.from;
    this.to = capture.to;
    this.selected = null; /* {chunk, row} */
    this.hovered = null;
    this.event = -1;
    this.spots = [];
  }

  /* --- measures --- */

  layout() {
    const lanes = [];
    let y = AXIS;
    const lane = (kind, guest, height, label, image = 0) => {
      lanes.push({ kind, guest, y, height, label, image });
      y += height + GAP;
    };
    lane('marks', 0, MARKS, 'events');
    this.capture.guests.forEach((g, i) => {
      if (this.capture.guests.length > 1)
        lane('name', i, 16, g.name);
      if (g.game) { /* its side was recorded */
        lane('game', i, GAME, 'game');
        lane('gpu', i, GPU, 'GPU');
      }
      const images = Math.min(g.images, IMAGES_MOST);
      for (let k = 0; k < images; k++)
        lane('image', i, IMAGE, images > 1 ? `image ${k}` : 'image', k);
    });
    lane('panel', 0, PANEL, 'panel');
    this.lanes = lanes;
    this.height = y + 4;
    return this.height;
  }

  lane(kind, guest = 0, image = 0) {
    return this.lanes.find(l => l.kind === kind && l.guest === guest && l.image === image);
  }

  get left() {
    return this.width < 500 ? 58 : LABELS;
  }

  x(t) {
    return this.left + (t - this.from) / (this.to - this.from) * (this.width - this.left);
  }

  instant(x) {
    return this.from + (x - this.left) / (this.width - this.left) * (this.to - this.from);
  }

  get perRefresh() {
    return this.capture.period / (this.to - this.from) * (this.width - this.left);
  }

  /* --- drawing --- */

  colours() {
    const style = getComputedStyle(document.documentElement);
    const names = ['ink', 'soft', 'line', 'faint', 'card', 'accent', 'bad', 'tear', 'wait', 'stop',
      'drop', 'repeat', 'late', 'release', 'rate', 'change'];
    const c = Object.fromEntries(names.map(n => [n, style.getPropertyValue('--' + n).trim()]));
    const dark = style.colorScheme === 'dark';
    c.fills = FILLS[dark ? 'dark' : 'light'];
    c.edges = EDGES[dark ? 'dark' : 'light'];
    return c;
  }

  draw() {
    const ratio = Math.min(window.devicePixelRatio || 1, 3);
    this.width = this.canvas.clientWidth;
    this.layout();
    const w = Math.round(this.width * ratio), h = Math.round(this.height * ratio);
    if (this.canvas.width !== w || this.canvas.height !== h) {
      this.canvas.width = w;
      this.canvas.height = h;
      this.canvas.style.height = this.height + 'px';
    }
    const g = this.g = this.canvas.getContext('2d');
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.c = this.colours();
    this.spots = [];
    this.focus = this.hovered || this.selected;
    this.culprit = this.focus && this.writer(this.focus);
    g.fillStyle = this.c.card;
    g.fillRect(0, 0, this.width, this.height);
    g.font = '11px system-ui, sans-serif';
    g.textBaseline = 'middle';
    g.save();
    g.beginPath();
    g.rect(this.left, 0, this.width - this.left, this.height);
    g.clip();
    this.chunks = this.capture.between(this.from, this.to);
    this.holes();
    this.few = this.chunks.reduce((n, i) => n + this.capture.list[i].frames, 0) <= FRAMES_MOST;
    this.detail = this.few && this.perRefresh >= LANES_FROM;
    if (this.detail)
      this.drawLanes();
    else
      this.drawIntervals();
    this.drawEvents();
    g.restore();
    this.drawAxis();
    this.drawLabels();
  }

  /* Where frames are not kept in full. */
  holes() {
    const list = this.capture.list;
    for (let i = 1; i < list.length; i++)
      if (list[i].place > list[i - 1].place + 1 && list[i].from > list[i - 1].to)
        this.hatch(this.x(list[i - 1].to), AXIS, this.x(list[i].from), this.height, this.c.line);
  }

  hatch(x0, y0, x1, y1, colour) {
    const g = this.g;
    x0 = Math.max(x0, this.left);
    x1 = Math.min(x1, this.width);
    if (x1 - x0 < 1)
      return;
    g.save();
    g.beginPath();
    g.rect(x0, y0, x1 - x0, y1 - y0);
    g.clip();
    g.strokeStyle = colour;
    g.lineWidth = 1;
    g.beginPath();
    for (let x = x0 - (y1 - y0); x < x1; x += 5) {
      g.moveTo(x, y1);
      g.lineTo(x + (y1 - y0), y0);
    }
    g.stroke();
    g.restore();
  }

  /* The frame that was written into a torn one's image, while that was shown. */
  writer(spot) {
    const f = this.capture.chunk(spot.chunk).frames, k = spot.row;
    if (!(f.flags[k] & TORN))
      return null;
    for (let i = spot.chunk, r = k + 1; i < Math.min(spot.chunk + 2, this.capture.list.length); i++, r = 0) {
      const next = this.capture.chunk(i).frames;
      for (; r < next.n; r++)
        if (next.guest[r] === f.guest[k] && next.image[r] === f.image[k])
          return { chunk: i, row: r };
    }
    return null;
  }

  dim(spot) {
    const is = other => other && other.chunk === spot.chunk && other.row === spot.row;
    return this.focus && !is(this.focus) && !is(this.culprit) ? 0.45 : 1;
  }

  bar(x0, x1, y, height, number, spot, { fill = true, dash = false, alpha = 1, label = '' } = {}) {
    const g = this.g, k = number % 5;
    if (x1 < this.left || x0 > this.width)
      return;
    const w = Math.max(x1 - x0, 1);
    g.globalAlpha = alpha * this.dim(spot);
    if (fill) {
      g.fillStyle = this.c.fills[k];
      g.fillRect(x0, y, w, height);
    }
    if (w > 3) {
      g.strokeStyle = this.c.edges[k];
      g.setLineDash(dash ? [3, 2] : []);
      g.lineWidth = 1;
      g.strokeRect(x0 + 0.5, y + 0.5, w - 1, height - 1);
      g.setLineDash([]);
    }
    if (label && w > g.measureText(label).width + 6) {
      g.fillStyle = this.c.ink;
      g.textAlign = 'center';
      g.fillText(label, Math.max(x0, this.left) / 2 + Math.min(x1, this.width) / 2, y + height / 2 + 0.5);
    }
    g.globalAlpha = 1;
    this.spots.push({ x0, x1: x0 + w, y0: y, y1: y + height, ...spot });
  }

  drawLanes() {
    for (const l of this.lanes)
      if (l.kind !== 'name' && l.kind !== 'marks') {
        this.g.fillStyle = this.c.faint;
        this.g.fillRect(this.left, l.y, this.width - this.left, l.height);
      }
    for (const i of this.chunks)
      this.drawGrid(this.capture.chunk(i).refreshes);
    for (const i of this.chunks) {
      const { frames } = this.capture.chunk(i);
      for (let k = 0; k < frames.n; k++)
        this.drawFrame(frames, k, { chunk: i, row: k });
    }
    for (const i of this.chunks)
      this.drawPanel(this.capture.chunk(i).refreshes);
    this.drawPath();
  }

  drawGrid(r) {
    const g = this.g;
    for (let i = 0; i < r.n; i++) {
      const x = Math.round(this.x(r.from[i])) + 0.5, latch = Math.round(this.x(r.latch[i])) + 0.5;
      if (x < this.left - 50 || latch > this.width)
        continue;
      g.strokeStyle = this.c.soft;
      g.globalAlpha = 0.45;
      g.lineWidth = 1;
      g.beginPath();
      g.moveTo(x, AXIS);
      g.lineTo(x, this.height);
      g.stroke();
      g.globalAlpha = 1;
      if (this.perRefresh < 30)
        continue;
      g.setLineDash([2, 3]);
      g.strokeStyle = this.c.soft;
      g.globalAlpha = 0.55;
      g.beginPath();
      g.moveTo(latch, AXIS + MARKS);
      g.lineTo(latch, this.height);
      g.stroke();
      g.setLineDash([]);
      g.globalAlpha = 1;
    }
  }

  drawFrame(f, k, spot) {
    if (f.anchor[k] > this.to)
      return;
    const guest = f.guest[k];
    const game = this.lane('game', guest), gpu = this.lane('gpu', guest);
    const row = this.lane('image', guest, f.image[k] % IMAGES_MOST);
    if (game)
      this.drawWork(f, k, game, gpu, spot);
    if (row)
      this.drawImage(f, k, row, spot);
  }

  drawWork(f, k, game, gpu, spot) {
    const label = String(f.number[k]), write = this.begunWriting(f, k);
    const work = (lane, from, to, more) => this.bar(this.x(from), this.x(to), lane.y, lane.height,
      f.number[k], spot, { label, ...more });
    this.drawWaits(f, k, game, spot);
    if (f.cpuTo[k] >= f.cpu[k])
      work(game, f.cpu[k], f.cpuTo[k]);
    else if (f.presented[k] >= f.acquired[k])
      work(game, f.acquired[k], f.presented[k]);
    if (f.elsewhereTo[k] >= f.elsewhere[k])
      work(gpu, f.elsewhere[k], f.elsewhereTo[k], { dash: true });
    if (write <= f.ready[k])
      work(gpu, write, f.ready[k], { fill: f.write[k] <= f.ready[k] });
  }

  /* Where nobody timed the GPU, it had the frame from its present on at the earliest. */
  begunWriting(f, k) {
    return f.write[k] <= f.ready[k] ? f.write[k] : f.presented[k];
  }

  drawWaits(f, k, lane, spot) {
    const g = this.g;
    if (!(f.acquired[k] > f.asked[k]))
      return;
    let at = f.asked[k];
    const y = lane.y + lane.height / 2;
    g.globalAlpha = this.dim(spot);
    const c = this.c;
    const waits = [[f.slotWait[k], c.bad], [f.releaseWait[k], c.wait], [f.gateWait[k], c.soft]];
    for (const [wait, colour] of waits) {
      if (!(wait > 0))
        continue;
      this.hatch(this.x(at), lane.y + 6, this.x(at + wait), lane.y + lane.height - 6, colour);
      at += wait;
    }
    g.strokeStyle = this.c.soft;
    g.lineWidth = 1;
    g.beginPath();
    g.moveTo(this.x(f.asked[k]), y);
    g.lineTo(this.x(f.asked[k]), lane.y + lane.height - 3);
    g.stroke();
    g.globalAlpha = 1;
    const x0 = this.x(f.asked[k]), x1 = this.x(f.acquired[k]);
    this.spots.push({ x0, x1, y0: lane.y, y1: lane.y + lane.height, ...spot });
  }

  /* Above: the game has the image; below: the panel has it. */
  drawImage(f, k, lane, spot) {
    const half = lane.height / 2, line = f.line[k], write = this.begunWriting(f, k);
    const taken = f.latched[k] === f.latched[k] ? f.latched[k] : line;
    const until = f.ready[k] >= f.acquired[k] ? f.ready[k] : f.presented[k];
    const end = f.released[k] >= line ? f.released[k] : line + this.capture.period;
    const part = (from, to, y, height, how) => this.bar(this.x(from), this.x(to), lane.y + y, height,
      f.number[k], spot, how);
    if (until >= f.acquired[k])
      part(f.acquired[k], until, 0, half - 1, { fill: false, dash: true });
    if (f.ready[k] >= write)
      part(write, f.ready[k], 0, half - 1, {});
    if (taken >= f.ready[k])
      part(f.ready[k], taken, half / 2, half, { fill: false, dash: true, alpha: 0.7 });
    if (line >= f.latched[k])
      part(f.latched[k], line, half, half, { fill: false });
    if (line === line)
      part(line, end, half, half, { label: String(f.number[k]) });
    if ((f.flags[k] & TORN) && line === line) {
      this.g.strokeStyle = this.c.bad;
      this.g.lineWidth = 2;
      this.g.strokeRect(this.x(line), lane.y + half, this.x(end) - this.x(line), half - 1);
    }
    if (f.flags[k] & LATE)
      this.spike(this.x(f.booked[k]), this.x(f.ready[k]), lane.y + half / 2);
  }

  /* From the latch that was booked to when it was ready. */
  spike(x0, x1, y) {
    const g = this.g;
    if (!(x1 > x0))
      return;
    g.strokeStyle = this.c.bad;
    g.lineWidth = 2;
    g.beginPath();
    g.moveTo(x0, y - 5);
    g.lineTo(x0, y + 5);
    g.moveTo(x0, y);
    g.lineTo(x1, y);
    g.stroke();
  }

  drawPanel(r) {
    const lane = this.lane('panel'), g = this.g;
    for (let i = 0; i < r.n; i++) {
      const x0 = this.x(r.from[i]), x1 = this.x(r.to[i]);
      if (x1 < this.left || x0 > this.width)
        continue;
      if (!(r.flags[i] & SHOWS)) {
        this.hatch(x0, lane.y, x1, lane.y + lane.height, this.c.line);
        continue;
      }
      const again = i > 0 && r.frame[i - 1] === r.frame[i] && r.guest[i - 1] === r.guest[i];
      const spot = this.rowOf(r.guest[i], r.frame[i], r.from[i]) || { chunk: -1, row: -1 };
      this.bar(x0, x1, lane.y, lane.height, r.frame[i], spot,
        { label: String(r.frame[i]), alpha: again ? 0.5 : 1 });
      if (again && x1 - x0 > 12)
        this.hatch(x0, lane.y + lane.height - 7, x1, lane.y + lane.height, this.c.edges[r.frame[i] % 5]);
      if (r.flags[i] & (TORN_REFRESH | ASYNC)) {
        g.strokeStyle = this.c.bad;
        g.lineWidth = 2;
        g.strokeRect(x0 + 1, lane.y + 1, x1 - x0 - 2, lane.height - 2);
        this.zigzag(this.x(Math.max(r.torn[i] || r.from[i], r.from[i])), lane.y, lane.y + lane.height);
      }
    }
  }

  zigzag(x, y0, y1) {
    const g = this.g;
    g.beginPath();
    g.moveTo(x - 2, y0);
    for (let y = y0, side = 2; y <= y1; y += 4, side = -side)
      g.lineTo(x + side, y);
    g.stroke();
  }

  /* Numbers of a chunk are in a row: where a frame is can be told from one. */
  rowOf(guest, number, near) {
    if (!this.rows)
      this.rows = new Map();
    for (const i of this.chunks) {
      let rows = this.rows.get(i);
      if (!rows) {
        const f = this.capture.chunk(i).frames;
        rows = new Map();
        for (let k = 0; k < f.n; k++)
          rows.set(f.guest[k] * 2 ** 50 + f.number[k], k);
        if (this.rows.size > 32)
          this.rows.clear();
        this.rows.set(i, rows);
      }
      const row = rows.get(guest * 2 ** 50 + number);
      if (row !== undefined && Math.abs(this.capture.chunk(i).frames.anchor[row] - near) < 1e8)
        return { chunk: i, row };
    }
    return null;
  }

  /* One frame's way through the lanes. */
  drawPath() {
    const focus = this.focus;
    if (!focus || !this.chunks.includes(focus.chunk))
      return;
    const f = this.capture.chunk(focus.chunk).frames, k = focus.row, guest = f.guest[k];
    const image = this.lane('image', guest, f.image[k] % IMAGES_MOST);
    const points = [[f.acquired[k], this.lane('game', guest)], [f.ready[k], this.lane('gpu', guest)],
      [f.latched[k], image], [f.line[k], this.lane('panel')]]
      .filter(([t, lane]) => t === t && lane).map(([t, lane]) => [this.x(t), lane.y + lane.height / 2]);
    const g = this.g;
    g.strokeStyle = g.fillStyle = this.c.accent;
    g.lineWidth = 1.5;
    g.beginPath();
    points.forEach(([x, y], i) => i ? g.lineTo(x, y) : g.moveTo(x, y));
    g.stroke();
    for (const [x, y] of points) {
      g.beginPath();
      g.arc(x, y, 3, 0, 7);
      g.fill();
    }
  }

  /* --- far away: how long intervals are --- */

  drawIntervals() {
    const top = AXIS + MARKS + 12, bottom = this.height - 12, w = Math.ceil(this.width - this.left);
    const worst = new Float64Array(w), least = new Float64Array(w).fill(Infinity);
    const add = (t, interval, to = t) => {
      const x = Math.floor(this.x(t) - this.left), last = Math.floor(this.x(to) - this.left);
      for (let i = Math.max(x, 0); i <= last && i < w; i++) {
        worst[i] = Math.max(worst[i], interval);
        least[i] = Math.min(least[i], interval);
      }
    };
    const few = this.few && this.chunks.length > 0, { bins, period } = this.capture;
    if (few)
      this.eachInterval(add);
    else
      bins.worst.forEach((us, i) => us > 0 && add(i * bins.us, us, (i + 1) * bins.us));
    const longest = worst.reduce((a, b) => Math.max(a, b), 0);
    const most = Math.max(4 * period, Math.min(20 * period, longest * 1.1));
    const y = us => bottom - Math.min(us / most, 1) * (bottom - top), g = this.g;
    g.textAlign = 'left';
    for (let n = 1; n * period <= most; n *= 2) {
      const at = Math.round(y(n * period)) + 0.5;
      g.strokeStyle = this.c.line;
      g.lineWidth = 1;
      g.beginPath();
      g.moveTo(this.left, at);
      g.lineTo(this.width, at);
      g.stroke();
      g.fillStyle = this.c.soft;
      g.fillText(`${(n * period / 1000).toFixed(1)} ms`, this.left + 4, at - 8);
    }
    for (let i = 0; i < w; i++) {
      if (worst[i] === 0)
        continue;
      g.fillStyle = worst[i] > 1.5 * this.capture.usual ? this.c.late : this.c.edges[0];
      const y0 = y(worst[i]), y1 = few ? y(least[i]) : y0;
      g.fillRect(this.left + i, y0 - 1, 1.2, Math.max(y1 - y0, 0) + 2);
    }
  }

  eachInterval(tell) {
    const last = new Map();
    for (const i of this.chunks) {
      const f = this.capture.chunk(i).frames;
      for (let k = 0; k < f.n; k++) {
        if (f.line[k] !== f.line[k])
          continue;
        const before = last.get(f.guest[k]);
        if (before && before.number + 64 > f.number[k] && f.line[k] > before.line)
          tell(f.line[k], f.line[k] - before.line);
        last.set(f.guest[k], { line: f.line[k], number: f.number[k] });
      }
    }
  }

  /* --- around them --- */

  drawEvents() {
    const lane = this.lane('marks'), g = this.g;
    const focused = this.capture.events[this.event];
    if (focused) {
      g.globalAlpha = 0.12;
      g.fillStyle = this.c[focused[0]];
      const x0 = this.x(focused[2]), x1 = this.x(Math.max(focused[3], focused[2] + this.capture.period / 4));
      g.fillRect(x0, AXIS, Math.max(x1 - x0, 2), this.height - AXIS);
      g.globalAlpha = 1;
    }
    let free = -Infinity;
    g.textAlign = 'center';
    g.font = '700 11px system-ui, sans-serif';
    this.capture.events.forEach(([kind, , from, to], i) => {
      const x0 = this.x(from), x1 = this.x(to);
      if (x1 < this.left || x0 > this.width || (this.hidden && this.hidden.has(kind)))
        return;
      g.fillStyle = this.c[kind];
      g.fillRect(x0, lane.y + lane.height - 3, Math.max(x1 - x0, 2), 3);
      const x = Math.min(Math.max(x0, this.left + 9), this.width - 9);
      if (x < free && i !== this.event)
        return;
      g.fillRect(x - 8, lane.y, 16, 15);
      g.fillStyle = this.c.card;
      g.fillText(LETTERS[kind], x, lane.y + 8);
      this.spots.push({ x0: x - 9, x1: x + 9, y0: lane.y - 4, y1: lane.y + lane.height, event: i });
      free = x + 18;
    });
    g.font = '11px system-ui, sans-serif';
  }

  drawAxis() {
    const g = this.g, span = this.to - this.from, room = (this.width - this.left) / 90;
    const steps = Array.from({ length: 42 }, (_, i) => [1, 2, 5][i % 3] * 10 ** Math.floor(i / 3));
    const step = steps.find(s => span / s <= room) || span;
    g.fillStyle = this.c.soft;
    g.textAlign = 'center';
    const zero = this.capture.from;
    const first = zero + Math.ceil((this.from - zero) / step) * step;
    for (let n = 0, t = first; t <= this.to && n < 100; n++, t += step) {
      const x = this.x(t), text = clock(t - this.capture.from, step);
      const half = g.measureText(text).width / 2;
      if (x - half > this.left - 8 && x + half < this.width)
        g.fillText(text, x, 10);
      g.fillRect(Math.round(x), 17, 1, 4);
    }
  }

  drawLabels() {
    const g = this.g;
    g.fillStyle = this.c.soft;
    g.textAlign = 'right';
    if (!this.detail) {
      g.fillText('interval', this.left - 8, AXIS + MARKS + 20);
      g.fillText('events', this.left - 8, AXIS + MARKS / 2);
      return;
    }
    for (const l of this.lanes) {
      if (l.kind === 'name') {
        g.textAlign = 'left';
        g.fillStyle = this.c.ink;
        g.fillText(l.label, 8, l.y + l.height / 2);
        g.textAlign = 'right';
        g.fillStyle = this.c.soft;
      } else
        g.fillText(l.label, this.left - 8, l.y + l.height / 2);
    }
  }

  /* --- what is where --- */

  /* What was drawn last is on top. */
  at(x, y) {
    for (let i = this.spots.length - 1; i >= 0; i--) {
      const s = this.spots[i];
      if (x >= s.x0 - 1 && x <= s.x1 + 1 && y >= s.y0 && y <= s.y1 && (s.event !== undefined || s.chunk >= 0))
        return s;
    }
    return null;
  }
}

/* Minutes, seconds and as many places as the step wants. */
function clock(us, step = 1000) {
  const places = step >= 1e6 ? 0 : step >= 1e5 ? 1 : step >= 1e4 ? 2 : step >= 1e3 ? 3 : 6;
  const minus = us < 0 ? '−' : '', all = Math.abs(us);
  const minutes = Math.floor(all / 6e7), seconds = (all % 6e7) / 1e6;
  return `${minus}${minutes}:${seconds.toFixed(places).padStart(places ? places + 3 : 2, '0')}`;
}
