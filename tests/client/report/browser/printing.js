// On paper: no controls, drawings as wide as the paper, in light colours whatever the screen has.
'use strict';
module.exports = async ({open, assert, frame}) => {
  const page = await open('', {colorScheme: 'dark'});
  await page.evaluate(() => {
    addEventListener('beforeprint', () => { document.body.dataset.printed = document.documentElement.dataset.theme; });
  });
  const pdf = await page.pdf({format: 'A4'});
  assert.ok(pdf.length > 50_000 && pdf.subarray(0, 5).toString() === '%PDF-');
  assert.equal(await page.locator('body').getAttribute('data-printed'), 'light');
  await frame(page);
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark', 'and dark again');
  await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
  await page.emulateMedia({media: 'print'});
  await page.setViewportSize({width: 720, height: 1000});
  const hidden = await page.evaluate(() => ['.filters', '#theme', '.segmented', '.keys'].filter((selector) => document.querySelector(selector).checkVisibility()));
  assert.deepEqual(hidden, []);
  const wide = await page.evaluate(() => [...document.querySelectorAll('.picture svg, .small-chart svg')].map((svg) => svg.getBoundingClientRect().right));
  assert.ok(wide.length > 1 && Math.max(...wide) <= 720, `up to ${Math.max(...wide)}`);
};
