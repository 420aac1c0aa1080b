// One request, step by step: as many rows as it has steps, bars one after the other, and their
// figures those of the run.
'use strict';
module.exports = async ({open, assert, frame, viewOf}) => {
  const page = await open();
  const trial = await page.evaluate(() => {
    const id = new URLSearchParams(location.hash.slice(1)).get('plan');
    return JSON.parse(document.querySelector('#run').textContent).trials.find((one) => one.id === id);
  });
  const bars = () => page.locator('#waterfall-table tbody .track').evaluateAll((tracks) => tracks.flatMap((track) =>
    [...track.querySelectorAll('i')].map((bar) => ({left: parseFloat(bar.style.left), width: parseFloat(bar.style.width)}))));
  for (const kind of ['p50', 'p90', 'p99']) {
    await page.click(`[data-key="Request ${kind}"]`);
    await frame(page);
    const [total, ...times] = trial.requests[kind];
    const seen = times.reduce((sum, time) => sum + time, 0);
    const drawn = await bars();
    const stages = trial.plan.stages.length;
    assert.equal(times.length, 4 * stages + 1);
    const end = Math.max(total, seen);
    // Time that no clock saw stands where messages are handed over: before the transfer of each
    // link.
    const between = Math.max(0, total - seen) / (stages + 1);
    const expected = times.flatMap((time, i) => (i % 4 === 0 && between > 0 ? [between, time] : [time]));
    assert.equal(drawn.length, expected.length);
    let at = 0;
    drawn.forEach(({left, width}, i) => {
      assert.ok(Math.abs(left - 100 * at / end) < 0.01, `bar ${i} begins where the one before ended`);
      assert.ok(Math.abs(width - 100 * expected[i] / end) < 0.01, `bar ${i} is as long as its step`);
      at += expected[i];
    });
    assert.ok(Math.abs(at - end) < 1e-6);
    const labels = await page.locator('#waterfall-table .track[role="img"]').evaluateAll((tracks) => tracks.map((track) => track.getAttribute('aria-label')));
    assert.equal(labels.length, 2 * stages + 1);
    assert.ok(labels.every((label) => /^from [\d.]+ to [\d.]+ ms: /.test(label)));
  }
  assert.equal((await viewOf(page)).get('request'), 'p99');
};
