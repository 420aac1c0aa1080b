// On a phone: nothing is wider than the screen, no label is cut off, a finger chooses a plan.
'use strict';
module.exports = async ({open, assert, frame, points, viewOf}) => {
  const view = {viewport: {width: 390, height: 844}, hasTouch: true, isMobile: true, deviceScaleFactor: 3};
  const page = await open('condition=20-near', view);
  const wide = await page.evaluate(() => [document.documentElement.scrollWidth,
    ...[...document.querySelectorAll('.card, .headline, .filter, h1, h2')].map((element) => element.getBoundingClientRect().right)]);
  assert.ok(Math.max(...wide) <= 390, `up to ${Math.max(...wide)} wide`);
  const cut = (shown) => shown.evaluate(() => [...document.querySelectorAll('.picture svg, .small-chart svg')].flatMap((svg) => {
    const box = svg.getBoundingClientRect();
    return [...svg.querySelectorAll('text')].filter((text) => {
      const own = text.getBoundingClientRect();
      return own.width > 0 && (own.left < box.left - 1 || own.right > box.right + 1 || own.top < box.top - 1 || own.bottom > box.bottom + 1);
    }).map((text) => text.textContent);
  }));
  assert.deepEqual(await cut(page), [], 'labels leave their charts');
  const [point] = (await points(page, '#chart')).filter(({id}) => !id.startsWith('all-on'));
  await page.touchscreen.tap(point.x, point.y);
  await frame(page);
  const chosen = (await viewOf(page)).get('plan');
  assert.equal(await page.locator('.tip').filter({visible: true}).count(), 0, 'nothing stands under the finger');
  assert.match(await page.locator('#chart-chosen').innerText(), / ms, .* samples\/s$/, 'it is told beneath the chart');
  const near = (await points(page, '#chart')).find(({id}) => id === chosen);
  assert.ok(Math.hypot(near.x - point.x, near.y - point.y) < 14, `${chosen} was chosen for ${point.id}`);
  const others = await open('condition=20-near&x=memory&y=bytes', view);
  assert.deepEqual(await cut(others), [], 'whatever is on the axes');
};
