// Predictions against measurements: a point each, errors told, and a click chooses the plan.
'use strict';
module.exports = async ({open, assert, frame, points, text, viewOf}) => {
  const page = await open();
  const both = await page.evaluate(() => JSON.parse(document.querySelector('#run').textContent).trials.filter((trial) => trial.status === 'ok' && trial.predicted).length);
  const all = await points(page, '#accuracy-chart');
  assert.equal(all.length, both);
  assert.match(await text(page, '#accuracy-note'), /off by 5 % in latency, 95 % of them by less than 5 %/);
  const free = all.find((point) => all.every((other) => other === point || Math.hypot(other.x - point.x, other.y - point.y) > 10));
  await page.mouse.click(free.x, free.y);
  await frame(page);
  assert.equal((await viewOf(page)).get('plan'), free.id);
  await page.click('[data-key="Predicted throughput"]');
  await frame(page);
  assert.match(await text(page, '#accuracy-note'), /off by 4 % in throughput/);
  assert.equal((await viewOf(page)).get('error'), 'throughput');
  await page.click('#accuracy summary');
  assert.equal(await page.locator('#accuracy-plans tbody tr').count(), both);
};
