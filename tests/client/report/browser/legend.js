// Legends name what the charts show, and nothing else.
'use strict';
module.exports = async ({open, assert, frame, text}) => {
  const page = await open('condition=none');
  const run = await page.evaluate(() => JSON.parse(document.querySelector('#run').textContent));
  const legend = () => text(page, '#legend');
  for (const condition of ['none', '4-near', '100-far', '1000-near']) {
    await page.click(`[data-key="Network ${condition}"]`);
    await frame(page);
    const under = run.trials.filter((trial) => trial.status === 'ok' && trial.batch === 1 && trial.condition === condition);
    const said = await legend();
    for (const transport of ['tcp', 'grpc']) {
      const on = under.some((trial) => trial.on_front && trial.transport === transport);
      assert.equal(said.includes(`${transport}, on the front`), on, `${condition}: ${said}`);
      assert.ok(said.includes(`${transport}, `), `${condition}: its shape is named: ${said}`);
    }
    assert.doesNotMatch(said, /predicted|beyond the chart/);
  }
  await page.click('[data-key="Network none"]');
  await page.click('[data-key="Plans front"]');
  await frame(page);
  assert.doesNotMatch(await legend(), /beaten/, 'the front alone is shown');
  assert.match(await legend(), /95 % interval of the front(?! and of)/, 'the plan chosen is on it');
  await page.click('[data-key="Plans all"]');
  await page.locator('#trials tbody tr.beaten').first().click();
  await frame(page);
  assert.match(await legend(), /95 % interval of the front and of the plan chosen/);

  const figure = await open('figure=front&width=900&height=600&condition=none&plan=all-on-pi-1/tcp/b1');
  assert.doesNotMatch(await text(figure, '#legend'), /chosen/, 'in a picture nothing is chosen');

  // Another run, of another model, that has nothing for this batch.
  const other = structuredClone(run);
  other.model = 'tok';
  for (const trial of other.trials) trial.batch = 3;
  await page.setInputFiles('#other-file', {name: 'tok.json', mimeType: 'text/plain', buffer: Buffer.from(JSON.stringify(other))});
  await page.waitForFunction(() => document.querySelector('#other-note').textContent);
  await frame(page);
  assert.match(await text(page, '#other-note'), /^Another model: tok, where this run has mobilenetv2\. tok .* has no plan of batch 1: its batches are 3\.$/);
  assert.doesNotMatch(await legend(), /front of/);

  // A delay of several networks is a line; "none", alone with its own, is a dot.
  const icons = await page.locator('#moves-legend span').evaluateAll((all) => all.map((one) => [one.textContent, one.querySelector('path').getAttribute('d')]));
  const isLine = (path) => /h20/.test(path);
  assert.deepEqual(icons.map(([name, path]) => [/^0\.08 ms/.test(name), isLine(path)]), [[true, false], [false, true], [false, true], [false, true]], JSON.stringify(icons));
  // "none" stands where it was measured to be.
  const none = run.networks.find(({condition, batch}) => condition === 'none' && batch === 1);
  const places = await page.evaluate(() => {
    const {trials} = JSON.parse(document.querySelector('#run').textContent);
    return echarts.getInstanceByDom(document.querySelector('#moves-chart')).getOption().series.flatMap(({data}) => data || [])
      .filter((point) => point && point.trial && trials.find(({id}) => id === point.trial).condition === 'none').map(({value}) => 10 ** value[0]);
  });
  assert.ok(places.length > 0);
  for (const place of places) assert.ok(Math.abs(place / (none.forward_bits_per_s / 1e6) - 1) < 1e-6, `${place} Mbit/s`);
  const heads = await page.locator('#moves-table thead th').allInnerTexts();
  assert.ok(heads.some((head) => /^after:.*the best under none/.test(head)), heads.join('; '));
};
