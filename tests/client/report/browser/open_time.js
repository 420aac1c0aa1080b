// node open_time.js PAGE: how long the report PAGE takes to open, and from a key to the next plan
// drawn; medians of several, in ms of the browser's clock, as JSON.
'use strict';
const {pathToFileURL} = require('node:url');
const {chromium} = require('playwright-core');

const TIMES = 5;
const KEYS = 15;
const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

(async () => {
  const browser = await chromium.launch({executablePath: '/usr/bin/chromium', args: process.getuid() === 0 ? ['--no-sandbox'] : []});
  const opened = [];
  const steps = [];
  for (let i = 0; i < TIMES; ++i) {
    const page = await (await browser.newContext({viewport: {width: 1300, height: 900}})).newPage();
    await page.goto(pathToFileURL(process.argv[2]).href);
    // Scripts ran while the page loaded; a frame later all that they drew is on the screen.
    opened.push(await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(() => done(performance.now()))))));
    await page.focus('#chart');
    for (let key = 0; key < KEYS; ++key) {
      steps.push(await page.evaluate(() => new Promise((done) => {
        const start = performance.now();
        document.getElementById('chart').dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowLeft'}));
        requestAnimationFrame(() => setTimeout(() => done(performance.now() - start)));
      })));
    }
    await page.close();
  }
  await browser.close();
  console.log(JSON.stringify({open_ms: median(opened), step_ms: median(steps)}));
})();
