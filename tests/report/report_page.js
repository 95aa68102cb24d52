// Opens reports in a browser and works with them as people do: node report_page.js FOLDER PROFILE.
// The folder has the pages that report.test.sh made. Prints "ok NAME" and "no NAME" lines.
'use strict';
const path = require('path');
const fs = require('fs');
const { Browser } = require('./browser.js');

const [folder, profile] = process.argv.slice(2);
const url = name => 'file://' + path.resolve(folder, name);

function check(name, holds) {
  console.log(`${holds ? 'ok' : 'no'} ${name}`);
}

const verdict = page => page.ask("document.querySelector('h1').textContent");
const state = page => page.ask("({ ...document.getElementById('stage').dataset })");
const frameSays = page => page.ask("document.getElementById('frame').textContent");
const inView = (page, selector) => page.ask(`(() => {
  const b = document.querySelector('${selector}').getBoundingClientRect();
  return b.bottom > 0 && b.top < innerHeight;
})()`);

// Every planted cause is named in the verdict, and in what to try.
async function causes(page) {
  const planted = {
    healthy: ['Healthy: 60.00', null],
    lost: ['Release notes are lost', 'Release notes are lost'],
    late: ['Release fences come late', 'hide that'],
    beats: ['The cap beats with the refresh', 'Caps that do not beat at this refresh: 60, 30.'],
    torn: ['Tearing, as release fences are off', 'Switch release fences on'],
  };
  for (const [name, [head, todo]] of Object.entries(planted)) {
    await page.open(url(`${name}.html`));
    check(`${name}: the verdict says '${head}'`, (await verdict(page)).includes(head));
    const advice = await page.ask("[...document.querySelectorAll('.finding')].map(e => e.textContent).join()");
    check(`${name}: ${todo ? `it says what to try` : 'there is nothing to try'}`, todo ? advice.includes(todo) : advice === '');
    check(`${name}: the timeline is drawn`, await page.ask(`(() => {
      const c = document.getElementById('lanes'), d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
      const seen = new Set();
      for (let i = 0; i < d.length; i += 404)
        seen.add(d[i] << 16 | d[i + 1] << 8 | d[i + 2]);
      return seen.size > 8;
    })()`));
  }
}

// What a frame did is what simulate said it did: its costs are known.
async function frames(page) {
  await page.open(url('healthy.html'));
  check('a healthy run has no events', await page.ask("document.querySelectorAll('[data-event]').length") === 0);
  await page.press('.'); /* wherever the focus is */
  const says = await frameSays(page);
  check('full stop goes to a frame', /^Frame \d+ at/.test(says));
  check('whose numbers are those that were simulated', says.includes('CPU3.60 ms') && says.includes('GPU5.40 ms') &&
    says.includes('start to first line34.98 ms') && says.includes('since the last frame16.67 ms') &&
    says.includes('stayed1 refresh') && says.includes('On time.'));
  const first = Number((await state(page)).frame);
  await page.press('.');
  check('and to the next one', Number((await state(page)).frame) === first + 1);
  await page.press(',');
  check('comma goes back', Number((await state(page)).frame) === first);
  await page.press('Escape');
  check('Escape lets go', (await state(page)).frame === '');
}

