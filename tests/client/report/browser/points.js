// A point chooses its plan; of one that is beaten the page says by whom.
'use strict';
module.exports = async ({open, assert, frame, points, text, viewOf}) => {
  const page = await open('condition=none');
  const all = await points(page, '#chart');
  const run = await page.evaluate(() => JSON.parse(document.querySelector('#run').textContent));
  const trialOf = new Map(run.trials.map((trial) => [trial.id, trial]));
  const beats = (a, b) => a.latency_ms.p50 <= b.latency_ms.p50 && a.throughput.samples_per_s >= b.throughput.samples_per_s && a !== b;
  const under = run.trials.filter((trial) => trial.batch === 1 && trial.condition === 'none' && trial.status === 'ok');
  assert.equal(all.length, under.length);

  // Points may lie on each other, those of the front on top: some that lie free of what could be
  // hit in their place.
  const free = (point, among) => among.every((other) => other === point || Math.hypot(other.x - point.x, other.y - point.y) > 14);
  const front = all.filter(({id}) => trialOf.get(id).on_front);
  const beaten = all.find((point) => free(point, all) && !front.includes(point));
  const best = front.find((point) => free(point, front));
  await page.mouse.click(best.x, best.y);
  await frame(page);
  assert.equal((await viewOf(page)).get('plan'), best.id);
  assert.equal(await text(page, '#detail .badge'), 'On the front');
  assert.match(await text(page, '#detail .verdict'), /on the front with a probability of 90 %/);
  assert.equal(await page.locator('#detail .beaters').count(), 0);

  await page.mouse.click(beaten.x, beaten.y);
  await frame(page);
  const trial = trialOf.get(beaten.id);
  assert.match(await text(page, '#detail h2'), new RegExp(`^${trial.split ? trial.split.name : 'all on'}`));
  assert.equal(await text(page, '#detail .badge'), 'Beaten');
  const beaters = under.filter((other) => other.on_front && beats(other, trial));
  assert.ok(beaters.length > 0);
  assert.equal(await page.locator('#detail .beaters button').count(), Math.min(beaters.length, 5));
  await page.locator('#detail .beaters button').first().click();
  await frame(page);
  const chosen = (await viewOf(page)).get('plan');
  assert.ok(beaters.some(({id}) => id === chosen), 'who beats it is chosen by a click');
  assert.equal(await text(page, '#detail .badge'), 'On the front');

  // The point under the pointer is described next to it.
  const again = (await points(page, '#chart')).find(({id}) => id === best.id);
  await page.mouse.move(again.x, again.y);
  await page.locator('.tip', {hasText: 'samples/s'}).filter({visible: true}).waitFor();
  assert.match(await text(page, '.tip'), /samples\/s .*window/s);

  // A point under another network takes the page there.
  const far = await points(page, '#moves-chart');
  const other = far.find((point) => trialOf.get(point.id).condition !== 'none'
    && free(point, far));
  await page.mouse.click(other.x, other.y);
  await frame(page);
  assert.equal((await viewOf(page)).get('plan'), other.id);
  assert.equal((await viewOf(page)).get('condition'), trialOf.get(other.id).condition);
};
