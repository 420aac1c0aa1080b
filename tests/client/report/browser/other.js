// Another run is laid over the chart, from a report or from JSON. What is neither is refused with a
// sentence.
'use strict';
module.exports = async ({open, assert, frame, text}) => {
  const page = await open('condition=none');
  const run = await page.evaluate(() => JSON.parse(document.querySelector('#run').textContent));
  const slower = structuredClone(run);
  slower.run = 'slower';
  for (const trial of slower.trials) if (trial.status === 'ok') trial.latency_ms.p50 *= 2;
  const give = async (name, content) => {
    await page.evaluate(() => { document.querySelector('#other-note').textContent = ''; });
    await page.setInputFiles('#other-file', {name, mimeType: 'text/plain', buffer: Buffer.from(content)});
    await page.waitForFunction(() => document.querySelector('#other-note').textContent);
    await frame(page);
  };
  const shown = async () => Number(await page.locator('#chart').getAttribute('data-other'));
  const under = run.trials.filter((trial) => trial.status === 'ok' && trial.batch === 1 && trial.condition === 'none');

  await give('photo.json', 'no run');
  assert.match(await text(page, '#other-note'), /photo\.json cannot be compared: it is neither/);
  assert.equal(await shown(), 0);
  const broken = structuredClone(slower);
  broken.trials.find(({id}) => id === under[0].id).throughput = 'fast';
  await give('broken.json', JSON.stringify(broken));
  assert.equal(await shown(), under.length - 1, 'a plan without figures is left out');
  await give('run.json', JSON.stringify(slower));
  assert.equal(await shown(), under.length);
  assert.match(await text(page, '#other-note'), /Against slower: lowest latency .* \(−50 %\); highest throughput .*\(\+0 %\)/);
  assert.match(await text(page, '#legend'), /front of slower/);
  const front = Number(await page.locator('#chart').getAttribute('data-front'));
  assert.equal(front, under.filter((trial) => trial.on_front).length, 'the run keeps its own front');
  await page.click('[data-key="Network 20-near"]');
  assert.ok(await shown() > 0, 'it follows the network');
  await page.click('[data-key="other none"]');
  await frame(page);
  assert.equal(await shown(), 0);
  await give('report.html', await page.evaluate(() => document.documentElement.outerHTML));
  assert.ok(await shown() > 0, 'a report is read too');
};
