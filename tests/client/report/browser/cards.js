// Cards, table and front show one figure a plan, and by the figures that are shown nobody off the
// front beats one on it.
'use strict';
module.exports = async ({open, assert, text}) => {
  const page = await open();
  const run = await page.evaluate(() => JSON.parse(document.querySelector('#run').textContent));
  const on = new Set(run.trials.filter((trial) => trial.on_front).map(({id}) => id));
  const heads = (await page.locator('#trials thead th').allInnerTexts()).map((head) => head.replace(/ [↑↓]$/, ''));
  const column = (name) => heads.indexOf(name);
  const plans = await page.locator('#trials tbody tr').evaluateAll((rows) => rows.map((row) => ({
    id: row.dataset.planRow, cells: [...row.cells].map((cell) => cell.firstChild.textContent), beaten: !row.classList.contains('front')})));
  assert.ok(plans.length > 5);
  const shown = plans.map(({id, cells, beaten}) => ({id, beaten, ms: Number(cells[column('p50 ms')]), rate: Number(cells[column('Samples/s')]),
    measured: Number(cells[column('Measured')]), rounds: Number(cells[column('Rounds')])}));
  assert.ok(shown.some(({ms, measured}) => ms !== measured), 'what is believed is not what few rounds measured');
  const beats = (a, b) => a.ms <= b.ms && a.rate >= b.rate && (a.ms < b.ms || a.rate > b.rate);
  for (const plan of shown) {
    assert.equal(plan.beaten, !on.has(plan.id), plan.id);
    assert.equal(plan.beaten, shown.some((other) => beats(other, plan)), `${plan.id}: the front follows from the figures shown`);
    assert.equal(plan.rounds, run.trials.find(({id}) => id === plan.id).rounds);
  }
  const sorted = shown.map(({ms}) => ms);
  assert.deepEqual(sorted, [...sorted].sort((a, b) => a - b), 'sorted by the figures shown');

  // A plan's way adds up to its parts.
  const moved = shown.find(({ms, measured}) => ms !== measured).id;
  await page.locator(`#trials tr[data-plan-row="${moved}"]`).click();
  const [parts, way] = await page.evaluate(() => {
    const computing = (selector) => [...document.querySelectorAll(selector)].filter((item) => /--compute|var\(--compute\)/.test(item.getAttribute('style') || item.querySelector('[style]')?.getAttribute('style') || ''))
      .reduce((sum, item) => sum + parseFloat(item.querySelector('b').textContent), 0);
    return [computing('#detail .parts li'), computing('#detail .path li')];
  });
  assert.ok(parts > 0 && Math.abs(parts - way) <= 0.011 * parts, `computing takes ${parts} ms, on its way ${way} ms`);

  // Time that no clock saw is named the rest, everywhere.
  assert.match(await text(page, '#detail .parts'), /the rest/);
  assert.match(await text(page, '#time-legend'), /computing\s*transfer\s*the rest/);

  const card = async (name) => parseFloat(await text(page, `#headlines [data-key="headline ${name}"] strong`));
  assert.equal(await card('Lowest latency'), Math.min(...sorted));
  assert.equal(await card('Highest throughput'), Math.max(...shown.map(({rate}) => rate)));
};
