// A table that is wider than its card says so, and shows where columns go on.
'use strict';
module.exports = async ({open, assert, frame}) => {
  const page = await open('condition=none');
  const seen = () => page.evaluate(() => [...document.querySelectorAll('.scroll')].filter((box) => box.checkVisibility()).map((box) => ({
    table: box.firstElementChild.id, wide: box.scrollWidth > box.clientWidth + 1, said: getComputedStyle(box, '::before').content,
    shade: getComputedStyle(box).boxShadow, at: box.scrollLeft})));
  for (const width of [1440, 1024, 700]) {
    await page.setViewportSize({width, height: 900});
    await frame(page);
    await frame(page);
    for (const {table, wide, said, shade} of await seen()) {
      assert.equal(/scroll/.test(said), wide, `${table} at ${width}: ${said}`);
      assert.equal(/inset/.test(shade), wide, `${table} at ${width}: ${shade}`);
    }
  }
  assert.ok((await seen()).find(({table}) => table === 'trials').wide, 'the table of plans is');
  const right = (await seen()).find(({table}) => table === 'trials').shade;
  await page.evaluate(() => { const box = document.querySelector('#trials').parentElement; box.scrollLeft = box.scrollWidth; });
  await frame(page);
  const end = (await seen()).find(({table}) => table === 'trials');
  assert.match(end.shade, /inset/);
  assert.notEqual(end.shade, right, 'at its end columns go on to the left');
};
