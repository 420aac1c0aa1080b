// The chart of the front: every plan of the batch, network and transports chosen, those that were only predicted fainter. report.js makes
// this once, and calls draw() with what is shown after every choice.
const frontChart = (page) => {
  'use strict';
  const {byId, SHAPES, figure, range, percent, devicesOf, nameOf, latency, rate, el, colours, bounds} = common;
  const {choice, isFront, chosen, verdict, select, shapeOf} = page;

  const chart = echarts.init(byId('chart'), null, {renderer: page.canvas ? 'canvas' : 'svg'});
  chart.on('click', (event) => { if (event.data && event.data.trial) select(event.data.trial); });

  const tip = (trial) => el('div', {class: 'tip'},
    el('b', {}, nameOf(trial)), `${devicesOf(trial).join(' → ')} over ${trial.transport}, batch ${trial.batch}`, el('br'),
    `${figure(latency(trial))} ms  (${range(trial.latency_ms.ci95)}), window ${trial.latency_ms.window}`, el('br'),
    `${figure(rate(trial))} samples/s  (${range(trial.throughput.ci95)}), window ${trial.throughput.window}`, el('br'),
    verdict(trial));

  const point = (trial, colour) => ({
    value: [latency(trial), rate(trial)],
    trial,
    symbol: SHAPES[shapeOf(trial)],
    symbolSize: isFront(trial) ? 13 : 9,
    itemStyle: isFront(trial)
      ? {color: colour(`t${shapeOf(trial)}`), borderColor: colour('card'), borderWidth: 1.5}
      : {color: 'transparent', borderColor: colour('dominated'), borderWidth: 1.4},
  });

  const expectedTip = (trial) => el('div', {class: 'tip'},
    el('b', {}, nameOf(trial)), `${devicesOf(trial).join(' → ')} over ${trial.transport}, batch ${trial.batch}`, el('br'),
    'not measured; expected:', el('br'),
    `${figure(trial.predicted.expected_latency_ms)} ms  (± ${percent(trial.predicted.latency_deviation)})`, el('br'),
    `${figure(trial.predicted.expected_samples_per_s)} samples/s  (± ${percent(trial.predicted.throughput_deviation)})`, el('br'),
    `On the front with a probability of ${percent(trial.p_front)}.`);

  /** Fainter than all that was measured, and without a shape of its own. */
  const expectedPoint = (trial, colour) => ({
    value: [trial.predicted.expected_latency_ms, trial.predicted.expected_samples_per_s],
    expected: trial,
    symbol: 'emptyCircle',
    symbolSize: 5,
    itemStyle: {color: colour('dominated'), opacity: trial.p_front >= 0.05 ? 0.8 : 0.35},
  });

  const errorBars = (trials, colour, width) => ({
    type: 'custom', silent: true, clip: true, z: 1,
    encode: {x: [0, 1, 2], y: [3, 4, 5]},
    data: trials.map((trial) => [
      trial.latency_ms.ci95[0], latency(trial), trial.latency_ms.ci95[1],
      trial.throughput.ci95[0], rate(trial), trial.throughput.ci95[1]]),
    renderItem: (_, api) => {
      const line = (a, b) => ({type: 'line', shape: {x1: a[0], y1: a[1], x2: b[0], y2: b[1]}, style: {stroke: colour, lineWidth: width}});
      const at = (x, y) => api.coord([api.value(x), api.value(y)]);
      return {type: 'group', children: [line(at(0, 4), at(2, 4)), line(at(1, 3), at(1, 5))]};
    },
  });

  const draw = ({shown, front, expected}) => {
    const colour = colours();
    const rest = shown.filter((trial) => !isFront(trial));
    const seen = choice.zoom === 'front' && front.length > 1 ? front : shown;
    // Of two rounds an interval may be a thousand times its figure: no scale is made for those.
    const near = (value, interval) => [value, Math.max(interval[0], value / 1.5), Math.min(interval[1], value * 1.5)];
    const perhaps = choice.zoom === 'front' ? [] : expected.filter((trial) => trial.p_front >= 0.05);
    const x = bounds([...seen.flatMap((trial) => near(latency(trial), trial.latency_ms.ci95)),
      ...perhaps.map((trial) => trial.predicted.expected_latency_ms)], 0.14);
    const y = bounds([...seen.flatMap((trial) => near(rate(trial), trial.throughput.ci95)),
      ...perhaps.map((trial) => trial.predicted.expected_samples_per_s)]);
    const axis = (name, gap) => ({
      type: 'value', name, nameLocation: 'middle', nameGap: gap, nameTextStyle: {color: colour('muted'), fontSize: 13},
      axisLabel: {color: colour('muted'), fontSize: 12, hideOverlap: true, showMinLabel: false, showMaxLabel: false}, axisLine: {show: false}, axisTick: {show: false},
      splitLine: {lineStyle: {color: colour('line')}},
    });
    // The edge of what is reached: a plan's throughput holds until the next one's latency is allowed.
    const edge = front.map((trial) => [latency(trial), rate(trial)]);
    if (edge.length) {
      edge.unshift([edge[0][0], y.min]);
      edge.push([x.max, edge[edge.length - 1][1]]);
    }
    const ring = chosen();
    const roomy = chart.getWidth() > 520;
    const labelled = front.map((trial, i) => ({...point(trial, colour),
      label: {show: roomy || trial === ring || i === 0 || i === front.length - 1}}));
    chart.setOption({
      animation: false,
      textStyle: {fontFamily: getComputedStyle(document.body).fontFamily},
      grid: {left: 58, right: 18, top: 14, bottom: 46},
      xAxis: {...axis('latency, p50 ms', 30), ...x},
      yAxis: {...axis('throughput, samples/s', 44), ...y},
      tooltip: {
        trigger: 'item', confine: true, backgroundColor: colour('card'), borderColor: colour('line'), padding: [8, 12],
        textStyle: {color: colour('ink'), fontSize: 13}, formatter: (event) => (event.data.trial ? tip(event.data.trial) : event.data.expected ? expectedTip(event.data.expected) : ''),
      },
      series: [
        {type: 'line', step: 'end', data: edge, symbol: 'none', silent: true, z: 1, clip: true,
          lineStyle: {color: colour('front'), width: 2, opacity: 0.55}, areaStyle: {color: colour('front'), opacity: 0.05}},
        {type: 'scatter', data: expected.map((trial) => expectedPoint(trial, colour)), z: 1, clip: true, emphasis: {scale: 1.5}},
        errorBars(rest, colour('line'), 1.5),
        errorBars(front, colour('front'), 1.2),
        {type: 'scatter', data: rest.map((trial) => point(trial, colour)), z: 2, clip: true, emphasis: {scale: 1.5}},
        {type: 'scatter', data: labelled, z: 4, clip: true, emphasis: {scale: 1.3},
          // Up and left of the front there is nothing: labels stand there, unless they would leave the chart.
          label: {position: [-5, -4], align: 'right', verticalAlign: 'bottom', color: colour('ink'), fontSize: 12,
            textBorderColor: colour('card'), textBorderWidth: 3, formatter: (event) => nameOf(event.data.trial)},
          labelLayout: (label) => (label.labelRect.x < 56
            ? {hideOverlap: true, x: label.rect.x + label.rect.width + 6, y: label.rect.y + 16, align: 'left'} : {hideOverlap: true})},
        {type: 'scatter', silent: true, z: 3, data: ring ? [[latency(ring), rate(ring)]] : [], symbol: 'circle', symbolSize: 25,
          itemStyle: {color: 'transparent', borderColor: colour('ring'), borderWidth: 2}},
      ],
    }, true);
    byId('chart').dataset.points = shown.length;
    byId('chart').dataset.expected = expected.length;
    byId('chart').dataset.front = front.length;
  };

  return {draw, resize: () => chart.resize()};
};
