// Things that a reader takes along: the command, the plan, the table, the run, the picture.
'use strict';
const fs = require('node:fs');
module.exports = async ({open, assert, frame, text}) => {
  const page = await open('condition=none&without=grpc', {permissions: ['clipboard-read', 'clipboard-write'], acceptDownloads: true});
  const run = await page.evaluate(() => JSON.parse(document.querySelector('#run').textContent));
  const split = run.trials.find((trial) => trial.split && trial.status === 'ok' && trial.batch === 1 && trial.condition === 'none' && trial.transport === 'tcp');
  await page.locator(`#trials tr[data-plan-row="${split.id}"]`).click();
  await frame(page);
  await page.click('[data-key="copy command"]');
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  assert.equal(copied, `paretoctl run --model mobilenetv2 --split ${split.split.name} --transport tcp`);
  assert.equal(await text(page, '#detail .command'), copied);

  const take = async (key) => {
    const [download] = await Promise.all([page.waitForEvent('download'), page.click(`[data-key="${key}"]`)]);
    return {name: download.suggestedFilename(), bytes: fs.readFileSync(await download.path())};
  };
  const plan = await take('save plan');
  assert.match(plan.name, /^after-features.*-tcp-b1\.json$/);
  const content = JSON.parse(plan.bytes);
  assert.deepEqual(content.splits, [split.split.name]);
  assert.deepEqual(content.stages.map(({device}) => device), ['pi-1', 'pi-2']);
  assert.equal(content.stages[0].end, content.stages[1].begin);
  assert.equal(content.batch, 1);

  const csv = await take('save csv');
  assert.match(csv.name, /\.csv$/);
  const lines = String(csv.bytes).trim().split('\n');
  assert.equal(lines.length - 1, await page.locator('#trials tbody tr').count());
  const first = Object.fromEntries(lines[0].split(',').map((head, i) => [head, lines[1].split(',')[i]]));
  const row = await page.locator('#trials tbody tr').first().getAttribute('data-plan-row');
  const trial = run.trials.find(({id}) => id === row);
  assert.equal(Number(first.p50_ms), trial.latency_ms.p50, 'rows stand as the table has them');
  assert.equal(first.transport, 'tcp');

  const json = await take('save json');
  assert.equal(JSON.parse(json.bytes).trials.length, run.trials.length);
  const png = await take('save png');
  assert.equal(png.bytes.subarray(1, 4).toString(), 'PNG');
  assert.ok(png.bytes.readUInt32BE(16) >= 1200, 'twice as wide as on the screen');
};
