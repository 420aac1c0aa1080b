// Parts may add up to more than the whole: then there is no rest, and nothing is less than nothing.
'use strict';
module.exports = async ({open, assert, text}) => {
  const page = await open('condition=none', {}, (whole) => whole.replace(/"wait":[\d.e-]+/g, '"wait":-0.731'));
  const parts = await page.locator('#detail .parts li').evaluateAll((all) => all.map((one) => [...one.querySelectorAll('span, b, small')].map(({textContent}) => textContent)));
  const [, , rest] = parts;
  assert.deepEqual(rest, ['the rest', '–', '']);
  assert.match(await text(page, '#detail'), /together more than the whole/);
  const titles = await page.locator('#times .time').evaluateAll((all) => all.map(({title}) => title));
  assert.ok(titles.length > 1);
  for (const title of titles) assert.match(title, /the rest –$/);
  const usual = await open('condition=none');
  assert.doesNotMatch(await text(usual, '#detail'), /together more/);
  assert.match(await text(usual, '#detail .parts'), /the rest\s+[\d.]+ ms/);
};
