// Lines of delays have neither the shapes nor the colours of transports.
'use strict';
module.exports = async ({open, assert}) => {
  const page = await open();
  const {moves, chips} = await page.evaluate(() => {
    const style = getComputedStyle(document.documentElement);
    const series = echarts.getInstanceByDom(document.querySelector('#moves-chart')).getOption().series.filter(({type, name}) => type === 'line' && name && /round trip|no delay/.test(name));
    return {moves: series.map(({symbol, lineStyle}) => ({symbol, colour: lineStyle.color})), chips: [0, 1, 2, 3].map((i) => style.getPropertyValue(`--t${i}`).trim())};
  });
  assert.ok(moves.length >= 2);
  assert.equal(new Set(moves.map(({colour}) => colour)).size, moves.length, 'each delay has its shade');
  for (const {symbol, colour} of moves) {
    assert.equal(symbol, 'circle');
    assert.ok(!chips.includes(colour));
  }
};
