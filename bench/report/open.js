// How long a report takes to open: node bench/report/open.js build/turnpike [FRAMES]
// Simulates a run (100,000 frames), makes its page, opens it in a headless Chromium, and prints when
// the timeline was first painted, as JSON; beside it the same for a run of 100 frames, which is what
// the browser itself takes.
'use strict';
const fs = require('fs');
const os = require('os');
const path = require('path');
const { execFileSync } = require('child_process');
const { Browser } = require('../../tests/report/browser.js');

const OPENED = 5;

async function opened(browser, file) {
  const times = [];
  for (let i = 0; i < OPENED; i++) {
    const page = await browser.page();
    await page.size(1200, 900);
    await page.open('file://' + file);
    times.push(await page.ask("performance.getEntriesByName('timeline')[0].startTime"));
    await page.close();
  }
  return times.sort((a, b) => a - b)[OPENED >> 1];
}

async function main([turnpike, frames = '100000']) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'turnpike-bench-'));
  const made = n => {
    const file = path.join(folder, `${n}.cap`);
    execFileSync(turnpike, ['simulate', '--cost', '9000,12000,7000', '--frames', n, '--faults',
      'late-fence:20:2,clock-jitter:200', '--capture', file], { stdio: 'ignore' });
    const begin = process.hrtime.bigint();
    execFileSync(turnpike, ['report', file], { stdio: 'ignore' });
    return { page: path.join(folder, `${n}.html`), ms: Number(process.hrtime.bigint() - begin) / 1e6 };
  };
  const browser = new Browser(path.join(folder, 'profile'));
  try {
    const few = made('100'), all = made(frames);
    const least = await opened(browser, few.page), ms = await opened(browser, all.page);
    console.log(JSON.stringify({
      frames: Number(frames),
      page_bytes: fs.statSync(all.page).size,
      report_ms: Math.round(all.ms),
      opened_ms: Math.round(ms),
      opened_100_frames_ms: Math.round(least),
      ratio: Number((ms / least).toFixed(2)),
    }));
  } finally {
    await browser.close();
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

main(process.argv.slice(2)).catch(e => {
  console.error(e.message);
  process.exitCode = 1;
});
