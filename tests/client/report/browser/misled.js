// Predictions that put plans into no order: nothing counts what may be on the front by them, and
// the card of the figure that is off says so.
'use strict';
module.exports = async ({open, assert, frame, text}) => {
  const page = await open();
  const note = await text(page, '#chart-note');
  assert.match(note, /Predictions are no guide here: any of those may be on the front; sweep --exhaustive measures all/);
  assert.doesNotMatch(note, /(none|\d+) of those/);
  const tip = await page.evaluate(() => {
    const chart = echarts.getInstanceByDom(document.querySelector('#chart'));
    const {trials} = JSON.parse(document.querySelector('#run').textContent);
    const {id} = trials.find(({status}) => status === 'predicted');
    return chart.getOption().tooltip[0].formatter({data: {trial: id}}).textContent;
  });
  assert.match(tip, /no guide here: it may be on the front/);
  assert.doesNotMatch(tip, /probability/);
  assert.doesNotMatch(await text(page, '#accuracy-note'), /no guide/, 'latency is well predicted');
  await page.click('[data-key="Predicted throughput"]');
  await frame(page);
  assert.match(await text(page, '#accuracy-note'), /Predictions are no guide here/);
};
