// Intervals are drawn of the front, of the plan chosen and of the one under the pointer. Names of
// neighbours do not touch.
'use strict';
module.exports = async ({open, assert, frame, points}) => {
  const page = await open('condition=none');
  const drawn = () => page.evaluate(() => {
    const series = echarts.getInstanceByDom(document.querySelector('#chart')).getOption().series.filter(({type}) => type === 'custom');
    return {front: series.find(({id}) => id !== 'pointed').data.length, pointed: series.find(({id}) => id === 'pointed').data.length};
  });
  const front = Number(await page.locator('#chart').getAttribute('data-front'));
  assert.deepEqual(await drawn(), {front, pointed: 1});
  const all = await points(page, '#chart');
  const free = all.find((point) => all.every((other) => other === point || Math.hypot(other.x - point.x, other.y - point.y) > 14) && !point.id.startsWith('all-on'));
  await page.mouse.move(free.x, free.y);
  await frame(page);
  assert.deepEqual(await drawn(), {front, pointed: 2}, 'of the plan under the pointer too');
  await page.mouse.move(2, 2);
  await frame(page);
  assert.deepEqual(await drawn(), {front, pointed: 1});

  for (const width of [1440, 1024, 390]) {
    await page.setViewportSize({width, height: 844});
    for (const condition of ['100-near', '1000-far', 'none']) {
      await page.click(`[data-key="Network ${condition}"]`);
      await frame(page);
      const touching = await page.evaluate(() => {
        const names = [...document.querySelectorAll('#chart svg text')].filter((name) => /^(after:|all on)/.test(name.textContent)).map((name) => [name.textContent, name.getBoundingClientRect()]);
        return names.flatMap(([name, a], i) => names.slice(i + 1).filter(([, b]) => a.left < b.right + 3 && b.left < a.right + 3 && a.top < b.bottom && b.top < a.bottom).map(([other]) => `${name} and ${other}`));
      });
      assert.deepEqual(touching, [], `names touch under ${condition} at ${width}`);
    }
  }
};
