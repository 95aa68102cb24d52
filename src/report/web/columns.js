'use strict';
/* The capture's frames, as html_chunk.c packed them. A chunk is unpacked when it is looked at. */

const INSTANTS = ['begin', 'asked', 'gate', 'acquired', 'cpu', 'cpuTo', 'presented', 'returned',
  'elsewhere', 'elsewhereTo', 'write', 'ready', 'booked', 'committed', 'composed', 'published',
  'latched', 'line', 'released', 'told'];
const DROPPED = 1, LATE = 2, TORN = 4, VARIABLE = 8, WAITED = 16;
const SHOWS = 1, ASYNC = 2, TORN_REFRESH = 4;
const CHUNKS_KEPT = 96;

class Columns {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }

  number() {
    let b = this.bytes[this.at++], v = b & 127, times = 128;
    while (b > 127) {
      b = this.bytes[this.at++];
      v += (b & 127) * times;
      times *= 128;
    }
    return v;
  }

  static signed(z) {
    return z % 2 === 0 ? z / 2 : -(z + 1) / 2;
  }

  plain(n) {
    const out = new Float64Array(n);
    for (let i = 0; i < n; i++)
      out[i] = this.number();
    return out;
  }

  differences(n) {
    const out = new Float64Array(n);
    for (let i = 0, last = 0; i < n; i++)
      out[i] = last += Columns.signed(this.number());
    return out;
  }

  /* What is not known is NaN. */
  known(n) {
    const out = new Float64Array(n);
    for (let i = 0, last = 0; i < n; i++) {
      const z = this.number();
      out[i] = z === 0 ? NaN : (last += Columns.signed(z - 1));
    }
    return out;
  }
}

function unpackFrames(c, n, guests) {
  const f = { n, guest: c.plain(n), number: new Float64Array(n) };
  const last = new Array(guests).fill(0);
  for (let i = 0; i < n; i++)
    f.number[i] = last[f.guest[i]] += Columns.signed(c.number());
  f.image = c.plain(n);
  f.flags = c.plain(n);
  f.repeats = c.plain(n);
  f.mhz = c.differences(n);
  f.cap = c.differences(n);
  f.sequence = c.known(n);
  f.anchor = c.differences(n);
  for (const name of INSTANTS) {
    const t = f[name] = c.known(n);
    for (let i = 0; i < n; i++)
      t[i] += f.anchor[i];
  }
  f.slotWait = c.known(n);
  f.releaseWait = c.known(n);
  f.gateWait = c.known(n);
  return f;
}

function unpackRefreshes(c, n) {
  const r = { n, sequence: c.differences(n), from: c.differences(n) };
  r.latch = c.differences(n);
  r.to = c.differences(n);
  for (let i = 0; i < n; i++) {
    r.latch[i] = r.from[i] - r.latch[i];
    r.to[i] += r.from[i];
  }
  r.mhz = c.differences(n);
  r.flags = c.plain(n);
  r.guest = c.plain(n);
  r.frame = c.known(n);
  r.torn = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    const z = c.number();
    r.torn[i] = z === 0 ? NaN : r.from[i] + Columns.signed(z - 1);
  }
  r.line = c.plain(n);
  return r;
}

class Capture {
  constructor(index, text) {
    Object.assign(this, index);
    this.text = text;
    this.unpacked = new Map();
    this.list = this.chunks.map(([from, to, frames, refreshes, at, bytes, place]) =>
      ({ from, to, frames, refreshes, at, bytes, place }));
    this.from = this.list.reduce((least, c) => Math.min(least, c.from), Infinity);
    this.to = this.list.reduce((most, c) => Math.max(most, c.to), -Infinity);
    if (this.list.length === 0)
      this.from = this.to = 0;
    this.period = this.refresh > 0 ? 1e9 / this.refresh : 16667;
    this.usual = Math.max(this.usual, this.period); /* interval */
  }

  chunk(i) {
    let one = this.unpacked.get(i);
    this.unpacked.delete(i);
    if (!one) {
      const { at, bytes, frames, refreshes } = this.list[i];
      const raw = atob(this.text.slice(at / 3 * 4, (at + bytes) / 3 * 4));
      const buffer = new Uint8Array(bytes);
      for (let k = 0; k < bytes; k++)
        buffer[k] = raw.charCodeAt(k);
      const c = new Columns(buffer);
      one = { frames: unpackFrames(c, frames, this.guests.length), refreshes: unpackRefreshes(c, refreshes) };
    }
    this.unpacked.set(i, one);
    if (this.unpacked.size > CHUNKS_KEPT)
      this.unpacked.delete(this.unpacked.keys().next().value);
    return one;
  }

  /* The chunks in which something lies between two instants, by their places in the list. */
  between(from, to) {
    const out = [];
    for (let i = 0; i < this.list.length; i++)
      if (this.list[i].from <= to && this.list[i].to >= from)
        out.push(i);
    return out;
  }

  framesBetween(from, to) {
    return this.between(from, to).reduce((n, i) => n + this.list[i].frames, 0);
  }

  /* A frame by its guest and number, looked for around an instant. */
  find(guest, number, near) {
    for (const i of this.between(near - 5e6, near + 5e6)) {
      const f = this.chunk(i).frames;
      for (let k = 0; k < f.n; k++)
        if (f.guest[k] === guest && f.number[k] === number)
          return { chunk: i, row: k };
    }
    return null;
  }
}
