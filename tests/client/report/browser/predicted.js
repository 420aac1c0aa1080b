// Plans that were only predicted: counted as what they are, and seen on either ground.
'use strict';
module.exports = async ({open, assert, text, contrast}) => {
  for (const scheme of ['light', 'dark']) {
    const page = await open('', {colorScheme: scheme});
    const {dots, card} = await page.evaluate(() => {
      const {trials} = JSON.parse(document.querySelector('#run').textContent);
      const predicted = new Set(trials.filter(({status}) => status === 'predicted').map(({id}) => id));
      const rgb = (colour) => {
        const probe = document.body.appendChild(document.createElement('i'));
        probe.style.color = colour;
        const found = getComputedStyle(probe).color;
        probe.remove();
        return found;
      };
      const data = echarts.getInstanceByDom(document.querySelector('#chart')).getOption().series.flatMap((series) => series.data || []).filter((point) => point && predicted.has(point.trial));
      return {dots: data.map(({itemStyle, symbolSize}) => ({colour: rgb(itemStyle.color), opacity: itemStyle.opacity, size: symbolSize})), card: getComputedStyle(document.querySelector('.card')).backgroundColor};
    });
    assert.ok(dots.length > 5);
    assert.match(await text(page, '#table-note'), new RegExp(`${dots.length} more plans were predicted only: small dots of the chart`));
    for (const {colour, opacity, size} of dots) {
      assert.equal(opacity, 1);
      assert.ok(size >= 5);
      assert.ok(contrast(colour, card) >= 3, `${scheme}: ${colour} on ${card}`);
    }
    const [both, all] = await page.evaluate(() => {
      const {trials} = JSON.parse(document.querySelector('#run').textContent);
      return [trials.filter((trial) => trial.status === 'ok' && trial.predicted).length, trials.filter((trial) => trial.predicted).length];
    });
    assert.ok(both < all);
    assert.match(await text(page, '#accuracy-note'), new RegExp(`^Before any of them was measured, ${all} plans were predicted, ${both} of which have been measured since: the median one`));
  }
};
