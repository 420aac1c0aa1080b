// Predictions that put plans into no order: the chart says so, and the card of the figure that is off.
'use strict';
module.exports = async ({open, assert, frame, text}) => {
  const page = await open();
  assert.match(await text(page, '#chart-note'), /predictions are no guide here: sweep --exhaustive measures all/);
  assert.doesNotMatch(await text(page, '#accuracy-note'), /no guide/, 'latency is well predicted');
  await page.click('[data-key="Predicted throughput"]');
  await frame(page);
  assert.match(await text(page, '#accuracy-note'), /Predictions are no guide here/);
};