async function events(page) {
  await page.open(url('torn.html'));
  check('a tear is explained at once', /Torn: its image was written for frame \d+, 1\.55 ms after its first line, as the panel read line 104/
    .test(await frameSays(page)));
  await page.open(url('late.html'));
  const links = await page.ask("[...document.querySelectorAll('[data-event]')].map(a => [a.textContent, a.parentNode.className])");
  const late = links.findIndex(([text, kind], i) => kind === 'repeat' && i > 8 && /before frame \d+ the older/.test(text));
  const number = /frame (\d+)/.exec(links[late][0])[1];
  await page.click(`[data-event="${late}"]`);
  await page.frames();
  const at = await state(page);
  check('an event that is clicked shows its frame', at.frame === number && at.kind === 'repeat');
  check('in lanes', at.detail === 'true');
  check('and says why it was late', /too long: it waited \d+\.\d\d ms for its image's release/.test(await frameSays(page)));
  check('with the timeline in view', await inView(page, '#lanes'));
  check('and the event marked in the list', await page.ask(`document.querySelector('[data-event="${late}"]').getAttribute('aria-current')`) === 'true');
  const line = await page.ask(`(() => {
    const { chunk, row } = timeline.selected;
    return capture.chunk(chunk).frames.line[row];
  })()`);
  check('its first line lies in the view', Number(at.from) < line && line < Number(at.to));
  await page.ask("document.getElementById('stage').focus({ preventScroll: true })");
  await page.press('n');
  check('n goes to the next event', await page.ask('timeline.event') === late + 1);
  await page.press('p');
  check('p goes back', (await state(page)).frame === number);
  await page.click('.filters button');
  check('a kind of events can be hidden', await page.ask("[...document.querySelectorAll('.list li')].some(e => e.hidden) && [...document.querySelectorAll('.list li')].some(e => !e.hidden)"));
}

async function movement(page) {
  await page.open(url('late.html'));
  await page.ask("document.getElementById('stage').focus({ preventScroll: true })");
  const span = s => s.to - s.from;
  let before = await state(page);
  await page.press('+');
  let after = await state(page);
  check('plus zooms in', Math.abs(span(after) * 1.5 / span(before) - 1) < 0.01);
  await page.press('-');
  after = await state(page);
  check('minus zooms out', Math.abs(span(after) / span(before) - 1) < 0.01);
  await page.press('End');
  await page.press('ArrowLeft');
  before = await state(page);
  await page.press('ArrowLeft');
  after = await state(page);
  check('the arrows move', Number(after.from) < Number(before.from) && Math.abs(span(after) - span(before)) < 2);
  await page.press('Home');
  check('Home goes to the start', await page.ask('timeline.from <= capture.from'));
  await page.press('0');
  check('0 shows all, as intervals', await page.ask('timeline.from <= capture.from && timeline.to >= capture.to') && (await state(page)).detail === 'false');
  const midst = () => page.ask(`(() => {
    document.getElementById('stage').scrollIntoView({ block: 'center', behavior: 'instant' });
    const b = document.getElementById('lanes').getBoundingClientRect();
    return [b.left + b.width / 2, b.top + b.height / 2];
  })()`);
  let box = await midst();
  before = await state(page);
  await page.mouse('mouseWheel', ...box, { deltaX: 0, deltaY: -200 });
  after = await state(page);
  check('the wheel zooms', span(after) < span(before) * 0.8);
  await page.ask('document.activeElement.blur()');
  await page.mouse('mouseWheel', ...box, { deltaX: 0, deltaY: -200 });
  check('but not before somebody works with it', span(await state(page)) === span(after));
  box = await midst();
  before = await state(page);
  await page.drag(box[0], box[1], box[0] + 200, box[1]);
  after = await state(page);
  check('dragging moves', Number(after.from) < Number(before.from) && Math.abs(span(after) / span(before) - 1) < 0.01);
  await page.ask('centre(1e6)');
  await page.frames();
  const spot = await page.ask(`(() => {
    const b = document.getElementById('lanes').getBoundingClientRect();
    const s = timeline.spots.find(s => s.chunk >= 0 && s.x0 > 200 && s.x1 < timeline.width - 100 && s.x1 - s.x0 > 6 && s.y0 > 60);
    return [b.left + (s.x0 + s.x1) / 2, b.top + (s.y0 + s.y1) / 2, capture.chunk(s.chunk).frames.number[s.row]];
  })()`);
  await page.mouse('mouseMoved', spot[0], spot[1]);
  await page.frames();
  check('what is pointed at gives its numbers', (await frameSays(page)).startsWith(`Frame ${spot[2]} at`));
  await page.clickAt(spot[0], spot[1]);
  check('and is kept by a click', (await state(page)).frame === String(spot[2]));
  await page.press('?');
  check('? explains', await page.ask("document.getElementById('keys').open"));
  await page.press('Escape');
}

async function looks(page) {
  const ground = "getComputedStyle(document.body).backgroundColor";
  const light = c => /\((\d+)/.exec(c)[1] > 200;
  await page.media('dark');
  await page.open(url('late.html'));
  check('dark where the system is', !light(await page.ask(ground)));
  const dark = (await page.picture()).toString('base64');
  await page.media('light');
  await page.frames();
  check('light where the system is', light(await page.ask(ground)));
  check('and looks otherwise', (await page.picture()).toString('base64') !== dark);
  await page.click('#theme');
  check('the button makes it dark', !light(await page.ask(ground)));
  const paper = await page.paper();
  check('it prints', paper.subarray(0, 5).toString() === '%PDF-' && paper.length > 20000);
  await page.media('light', 'print');
  check('without what is of no use on paper', await page.ask("['.tools', '#theme', '.filters'].every(s => getComputedStyle(document.querySelector(s)).display === 'none')"));
  await page.media('light');
  for (const name of ['healthy', 'late', 'torn', 'guests']) {
    await page.size(360, 740, true);
    await page.open(url(`${name}.html`));
    check(`${name}: nothing is wider than a phone of 360`, await page.ask('document.documentElement.scrollWidth') <= 360);
  }
  await page.size(1200, 900);
}

// Each text against what is behind it: 4.5 to 1, as WCAG 2 AA wants.
async function contrast(page) {
  for (const scheme of ['light', 'dark']) {
    await page.media(scheme);
    await page.open(url('late.html'));
    const poor = await page.ask(`(() => {
      const part = v => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; };
      const rgb = c => (c.match(/[\\d.]+/g) || []).map(Number);
      const light = c => 0.2126 * part(c[0]) + 0.7152 * part(c[1]) + 0.0722 * part(c[2]);
      const behind = e => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c.length === 3 || c[3] > 0.9) return c; } return [255, 255, 255]; };
      const out = [];
      for (const e of document.querySelectorAll('body *')) {
        const own = [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim());
        if (!own || !e.checkVisibility() || e.closest('svg'))
          continue;
        const a = light(rgb(getComputedStyle(e).color)), b = light(behind(e));
        const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        if (ratio < 4.5)
          out.push(e.tagName + ' ' + e.className + ' ' + e.textContent.trim().slice(0, 20) + ' ' + ratio.toFixed(2));
      }
      return out;
    })()`);
    poor.forEach(p => console.error(p));
    check(`${scheme}: texts stand out from what is behind them`, poor.length === 0);
  }
  await page.media('light');
}

async function access(page) {
  await page.open(url('late.html'));
  check('controls have names', await page.ask("[...document.querySelectorAll('button, [tabindex], svg, dialog, a')].every(e => e.textContent.trim() || e.getAttribute('aria-label'))"));
  check('there is one h1, and no level is left out', await page.ask("(() => { const levels = [...document.querySelectorAll('h1, h2, h3')].map(e => +e.tagName[1]); return levels.filter(l => l === 1).length === 1 && levels.every((l, i) => i === 0 || l <= levels[i - 1] + 1); })()"));
  let reached = false;
  for (let i = 0; i < 12 && !reached; i++) {
    await page.press('Tab');
    reached = await page.ask("document.activeElement.id === 'stage'");
  }
  check('the Tab key reaches the timeline', reached);
  check('which shows that it has the focus', await page.ask("getComputedStyle(document.activeElement).outlineStyle !== 'none'"));
}

async function hostile(page) {
  const before = page.complaints.length;
  await page.open(url('hostile.html'));
  check('names in a capture do nothing', await page.ask("typeof hacked === 'undefined' && document.querySelectorAll('img, iframe, b i').length === 0"));
  check('and are shown', (await page.ask('document.body.textContent')).includes('</script><script>hacked'));
  check('with their marks of direction visible', (await page.ask('document.body.textContent')).includes('\\u{202e}'));
  check('quietly', page.complaints.length === before);
}

async function extremes(page) {
  await page.open(url('extremes.html'));
  await page.ask("document.getElementById('stage').focus({ preventScroll: true })");
  for (const key of ['n', 'n', 'p', '.', ',', '+', '+', 'ArrowLeft', 'End', 'Home', '-', '0', '.'])
    await page.press(key);
  check('instants at the ends of time can be looked at', (await frameSays(page)).length > 0);
  check('and views stay numbers', await page.ask('Number.isFinite(timeline.from) && timeline.to > timeline.from'));
}

async function without(page) {
  await page.script(false);
  await page.open(url('late.html'));
  await page.script(true);
  const text = await page.ask('document.body.innerText');
  check('without scripts there are verdict, advice, events and figures', ['Release fences come late', 'What to try', 'Shown late: before frame', 'Times in ms', 'Start to first line', 'is drawn by a script'].every(w => text.includes(w)));
  check('and no dead controls', await page.ask("[...document.querySelectorAll('button')].every(b => !b.checkVisibility())"));
}

async function guests(page) {
  await page.open(url('guests.html'));
  const names = await page.ask("[...document.querySelectorAll('.guest')].map(e => e.textContent)");
  check('each guest has its verdict', names.join() === 'one game,another game');
  await page.ask("document.getElementById('stage').focus({ preventScroll: true })");
  await page.press('.');
  check('and a frame says whose it is', /, of (one|another) game/.test(await frameSays(page)));
}

async function large(page) {
  await page.open(url('large.html'));
  const ms = await page.ask("performance.getEntriesByName('timeline')[0].startTime");
  console.log(`# 100000 frames: the timeline is there after ${ms.toFixed(0)} ms`);
  check('100000 frames open', ms < 20000 && (await verdict(page)).length > 0);
  await page.ask("document.getElementById('stage').focus({ preventScroll: true })");
  await page.press('0');
  check('and can be seen at once', await page.ask('timeline.chunks.length') > 90);
  await page.press('End');
  check('to their end', await page.ask('capture.to - timeline.to') < 1e6);
}

async function main() {
  const browser = new Browser(profile);
  try {
    for (const part of [causes, frames, events, movement, looks, contrast, access, hostile, extremes, without, guests, large]) {
      const page = await browser.page();
      await page.media('light');
      await page.size(1200, 900);
      await part(page).catch(e => {
        console.error(e);
        check(`${part.name}: ${e.message.split('\n')[0]}`, false);
      });
      page.complaints.forEach(c => console.error(`console: ${c}`));
      check(`${part.name}: the console is silent`, page.complaints.length === 0);
      check(`${part.name}: nothing is fetched`, page.requests.every(r => r.startsWith('file:') || r.startsWith('data:')));
      await page.close();
    }
  } finally {
    await browser.close();
  }
}

main().catch(e => {
  console.error(e);
  console.log('no the browser works');
});
