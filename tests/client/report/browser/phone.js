// On a phone: nothing is wider than the screen, no label is cut off, a finger chooses a plan.
'use strict';
module.exports = async ({open, assert, frame, points, viewOf}) => {
  const page = await open('condition=20-near', {viewport: {width: 390, height: 844}, hasTouch: true, isMobile: true, deviceScaleFactor: 3});
  const wide = await page.evaluate(() => [document.documentElement.scrollWidth,
    ...[...document.querySelectorAll('.card, .headline, .filter, h1, h2')].map((element) => element.getBoundingClientRect().right)]);
  assert.ok(Math.max(...wide) <= 390, `up to ${Math.max(...wide)} wide`);
  const cut = await page.evaluate(() => [...document.querySelectorAll('.picture svg, .small-chart svg')].flatMap((svg) => {
    const box = svg.getBoundingClientRect();
    return [...svg.querySelectorAll('text')].filter((text) => {
      const own = text.getBoundingClientRect();
      return own.width > 0 && (own.left < box.left - 1 || own.right > box.right + 1 || own.top < box.top - 1 || own.bottom > box.bottom + 1);
    }).map((text) => text.textContent);
  }));
  assert.deepEqual(cut, [], 'labels leave their charts');
  const [point] = (await points(page, '#chart')).filter(({id}) => !id.startsWith('all-on'));
  await page.touchscreen.tap(point.x, point.y);
  await frame(page);
  const chosen = (await viewOf(page)).get('plan');
  const near = (await points(page, '#chart')).find(({id}) => id === chosen);
  assert.ok(Math.hypot(near.x - point.x, near.y - point.y) < 14, `${chosen} was chosen for ${point.id}`);
};
