// All of the page without a mouse: every stop of the tab key is seen, arrows go from plan to plan,
// '/' to the filter, Escape back.
'use strict';
module.exports = async ({open, assert, frame, text, viewOf}) => {
  const page = await open('condition=20-near');
  const run = await page.evaluate(() => JSON.parse(document.querySelector('#run').textContent));
  const under = run.trials.filter((trial) => trial.status === 'ok' && trial.condition === '20-near' && trial.batch === 1)
    .sort((a, b) => a.latency_ms.p50 - b.latency_ms.p50);
  const front = under.filter((trial) => trial.on_front);
  const plan = async () => (await viewOf(page)).get('plan');
  const focus = () => page.evaluate(() => document.activeElement.id || document.activeElement.dataset.key || document.activeElement.tagName);

  const stops = [];
  for (let i = 0; i < 60; ++i) {
    await page.keyboard.press('Tab');
    stops.push(await focus());
    const seen = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
    assert.notEqual(seen, 'none', `the focus is seen on ${stops[i]}`);
  }
  for (const stop of ['theme', 'Batch 1', 'Network 20-near', 'Transport tcp', 'Plans front', 'find', 'chart', 'Zoom front', 'Request p99']) {
    assert.ok(stops.includes(stop), `the tab key reaches ${stop}: ${stops}`);
  }

  await page.focus('#chart');
  await page.keyboard.press('Home');
  assert.equal(await plan(), under[0].id);
  for (const next of [1, 2, 3]) {
    await page.keyboard.press('ArrowRight');
    assert.equal(await plan(), under[next].id, 'right: the next in order of latency');
  }
  await page.keyboard.press('ArrowLeft');
  assert.equal(await plan(), under[2].id);
  await page.keyboard.press('End');
  assert.equal(await plan(), under.at(-1).id);
  assert.match(await text(page, '#detail .badge'), /Beaten/);
  await page.keyboard.press('ArrowDown');
  assert.equal(await plan(), front.at(-1).id, 'down: to the front, the plan before');
  await page.keyboard.press('ArrowDown');
  assert.equal(await plan(), front.at(-2).id);
  await page.keyboard.press('ArrowUp');
  assert.equal(await plan(), front.at(-1).id);
  assert.equal(await focus(), 'chart');

  await page.keyboard.press('/');
  assert.equal(await focus(), 'find');
  await page.keyboard.type('features.1/');
  assert.equal(await page.inputValue('#find'), 'features.1/', 'in the filter it is a letter like others');
  await page.keyboard.press('Escape');
  await frame(page);
  assert.equal(await page.inputValue('#find'), '');
  assert.equal(await focus(), 'chart');
  assert.equal(Number(await page.locator('#chart').getAttribute('data-points')), under.length);
  await page.keyboard.press('Home');
  await page.keyboard.press('Escape');
  assert.equal(await plan(), front.at(-1).id, 'Escape lets go of the plan chosen');

  const reached = page.locator('#trials tbody tr[tabindex="0"]');
  assert.equal(await reached.count(), 1, 'the tab key reaches one row');
  await reached.focus();
  const rowOf = (id) => page.locator('#trials tbody tr').evaluateAll((all, plan_) => all.findIndex((row) => row.dataset.planRow === plan_), id);
  const at = await rowOf(await plan());
  await page.keyboard.press('ArrowDown');
  assert.equal(await rowOf(await plan()), at + 1);
  assert.equal(await page.locator('#trials tbody tr:focus').getAttribute('aria-selected'), 'true');
  await page.focus('[data-key="sort throughput"]');
  await page.keyboard.press('Enter');
  assert.equal(await focus(), 'sort throughput');
  assert.equal(await page.locator('th[aria-sort="ascending"]').innerText(), 'Samples/s ↑');
};
