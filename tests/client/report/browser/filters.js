// Filters leave plans out of chart and table, and stand in the address: who opens that sees the
// same.
'use strict';
module.exports = async ({open, assert, frame, text, rows, viewOf}) => {
  const page = await open();
  const run = await page.evaluate(() => JSON.parse(document.querySelector('#run').textContent));
  const named = (condition, batch, transport) => run.trials.filter((trial) => trial.status === 'ok' && trial.condition === condition
    && trial.batch === batch && (!transport || trial.transport === transport));
  const pressed = (key) => page.locator(`[data-key="${key}"]`).getAttribute('aria-pressed');
  const shown = async () => Number(await page.locator('#chart').getAttribute('data-points'));
  const first = await page.locator('#filters [aria-label="Network"] [aria-pressed="true"]').innerText();

  assert.equal(await shown(), named(first, 1).length);
  await page.fill('#find', 'FEATURES.1');
  await frame(page);
  const found = named(first, 1).filter((trial) => trial.split && trial.split.name.includes('features.1'));
  assert.ok(found.length > 1 && found.length < named(first, 1).length);
  assert.equal(await shown(), found.length);
  assert.equal(await rows(page), found.length);
  assert.match(await text(page, '#chart-note'), new RegExp(`Shown: ${found.length}\\.`));
  assert.equal((await viewOf(page)).get('find'), 'FEATURES.1');
  const front = Number(await page.locator('#chart').getAttribute('data-front'));
  assert.equal(front, named(first, 1).filter((trial) => trial.on_front).length, 'what is left out still beats others');
  await page.fill('#find', 'no such name');
  await frame(page);
  assert.equal(await rows(page), 0);
  assert.equal(await text(page, '#table-note'), 'No plan measured has such a name.');
  await page.fill('#find', '');

  await page.click('[data-key="Plans front"]');
  assert.equal(await rows(page), front);
  assert.equal(await shown(), front);
  assert.equal(await page.evaluate(() => document.activeElement.dataset.key), 'Plans front', 'the focus stays');
  await page.click('[data-key="Plans all"]');
  await page.click('[data-key="Batch 8"]');
  await page.click('[data-key="Network 20-near"]');
  await page.click('[data-key="Transport tcp"]');
  assert.equal(await rows(page), named('20-near', 8, 'grpc').length);
  await page.click('[data-key="Transport grpc"]');
  assert.equal(await pressed('Transport grpc'), 'true', 'one transport is always left');
  await page.fill('#find', 'features.3');
  await frame(page);
  const left = await rows(page);
  assert.equal(left, 1);

  const again = await open(String(await viewOf(page)));
  assert.equal(await rows(again), left);
  assert.equal(await again.inputValue('#find'), 'features.3');
  assert.equal(await again.locator('[data-key="Batch 8"]').getAttribute('aria-pressed'), 'true');
  assert.equal(await again.locator('[data-key="Network 20-near"]').getAttribute('aria-pressed'), 'true');
  assert.equal(await again.locator('[data-key="Transport tcp"]').getAttribute('aria-pressed'), 'false');
};
