/* A frame in words and numbers. */

const ms = us => `${(us / 1000).toFixed(2)} ms`;
const refreshes = n => `${n} refresh${n === 1 ? '' : 'es'}`;

function successor(spot) {
  const f = capture.chunk(spot.chunk).frames;
  for (let i = spot.chunk, k = spot.row + 1; i < Math.min(spot.chunk + 2, capture.list.length); i++, k = 0) {
    const next = capture.chunk(i).frames;
    for (; k < next.n; k++)
      if (next.guest[k] === f.guest[spot.row] && next.line[k] === next.line[k])
        return { frames: next, row: k };
  }
  return null;
}

function predecessor(spot) {
  for (let i = spot.chunk; i >= Math.max(0, spot.chunk - 1); i--) {
    const f = capture.chunk(i).frames, guest = capture.chunk(spot.chunk).frames.guest[spot.row];
    for (let k = i === spot.chunk ? spot.row - 1 : f.n - 1; k >= 0; k--)
      if (f.guest[k] === guest && f.line[k] === f.line[k])
        return { frames: f, row: k };
  }
  return null;
}

function tearsOf(f, k) {
  const out = [];
  for (const i of capture.between(f.line[k] - capture.period, f.line[k] + 4 * capture.period)) {
    const r = capture.chunk(i).refreshes;
    for (let n = 0; n < r.n; n++)
      if (r.guest[n] === f.guest[k] && r.frame[n] === f.number[k] && (r.flags[n] & TORN_REFRESH))
        out.push({ line: r.line[n], after: r.torn[n] - r.from[n] });
  }
  return out;
}

/* In its acquire, after all that it waited for: a process that was stopped. */
function asleep(f, k) {
  const waits = [f.slotWait[k], f.releaseWait[k], f.gateWait[k]].reduce((sum, w) => sum + (w > 0 ? w : 0), 0);
  const left = f.acquired[k] - f.asked[k] - waits;
  return left > 100000 ? left : 0;
}

/* What was long about it. */
function because(f, k, spacing) {
  const cpu = f.cpuTo[k] - f.cpu[k], gpu = f.ready[k] - f.write[k];
  const reasons = [];
  if (f.slotWait[k] > 0.1 * spacing)
    reasons.push(`it waited ${ms(f.slotWait[k])} for an image`);
  if (f.releaseWait[k] > 0.1 * spacing)
    reasons.push(`it waited ${ms(f.releaseWait[k])} for its image's release`);
  if (f.gateWait[k] > 1.2 * spacing)
    reasons.push(`the gate held it for ${ms(f.gateWait[k])}`);
  if (asleep(f, k) > 0)
    reasons.push(`its process slept for ${ms(asleep(f, k))} in its acquire`);
  if (cpu > 0.9 * spacing)
    reasons.push(`its CPU part took ${ms(cpu)}`);
  if (gpu > 0.9 * spacing)
    reasons.push(`its GPU part took ${ms(gpu)}`);
  if (reasons.length === 0 && cpu + gpu > spacing)
    reasons.push(`CPU and GPU together took ${ms(cpu + gpu)}`);
  if (f.published[k] - f.ready[k] > 0.5 * spacing)
    reasons.push(`the compositor took ${ms(f.published[k] - f.ready[k])}`);
  return reasons.length ? ': ' + reasons.join(', ') : '';
}

/* Sentences: [text, is it bad]. */
function story(spot) {
  const f = capture.chunk(spot.chunk).frames, k = spot.row, out = [];
  const spacing = Math.max(f.mhz[k] > 0 ? 1e9 / f.mhz[k] : capture.period, f.cap[k] > 0 ? 1e9 / f.cap[k] : 0);
  const other = timeline.writer(spot);
  const by = other ? ` for frame ${capture.chunk(other.chunk).frames.number[other.row]}` : '';
  for (const t of tearsOf(f, k)) {
    const when = t.after > 0 ? `${ms(t.after)} after its first line, as the panel read line ${t.line}`
      : 'between its latch and its first line';
    out.push([`Torn: its image was written${by}${by && ','} ${when}.`, true]);
  }
  if ((f.flags[k] & TORN) && out.length === 0)
    out.push([`Torn: its image was written${by} while the panel had it.`, true]);
  if (f.flags[k] & WAITED)
    out.push([`Waited ${ms(f.releaseWait[k])} for a release, longer than a healthy panel keeps an image.`,
      true]);
  if (f.flags[k] & LATE)
    out.push([`Missed its latch: ready ${ms(f.ready[k] - f.booked[k])} after it${because(f, k, spacing)}.`,
      true]);
  if (f.flags[k] & DROPPED)
    out.push(['Never shown: given up, or replaced by a newer frame.', true]);
  if (f.repeats[k] > 0)
    out.push([`Shown late: the picture before it stayed ${refreshes(f.repeats[k])} too long` +
      `${because(f, k, spacing)}.`, true]);
  const next = successor(spot);
  const late = next ? Math.floor((f.released[k] - next.frames.line[next.row]) / capture.period + 0.25) : 0;
  if (late > 0)
    out.push([`Released ${refreshes(late)} after the panel had left its image.`, true]);
  if (f.released[k] === f.released[k] && f.told[k] !== f.told[k])
    out.push(['The note of its release never arrived; the board has it.', false]);
  if (out.length === 0)
    out.push([f.line[k] === f.line[k] ? 'On time.' : 'Not shown by the end of the capture.', false]);
  return out;
}

function numbers(spot) {
  const f = capture.chunk(spot.chunk).frames, k = spot.row, out = [];
  const span = (name, from, to) => to - from >= 0 && out.push([name, ms(to - from)]);
  const add = (name, us) => us > 0 && out.push([name, ms(us)]);
  add('waited for an image', f.slotWait[k]);
  add('… for its release', f.releaseWait[k]);
  add('… for the gate', f.gateWait[k]);
  add('… asleep', asleep(f, k));
  span('CPU', f.cpu[k], f.cpuTo[k]);
  span('GPU, elsewhere', f.elsewhere[k], f.elsewhereTo[k]);
  span('GPU', f.write[k], f.ready[k]);
  span('acquire to ready', f.acquired[k], f.ready[k]);
  if (f.booked[k] === f.booked[k] && f.ready[k] === f.ready[k])
    out.push(['ready before its latch', ms(f.booked[k] - f.ready[k])]);
  span('ready to the server', f.ready[k], f.published[k]);
  span('latch to first line', f.latched[k], f.line[k]);
  span('start to first line', f.begin[k], f.line[k]);
  const before = predecessor(spot), next = successor(spot);
  if (before)
    span('since the last frame', before.frames.line[before.row], f.line[k]);
  if (next && next.frames.sequence[next.row] > f.sequence[k])
    out.push(['stayed', refreshes(next.frames.sequence[next.row] - f.sequence[k])]);
  span('image away', f.acquired[k], f.released[k]);
  out.push(['image', String(f.image[k])]);
  return out;
}
