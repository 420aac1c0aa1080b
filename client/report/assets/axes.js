// What the page's charts share: axes, tooltips, intervals, and the edge of what is reached.
const axes = (() => {
  'use strict';
  const {latency, rate, figure, range, percent, chance, roundsOf, wayOf, nameOf, el, colourOf} = common;

  const font = () => ({fontFamily: getComputedStyle(document.body).fontFamily});
  const plain = (colour, size = 11.5) => ({
    type: 'value', nameTextStyle: {color: colour('muted'), fontSize: size + 0.5}, axisLine: {show: false}, axisTick: {show: false},
    axisLabel: {color: colour('muted'), fontSize: size, hideOverlap: true}, splitLine: {lineStyle: {color: colour('line')}},
  });
  /** Bounds of an axis around some values, with a margin; below, as a share of the range. */
  const bounds = (values, below = 0.07) => {
    const low = Math.min(...values);
    const high = Math.max(...values);
    const span = high - low || high || 1;
    const step = 10 ** Math.floor(Math.log10(span)) / 5;
    return {min: Math.max(0, Math.floor((low - span * below) / step) * step), max: Math.ceil((high + span * 0.07) / step) * step};
  };
  /** Round numbers within bounds: 1, 2, 5, 10, … or more where the range is narrow, fewer where it is wide. */
  const logTicks = (low, high, most) => {
    const ticks = (steps) => {
      const all = [];
      for (let decade = Math.floor(Math.log10(low)); decade <= Math.ceil(Math.log10(high)); ++decade) {
        for (const step of steps) if (step * 10 ** decade >= low && step * 10 ** decade <= high) all.push(step * 10 ** decade);
      }
      return all;
    };
    const whole = [1, 2, 3, 4, 5, 6, 7, 8, 9];
    const fine = [1, 1.2, 1.4, 1.6, 1.8, 2, 2.5, 3, 3.5, 4, 4.5, 5, 5.5, 6, 6.5, 7, 7.5, 8, 8.5, 9, 9.5];
    return [fine, whole, [1, 2, 3, 5, 7], [1, 2, 5], [1, 3], [1]].map(ticks).find((all) => all.length <= most) || ticks([1]);
  };
  const tickText = (value) => String(Number(value.toPrecision(2)));
  /** An axis of logarithms, drawn as a plain one: ticks stand where they read well, whatever the range. */
  const log = (values, margins, colour, most = 7) => {
    const low = Math.log10(Math.min(...values));
    const high = Math.log10(Math.max(...values));
    const span = Math.max(high - low, 0.3);
    const min = low - span * margins[0];
    const max = high + span * margins[1];
    const ticks = logTicks(10 ** min, 10 ** max, most).map((tick) => Math.log10(tick));
    const axis = plain(colour);
    return {...axis, min, max, axisTick: {show: false, customValues: ticks}, splitLine: {...axis.splitLine, customValues: ticks},
      axisLabel: {...axis.axisLabel, customValues: ticks, formatter: (tick) => tickText(10 ** tick)}};
  };

  /** Of a plan that was measured: what it is, its figures, and more lines. */
  const tip = (trial, ...more) => el('div', {class: 'tip'},
    el('b', {}, nameOf(trial)), `${wayOf(trial)} over ${trial.transport}, batch ${trial.batch}`, el('br'),
    `${figure(latency(trial))} ms  (${range(trial.latency_ms.ci95)}), window ${trial.latency_ms.window}`, el('br'),
    `${figure(rate(trial))} samples/s  (${range(trial.throughput.ci95)}), window ${trial.throughput.window}`,
    ...(trial.rounds ? [el('br'), `${roundsOf(trial)} measured ${figure(trial.latency_ms.measured_p50)} ms and ${figure(trial.throughput.measured_samples_per_s)} samples/s`] : []),
    ...more.flatMap((line) => [el('br'), line]));
  /** Of a plan that was predicted only. */
  const expectedTip = (trial) => el('div', {class: 'tip'},
    el('b', {}, nameOf(trial)), `${wayOf(trial)} over ${trial.transport}, batch ${trial.batch}`, el('br'),
    'not measured; expected (± one standard deviation):', el('br'),
    `${figure(trial.predicted.expected_latency_ms)} ms  (± ${percent(trial.predicted.latency_deviation)})`, el('br'),
    `${figure(trial.predicted.expected_samples_per_s)} samples/s  (± ${percent(trial.predicted.throughput_deviation)})`, el('br'),
    `On the front with a probability of ${chance(trial)}.`);
  /** Shows what `tell` says of the trial under the pointer, and of its data: points carry their trial's id, for the library copies them. */
  const tooltip = (colour, view, tell) => ({
    trigger: 'item', confine: true, backgroundColor: colour('card'), borderColor: colour('line'), padding: [8, 12],
    textStyle: {color: colour('ink'), fontSize: 13}, formatter: ({data}) => (data && data.trial ? tell(view.byTrial.get(data.trial), data) : ''),
  });

  /** A cross a trial: the 95 % intervals of both figures. `place`: where a value stands on its axis. */
  const intervals = (trials, colour, width, place = (value) => value) => ({
    type: 'custom', silent: true, clip: true, z: 1,
    encode: {x: [0, 1, 2], y: [3, 4, 5]},
    data: trials.map((trial) => [
      trial.latency_ms.ci95[0], latency(trial), trial.latency_ms.ci95[1],
      trial.throughput.ci95[0], rate(trial), trial.throughput.ci95[1]].map((value) => place(Math.max(value, 1e-6)))),
    renderItem: (_, api) => {
      const line = (a, b) => ({type: 'line', shape: {x1: a[0], y1: a[1], x2: b[0], y2: b[1]}, style: {stroke: colour, lineWidth: width}});
      const at = (x, y) => api.coord([api.value(x), api.value(y)]);
      return {type: 'group', children: [line(at(0, 4), at(2, 4)), line(at(1, 3), at(1, 5))]};
    },
  });
  /** The edge of what is reached: a plan's throughput holds until the next one's latency is allowed. `front`: its points, as measured. */
  const edge = (front, x, y, colour) => {
    const points = [...front].sort((a, b) => a[0] - b[0]).filter((point, i, sorted) => sorted.slice(0, i).every((faster) => faster[1] <= point[1]));
    const data = points.length ? [[points[0][0], y.min], ...points, [x.max, points[points.length - 1][1]]] : [];
    return {type: 'line', step: 'end', data, symbol: 'none', silent: true, z: 1, clip: true,
      lineStyle: {color: colour('front'), width: 2, opacity: 0.55}, areaStyle: {color: colour('front'), opacity: 0.05, origin: 'start'}};
  };
  /** Round the plan that is chosen; it alone changes with a choice. */
  const ring = (points, size, colour) => ({id: 'ring', type: 'scatter', silent: true, z: 3, data: points, symbol: 'circle', symbolSize: size,
    itemStyle: {color: 'transparent', borderColor: colour('ring'), borderWidth: 2}});
  /** How a plan is drawn: on the front, perhaps there, or beaten. */
  const dot = (standing, kind, colour) => (standing === 'front'
    ? {color: colour(colourOf(kind)), borderColor: colour('card'), borderWidth: 1.5}
    : {color: standing === 'perhaps' ? colour('card') : 'transparent', borderColor: colour(standing === 'perhaps' ? colourOf(kind) : 'dominated'), borderWidth: 1.4});

  return {font, plain, bounds, log, tickText, tip, expectedTip, tooltip, intervals, edge, ring, dot};
})();
