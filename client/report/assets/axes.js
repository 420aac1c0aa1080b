// Parts that the page's charts share: axes, tooltips, intervals, and the edge of what is reached.
const axes = (() => {
  'use strict';
  const {figure, range, percent, chance, roundsOf, wayOf, overOf, nameOf, el, colourOf} = common;

  const font = () => ({fontFamily: getComputedStyle(document.body).fontFamily});
  const plain = (colour, size = 11.5) => ({
    type: 'value', nameTextStyle: {color: colour('muted'), fontSize: size + 0.5}, axisLine: {show: false}, axisTick: {show: false},
    axisLabel: {color: colour('muted'), fontSize: size, hideOverlap: true}, splitLine: {lineStyle: {color: colour('line')}},
  });
  /** Bounds of an axis around some values, with a margin: a share of their range. */
  const bounds = (values, margin = 0.07) => {
    const low = Math.min(...values);
    const high = Math.max(...values);
    const span = high - low || high || 1;
    const step = 10 ** Math.floor(Math.log10(span)) / 10;
    return {min: Math.max(0, Math.floor((low - span * margin) / step) * step), max: Math.ceil((high + span * margin) / step) * step};
  };
  /** Returns the widest text that a plain axis may have at a tick within bounds. */
  const widestTick = ({min, max}) => {
    const digits = Math.min(Math.max(0, -Math.floor(Math.log10((max - min) / 5))), 20);
    return max.toLocaleString('en-US', {minimumFractionDigits: digits, maximumFractionDigits: digits});
  };
  const brush = document.createElement('canvas').getContext('2d');
  /** Returns how wide a text is on a chart, in pixels. */
  const widthOf = (text, size) => {
    brush.font = `${size}px ${font().fontFamily}`;
    return brush.measureText(text).width;
  };
  /** Returns round numbers within bounds: 1, 2, 5, 10, … or more if the range is narrow, fewer if
   *  it is wide. */
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
  /** Returns an axis of logarithms, drawn as a plain one: ticks stand at places that read well,
   *  whatever the range. */
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

  const ofInterval = (figure, trial) => (figure.interval && figure.interval(trial)[0] !== figure.interval(trial)[1] ? `  (${range(figure.interval(trial))})` : '');
  /** Tells of a plan that was measured: what it is, the figures on the axes, and more lines. */
  const tip = (trial, {x, y}, ...more) => el('div', {class: 'tip'},
    el('b', {}, nameOf(trial)), `${wayOf(trial)}${overOf(trial)}, batch ${trial.batch}`, el('br'),
    `${x.text(x.value(trial))}${ofInterval(x, trial)}, window ${trial.latency_ms.window}`, el('br'),
    `${y.text(y.value(trial))}${ofInterval(y, trial)}, window ${trial.throughput.window}`,
    // A file of an earlier version may not say what was measured.
    ...(trial.rounds && trial.latency_ms.measured_p50 ? [el('br'), `${roundsOf(trial)} measured ${figure(trial.latency_ms.measured_p50)} ms and ${figure(trial.throughput.measured_samples_per_s)} samples/s`] : []),
    ...more.flatMap((line) => [el('br'), line]));
  /** Returns the text of a plan that was predicted only; `place` is what is said of its place. */
  const expectedTip = (trial, place) => el('div', {class: 'tip'},
    el('b', {}, nameOf(trial)), `${wayOf(trial)} over ${trial.transport}, batch ${trial.batch}`, el('br'),
    'not measured; expected (± one standard deviation):', el('br'),
    `${figure(trial.predicted.expected_latency_ms)} ms  (± ${percent(trial.predicted.latency_deviation)})`, el('br'),
    `${figure(trial.predicted.expected_samples_per_s)} samples/s  (± ${percent(trial.predicted.throughput_deviation)})`, ...(place ? [el('br'), place] : []));
  /** Shows what `tell` says of the trial under the pointer, and of its data. Points carry their
   *  trial's id, because the library copies them. */
  const tooltip = (colour, view, tell) => ({
    trigger: 'item', confine: true, backgroundColor: colour('card'), borderColor: colour('line'), padding: [8, 12],
    textStyle: {color: colour('ink'), fontSize: 13},
    formatter: ({data}) => {
      const trial = data && !touched && (data.trial ? view.byTrial.get(data.trial) : view.other && view.other.byTrial.get(data.other));
      return trial ? tell(trial, data) : '';
    },
  });
  // A finger covers what a tooltip would stand next to, so its choice is shown below the chart.
  let touched = matchMedia('(hover: none)').matches;
  for (const kind of ['pointerdown', 'pointermove']) addEventListener(kind, (event) => { touched = event.pointerType === 'touch'; }, true);

  const CAP = 4;  // half of the line that ends an interval, in pixels
  /** Draws the 95 % intervals of trials, as far as the figures on the axes have one. An arrow at
   *  the edge of the chart ends one that goes on beyond it. `place` returns the place of a value on
   *  its axis. */
  const intervals = (trials, {x, y}, colour, width, more = {}, place = (value) => value) => ({
    type: 'custom', silent: true, clip: true, z: 1, ...more,
    encode: {x: [0, 1, 2], y: [3, 4, 5]},
    data: trials.map((trial) => [x, y].flatMap((figure) => {
      const value = figure.value(trial);
      const [low, high] = figure.interval ? figure.interval(trial) : [value, value];
      return [low, value, high].map((bound) => place(Math.max(bound, 1e-6)));
    })),
    renderItem: ({coordSys}, api) => {
      const style = {stroke: colour, lineWidth: width, fill: 'none'};
      const [cx, cy] = api.coord([api.value(1), api.value(4)]);
      // `from` and `to`: the edges of the chart, as seen from the point.
      const arm = (end, [from, to], point) => {
        const beyond = end < from || end > to;
        if (beyond) end = Math.min(Math.max(end, from), to);
        if (Math.abs(end) < 1) return [];
        const back = end - Math.sign(end) * CAP;
        const tip = beyond ? [point(back, -CAP), point(end, 0), point(back, CAP)] : [point(end, -CAP), point(end, CAP)];
        return [{type: 'polyline', shape: {points: [point(0, 0), point(end, 0)]}, style}, {type: 'polyline', shape: {points: tip}, style}];
      };
      const across = (along, aside) => [cx + along, cy + aside];
      const up = (along, aside) => [cx + aside, cy + along];
      const at = (i, j) => api.coord([api.value(i), api.value(j)]);
      return {type: 'group', children: [0, 2].flatMap((i) => [...arm(at(i, 4)[0] - cx, [coordSys.x - cx, coordSys.x + coordSys.width - cx], across), ...arm(at(1, i + 3)[1] - cy, [coordSys.y - cy, coordSys.y + coordSys.height - cy], up)])};
    },
  });
  /** Draws the edge of what is reached: a plan's figure holds until that of the next one. `front`
   *  is its points as shown, `less` whether less is better on the axis up. */
  const edge = (front, x, y, colour, less = false) => {
    const worse = (a, b) => (less ? a[1] > b[1] : a[1] < b[1]);
    const points = [...front].sort((a, b) => a[0] - b[0]).filter((point, i, sorted) => sorted.slice(0, i).every((before) => !worse(point, before)));
    const data = points.length ? [[points[0][0], less ? y.max : y.min], ...points, [x.max, points[points.length - 1][1]]] : [];
    return {type: 'line', step: 'end', data, symbol: 'none', silent: true, z: 1, clip: true,
      lineStyle: {color: colour('front'), width: 2, opacity: 0.55}, areaStyle: {color: colour('front'), opacity: 0.05, origin: less ? 'end' : 'start'}};
  };
  /** Round the plan that is chosen; it alone changes with a choice. */
  const ring = (points, size, colour) => ({id: 'ring', type: 'scatter', silent: true, z: 3, data: points, symbol: 'circle', symbolSize: size,
    itemStyle: {color: 'transparent', borderColor: colour('ring'), borderWidth: 2}});
  /** Returns the look of a plan: on the front (or if there is none), perhaps there, or beaten. */
  const dot = (standing, kind, colour) => (standing === 'front' || standing === 'together'
    ? {color: colour(colourOf(kind)), borderColor: colour('card'), borderWidth: 1.5, opacity: 1}
    : {color: standing === 'perhaps' ? colour('card') : 'transparent', borderColor: colour(standing === 'perhaps' ? colourOf(kind) : 'dominated'), borderWidth: 1.4, opacity: 1});

  return {font, plain, bounds, widestTick, widthOf, log, tickText, tip, expectedTip, tooltip, intervals, edge, ring, dot};
})();
