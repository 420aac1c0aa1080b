// A latency to stay within is a line in the chart. The cards name the best plan within it, and rows
// that are too slow are faint.
'use strict';
module.exports = async ({open, assert, frame, text, viewOf}) => {
  const page = await open('condition=none');
  const run = await page.evaluate(() => JSON.parse(document.querySelector('#run').textContent));
  const under = run.trials.filter((trial) => trial.status === 'ok' && trial.batch === 1 && trial.condition === 'none')
    .sort((a, b) => a.latency_ms.p50 - b.latency_ms.p50);
  const target = Number(under[Math.floor(under.length / 3)].latency_ms.p50.toFixed(1)) + 0.1;
  await page.fill('#target', String(target));
  await frame(page);
  const within = under.filter((trial) => trial.latency_ms.p50 <= target);
  const best = within.reduce((found, trial) => (trial.throughput.samples_per_s > found.throughput.samples_per_s ? trial : found));
  assert.equal(await page.locator('#trials tbody tr.late').count(), under.length - within.length);
  assert.match(await text(page, '#headlines'), new RegExp(`Highest throughput within ${target} ms`));
  assert.equal((await viewOf(page)).get('plan'), best.id, 'the best plan within it is chosen');
  assert.match(await text(page, '#chart-note'), new RegExp(`${within.length} take at most`));
  const line = await page.evaluate(() => echarts.getInstanceByDom(document.querySelector('#chart')).getOption().series.find(({id}) => id === 'target').data[0][0]);
  assert.equal(line, target);
  const again = await open(String(await viewOf(page)));
  assert.equal(await again.inputValue('#target'), String(target));
  await page.fill('#target', '0.001');
  await frame(page);
  assert.match(await text(page, '#headlines'), /None/);
  await page.fill('#target', '');
  await frame(page);
  assert.equal(await page.locator('#trials tbody tr.late').count(), 0);
};
