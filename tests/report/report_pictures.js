// Pictures of a report for people to look at, and for docs/report.md, which says how:
// node report_pictures.js PAGE.html OUT
'use strict';
const fs = require('fs');
const os = require('os');
const path = require('path');
const { Browser } = require('./browser.js');

async function main([file, out]) {
  const profile = fs.mkdtempSync(path.join(os.tmpdir(), 'turnpike-pictures-'));
  const browser = new Browser(profile);
  const page = await browser.page();
  const url = 'file://' + path.resolve(file);
  const save = async (name, full) => fs.writeFileSync(path.join(out, name), await page.picture(full));
  try {
    for (const scheme of ['light', 'dark']) {
      await page.media(scheme);
      await page.size(1200, 1000);
      await page.open(url);
      await save(`${scheme}.png`, true);
    }
    for (const scheme of ['light', 'dark']) { // for the docs: what fits a window
      await page.media(scheme);
      await page.size(1100, 900);
      await page.open(url);
      await save(`window-${scheme}.png`, false);
    }
    await page.media('light');
    await page.size(360, 740, true, 2);
    await page.open(url);
    await save('phone.png', true);
    fs.writeFileSync(path.join(out, 'print.pdf'), await page.paper());
    for (const complaint of page.complaints)
      console.error(complaint);
  } finally {
    await browser.close();
    fs.rmSync(profile, { recursive: true, force: true });
  }
}

main(process.argv.slice(2)).catch(e => {
  console.error(e);
  process.exitCode = 1;
});
