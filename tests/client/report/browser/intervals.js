// Intervals are drawn of the front, of the plan chosen and of the one under the pointer, and are
// short. Names of neighbours do not touch.
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
      const {long, touching} = await page.evaluate(() => {
        const box = document.querySelector('#chart').getBoundingClientRect();
        const colour = getComputedStyle(document.documentElement).getPropertyValue('--front').trim();
        const arms = [...document.querySelectorAll('#chart svg path')].filter((path) => path.getAttribute('stroke') === colour && path.getAttribute('stroke-width') === '1.2');
        const names = [...document.querySelectorAll('#chart svg text')].filter((name) => /^(after:|all on)/.test(name.textContent)).map((name) => [name.textContent, name.getBoundingClientRect()]);
        return {
          long: arms.map((arm) => arm.getBoundingClientRect()).filter((arm) => arm.width > 0.2 * box.width || arm.height > 0.2 * box.height).length,
          touching: names.flatMap(([name, a], i) => names.slice(i + 1).filter(([, b]) => a.left < b.right + 3 && b.left < a.right + 3 && a.top < b.bottom && b.top < a.bottom).map(([other]) => `${name} and ${other}`)),
        };
      });
      assert.equal(long, 0, 'no interval looks like a line of the grid');
      assert.deepEqual(touching, [], `names touch under ${condition} at ${width}`);
    }
  }
};
