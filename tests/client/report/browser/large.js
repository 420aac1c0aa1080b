// Hundreds of plans under several networks are all drawn, and each can be chosen.
'use strict';
module.exports = async ({open, assert, frame, viewOf}) => {
  const page = await open();
  const counts = await page.evaluate(() => {
    const {trials} = JSON.parse(document.querySelector('#run').textContent);
    const of = (condition) => trials.filter((trial) => trial.condition === condition).length;
    return {first: of(document.querySelector('[aria-label="Network"] [aria-pressed="true"]').textContent), all: trials.length,
      drawn: Number(document.querySelector('#chart').dataset.points), rows: document.querySelectorAll('#trials tbody tr').length,
      small: [...document.querySelectorAll('.small-chart')].reduce((sum, chart) => sum + Number(chart.dataset.shown), 0)};
  });
  assert.equal(counts.drawn, counts.first);
  assert.equal(counts.rows, counts.first);
  assert.equal(counts.small, counts.all);
  await page.focus('#chart');
  const seen = new Set();
  await page.keyboard.press('Home');
  for (let i = 0; i < 20; ++i) {
    seen.add((await viewOf(page)).get('plan'));
    await page.keyboard.press('ArrowRight');
  }
  await frame(page);
  assert.equal(seen.size, 20);
};
