// Other figures on the axes: front, cards and the address follow them.
'use strict';
module.exports = async ({open, assert, frame, text, viewOf, rows}) => {
  const page = await open('condition=none');
  const run = await page.evaluate(() => JSON.parse(document.querySelector('#run').textContent));
  const under = run.trials.filter((trial) => trial.status === 'ok' && trial.batch === 1 && trial.condition === 'none');
  const memory = (trial) => Math.max(...trial.stages.map((stage) => stage.peak_memory_bytes));
  const crossing = (trial) => trial.links.slice(1, -1).reduce((sum, link) => sum + link.bytes, 0);
  const front = (x, y) => under.filter((trial) => !under.some((other) => x(other) <= x(trial) && y(other) <= y(trial) && (x(other) < x(trial) || y(other) < y(trial))));
  const shown = async () => (await page.locator('#trials tbody tr.front').evaluateAll((all) => all.map((row) => row.dataset.planRow))).sort();
  const ids = (trials) => trials.map(({id}) => id).sort();
  assert.deepEqual(await shown(), ids(front((trial) => trial.latency_ms.p50, (trial) => -trial.throughput.samples_per_s)));

  await page.selectOption('#axis-x', 'p99');
  await frame(page);
  assert.deepEqual(await shown(), ids(front((trial) => trial.latency_ms.p99, (trial) => -trial.throughput.samples_per_s)));
  assert.match(await text(page, '#headlines'), /Lowest latency, p99/);
  await page.selectOption('#axis-x', 'memory');
  await page.selectOption('#axis-y', 'bytes');
  await frame(page);
  const best = front(memory, crossing);
  assert.deepEqual(await shown(), ids(best));
  assert.match(await text(page, '#chart-note'), /Down and left is better/);
  assert.match(await text(page, '#headlines'), /Least memory/);
  assert.doesNotMatch(await text(page, '#detail .verdict'), /resampled/, 'the run says nothing of how sure this front is');
  assert.equal(await rows(page), under.length);
  const again = await open(String(await viewOf(page)));
  assert.equal(await again.inputValue('#axis-x'), 'memory');
  assert.equal(Number(await again.locator('#chart').getAttribute('data-front')), best.length);
  await page.selectOption('#axis-y', 'memory');
  await frame(page);
  assert.notEqual(await page.inputValue('#axis-x'), 'memory', 'no figure stands on both axes');
  const offered = await page.locator('#axis-x option').evaluateAll((all) => all.map(({value}) => value));
  assert.ok(!offered.includes('energy'), 'no device says what power it takes');
  assert.ok(!offered.includes('throughput'), 'across, less is better');
};
