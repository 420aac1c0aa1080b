// Names and numbers of the chart have room of their own: no line runs through a name, and the
// axis's name stands clear of its numbers; the axis begins near the data.
'use strict';
module.exports = async ({open, assert, frame}) => {
  const page = await open('condition=none&within=30');
  const labels = () => page.locator('#chart svg text').evaluateAll((all) => all.filter((one) => /^(after:|all on|P )/.test(one.textContent)).map((one) => {
    const {left, top, width, height} = one.getBoundingClientRect();
    return {text: one.textContent, clip: {x: left, y: top + 1, width, height: height - 2}};
  }));
  for (const width of [1440, 1024]) {
    await page.setViewportSize({width, height: 1200});
    for (const condition of ['100-near', 'none', '4-far']) {
      await page.click(`[data-key="Network ${condition}"]`);
      await page.locator('#chart').scrollIntoViewIfNeeded();
      await page.mouse.move(2, 2);
      await frame(page);
      const all = await labels();
      assert.ok(all.length > 1, `${condition}: ${all.length} names`);
      const take = async () => { const taken = []; for (const {clip} of all) taken.push(await page.screenshot({clip})); return taken; };
      const before = await take();
      // The same without intervals, edge and limit.
      await page.evaluate(() => {
        const chart = echarts.getInstanceByDom(document.querySelector('#chart'));
        const {series} = chart.getOption();
        chart.setOption({series: series.map(({id, type}) => (type === 'custom' && id !== 'leads' ? {id, data: []} : type === 'line' ? {id, lineStyle: {opacity: 0}} : {id}))});
      });
      await frame(page);
      assert.equal((await labels()).length, all.length);
      const after = await take();
      all.forEach(({text}, i) => assert.ok(before[i].equals(after[i]), `a line runs through "${text}" under ${condition} at ${width}`));
      await page.click('[data-key="Zoom front"]');
      await page.click('[data-key="Zoom all"]');
    }
  }

  for (const factor of [1, 1e3, 1e5, 1e-3]) {
    const scaled = await open('condition=none', {}, (text) => text.replace(/"samples_per_s":([\d.]+),"ci95":\[([\d.]+),([\d.]+)\]/g,
      (all, rate, low, high) => `"samples_per_s":${rate * factor},"ci95":[${low * factor},${high * factor}]`));
    const {met, share} = await scaled.evaluate(() => {
      const texts = [...document.querySelectorAll('#chart svg text')].map((one) => [one.textContent, one.getBoundingClientRect()]);
      const [, name] = texts.find(([text]) => /^throughput/.test(text));
      const box = document.querySelector('#chart').getBoundingClientRect();
      const numbers = texts.filter(([text]) => /^[\d.,]+$/.test(text));
      const chart = echarts.getInstanceByDom(document.querySelector('#chart'));
      const {min, max} = chart.getOption().xAxis[0];
      const run = JSON.parse(document.querySelector('#run').textContent);
      const under = run.trials.filter((trial) => trial.status === 'ok' && trial.batch === 1 && trial.condition === 'none');
      const first = Math.min(...under.map((trial) => trial.latency_ms.ci95[0]));
      return {met: [...numbers.filter(([, {left, right}]) => left < name.right && right > name.left).map(([text]) => text), ...(name.left < box.left ? ['the edge'] : [])], share: (first - min) / (max - min)};
    });
    assert.deepEqual(met, [], `the axis's name runs into its numbers, × ${factor}`);
    assert.ok(share < 0.25, `${Math.round(100 * share)} % of the chart is empty on the left`);
  }
};
