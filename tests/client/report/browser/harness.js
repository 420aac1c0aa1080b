// node harness.js CHECK… PAGE: opens the report PAGE in Chromium and does what each CHECK.js says.
// Fails, with their names, if checks do, if the page says anything on the console, or if it asks
// for anything but itself.
'use strict';
const assert = require('node:assert/strict');
const fs = require('node:fs');
const {pathToFileURL} = require('node:url');
const {chromium} = require('playwright-core');

const checks = process.argv.slice(2);
const file = checks.pop();
let copies = 0;

/** The page with a view (what stands behind '#'), in a window of its own; `options` as newContext()
 *  takes them. `changed` makes another page of its text. */
const opener = (browser, said) => async (view = '', options = {}, changed = null) => {
  const context = await browser.newContext({viewport: {width: 1300, height: 900}, offline: true, ...options});
  const page = await context.newPage();
  const shown = changed ? `${file}.${++copies}.html` : file;
  if (changed) fs.writeFileSync(shown, changed(fs.readFileSync(file, 'utf8')));
  const url = pathToFileURL(shown).href;
  page.on('console', (message) => said.push(`console: ${message.text()}`));
  page.on('pageerror', (error) => said.push(`error: ${error.stack}`));
  // A page may read what it makes itself.
  page.on('request', (request) => { if (!/^(blob|data):/.test(request.url()) && request.url().split('#')[0] !== url) said.push(`request: ${request.url()}`); });
  await page.goto(`${url}#${view}`);
  await frame(page);
  return page;
};
/** Waits until what was drawn again stands there. */
const frame = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
/** Where the points of a chart lie in the window: [{id, series, x, y}], of trials alone. */
const points = (page, selector) => page.evaluate((chosen) => {
  const element = document.querySelector(chosen);
  element.scrollIntoView({block: 'center'});
  const chart = echarts.getInstanceByDom(element);
  const box = element.getBoundingClientRect();
  return chart.getOption().series.flatMap(({data, type}, series) => (type === 'custom' ? [] : data || []).filter((point) => point && point.trial).map((point) => {
    const [x, y] = chart.convertToPixel({xAxisIndex: 0, yAxisIndex: 0}, point.value);
    return {id: point.trial, series, x: box.left + x, y: box.top + y};
  }));
}, selector);
/** The address's view, as a map. */
const viewOf = async (page) => new URLSearchParams(await page.evaluate(() => location.hash.slice(1)));
/** The contrast of two colours "rgb(r, g, b)" by WCAG 2. */
const contrast = (a, b) => {
  const light = (colour) => colour.match(/\d+/g).slice(0, 3).map((part) => part / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
    .reduce((sum, part, i) => sum + part * [0.2126, 0.7152, 0.0722][i], 0);
  const [high, low] = [light(a), light(b)].sort((x, y) => y - x);
  return (high + 0.05) / (low + 0.05);
};
const text = (page, selector) => page.locator(selector).innerText();
const rows = (page) => page.locator('#trials tbody tr').count();

(async () => {
  const browser = await chromium.launch({executablePath: '/usr/bin/chromium', args: process.getuid() === 0 ? ['--no-sandbox'] : []});
  try {
    for (const check of checks) {
      const said = [];
      try {
        await require(`./${check}.js`)({open: opener(browser, said), assert, frame, points, viewOf, text, rows, contrast});
        assert.deepEqual(said, [], 'the page says nothing and fetches nothing');
      } catch (error) {
        console.error(`${check}:`, error);
        process.exitCode = 1;
      }
      await Promise.all(browser.contexts().map((context) => context.close()));
    }
  } finally {
    await browser.close();
  }
})().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
