// Plans are drawn by what is said of them: after few rounds all that are "< 10 %" look alike.
'use strict';
module.exports = async ({open, assert, text}) => {
  const page = await open();
  const drawn = await page.evaluate(() => {
    const {trials} = JSON.parse(document.querySelector('#run').textContent);
    const of = new Map(trials.map((trial) => [trial.id, trial.p_front_text]));
    return echarts.getInstanceByDom(document.querySelector('#chart')).getOption().series.find(({id}) => id === 'beaten').data
      .map(({trial, itemStyle}) => [of.get(trial), itemStyle.borderColor]);
  });
  const colours = (said) => new Set(drawn.filter(([text_]) => text_ === said).map(([, colour]) => colour));
  assert.ok(drawn.filter(([said]) => said === '< 0.1').length > 2);
  assert.equal(colours('< 0.1').size, 1, 'all of them alike');
  assert.ok(colours('0.30').size > 0);
  assert.ok(![...colours('0.30')].some((colour) => colours('< 0.1').has(colour)));
  assert.match(await text(page, '#legend'), /beaten, but P ≥ 10 %/);
  const low = await page.evaluate(() => JSON.parse(document.querySelector('#run').textContent).trials.find(({p_front: chance, p_front_text: said}) => said === '< 0.1' && chance > 0.05).id);
  await page.locator(`#trials tr[data-plan-row="${low}"]`).click();
  assert.equal(await text(page, '#detail .badge'), 'Beaten');
};
