// Intervals are drawn whole, or up to the edge of the chart: then the legend says what the arrow
// there means.
'use strict';
module.exports = async ({open, assert, text}) => {
  const page = await open();
  // Where each arm that is drawn ends, and where its interval does: in pixels, and whether beyond
  // the chart.
  const arms = () => page.evaluate(() => {
    const chart = echarts.getInstanceByDom(document.querySelector('#chart'));
    const {trials} = JSON.parse(document.querySelector('#run').textContent);
    const colour = getComputedStyle(document.documentElement).getPropertyValue('--front').trim();
    const paths = [...document.querySelectorAll('#chart svg path')].filter((path) => path.getAttribute('stroke') === colour && path.getAttribute('stroke-width') === '1.2');
    const ends = paths.flatMap((path) => [...path.getAttribute('d').matchAll(/(-?[\d.]+)[ ,](-?[\d.]+)/g)].map(([, x, y]) => [Number(x), Number(y)]));
    const {left, right, top, bottom} = chart.getOption().grid[0];
    const edges = [left, chart.getWidth() - right, top, chart.getHeight() - bottom];
    const front = chart.getOption().series.find(({id}) => id === 'front').data.map((point) => trials.find(({id}) => id === point.trial));
    return front.flatMap((trial) => {
      const at = (x, y) => chart.convertToPixel({xAxisIndex: 0, yAxisIndex: 0}, [x, y]);
      const [p50, rate] = [trial.latency_ms.p50, trial.throughput.samples_per_s];
      const clamp = ([x, y]) => [Math.min(Math.max(x, edges[0]), edges[1]), Math.min(Math.max(y, edges[2]), edges[3])];
      return [...trial.latency_ms.ci95.map((bound) => at(bound, rate)), ...trial.throughput.ci95.map((bound) => at(p50, bound))].map((whole) => {
        const end = clamp(whole);
        return {id: trial.id, cut: Math.hypot(end[0] - whole[0], end[1] - whole[1]) > 1, drawn: ends.some(([x, y]) => Math.hypot(x - end[0], y - end[1]) < 6), end};
      });
    });
  });
  const drawn = await arms();
  assert.deepEqual(drawn.filter((arm) => !arm.drawn), [], 'each interval is drawn to its end, or to the edge');
  assert.equal(drawn.filter((arm) => arm.cut).length, 2, 'both ends of the long one');
  assert.match(await text(page, '#legend'), /goes on beyond the chart/);
};
