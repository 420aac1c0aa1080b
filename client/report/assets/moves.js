// Picture of the best value against the network's rate, with a line for each class of delays. It
// shows measured values, and predicted ones if plans were predicted.
const movesChart = (view, networks, page) => {
  'use strict';
  const {byId, figure, nameOf, el, lineIcon, dotIcon, colours, segments} = common;
  const {choice, conditions} = view;
  const {GOALS, isUntouched, bestOf, expectedOf, round} = networks;
  const UNTOUCHED = 'left as it is';

  /** Measured conditions whose round trips are much the same, in order of their rate: one line of
   *  the picture each. */
  const delayClasses = () => {
    const classes = [];
    const known = conditions.map(networks.figuresOf).filter((network) => isUntouched(network) || network.forward_bits_per_s);
    for (const network of known.sort((a, b) => a.round_trip_ms - b.round_trip_ms)) {
      const last = classes[classes.length - 1];
      if (last && network.round_trip_ms <= 1.3 * last[0].round_trip_ms + 2) last.push(network);
      else classes.push([network]);
    }
    const place = (network) => (isUntouched(network) ? Infinity : network.forward_bits_per_s);
    return classes.map((members) => {
      const low = round(members[0].round_trip_ms || 0);
      const high = round(members[members.length - 1].round_trip_ms || 0);
      const name = members.some((network) => network.round_trip_ms === null) ? 'no delay added'
        : `${low === high ? low : `${low} – ${high}`} ms round trip`;
      return {name, members: members.sort((a, b) => place(a) - place(b))};
    });
  };
  const classes = delayClasses();
  const members = classes.flatMap((one) => one.members);
  const limits = members.filter((network) => !isUntouched(network)).map((network) => network.forward_bits_per_s / 1e6);
  /** Returns a line's shade: longer delays are darker. The colours and shapes of transports are not
   *  used, because they mean something else. */
  const shadeOf = (i) => `d${classes.length > 1 ? Math.round(3 * i / (classes.length - 1)) : 1}`;
  const anyUntouched = members.some(isUntouched);

  /** The network that was left as it is, if its rate was not measured, has its place right of all
   *  rates. */
  const rateAxis = (roomy, colour) => {
    const axis = axes.log(limits.length ? limits : [1], anyUntouched ? [0.06, !limits.length ? 1 : roomy ? 0.32 : 0.42] : [0.06, 0.1], colour);
    const most = Math.log10(limits.length ? Math.max(...limits) : 1);
    const end = axis.max - (axis.max - most) * 0.3;
    if (!anyUntouched) return {axis, end};
    const ticks = [...axis.axisLabel.customValues.filter((tick) => limits.length && tick <= most + (end - most) * 0.35), end];
    return {end, axis: {...axis, axisTick: {show: false, customValues: ticks}, splitLine: {...axis.splitLine, customValues: ticks},
      axisLabel: {...axis.axisLabel, customValues: ticks, formatter: (tick) => (Math.abs(tick - end) < 1e-9 ? UNTOUCHED : axes.tickText(10 ** tick))}}};
  };
  const expectedTip = (trial, goal) => el('div', {class: 'tip'}, el('b', {}, nameOf(trial)), `${trial.condition}: the best split by prediction`, el('br'),
    `${figure(Math.abs(goal.expected(trial)))} ${goal.unit} predicted`,
    ...(trial.status === 'ok' ? [el('br'), `${figure(goal.value(trial))} ${goal.unit} measured`] : [', not measured']));

  let chart = null;
  const paint = () => {
    const colour = colours();
    const goal = GOALS[choice.goal];
    const of = (one, kind) => one.members.map((network) => ({network, trial: bestOf(network.condition, goal, kind)})).filter(({trial}) => trial);
    const lines = classes.map((one, i) => ({name: one.name, i, split: of(one, 'split'), unsplit: of(one, 'unsplit'),
      expected: one.members.map((network) => ({network, trial: expectedOf(network.condition, goal)})).filter(({trial}) => trial)}));
    const points = lines.flatMap(({split, unsplit}) => [...split, ...unsplit]);
    const expected = lines.flatMap((line) => line.expected);
    byId('moves-chart').hidden = !points.length;
    if (!points.length) return;
    if (!chart) {
      chart = echarts.init(byId('moves-chart'), null, view.renderer);
      page.selectOnClick(chart);
    }
    const roomy = chart.getWidth() > 560;
    const {axis: x, end} = rateAxis(roomy, colour);
    const y = axes.log([...points.map(({trial}) => goal.value(trial)), ...expected.map(({trial}) => Math.abs(goal.expected(trial)))], [0.16, 0.16], colour);
    const across = (network) => (isUntouched(network) ? end : Math.log10(network.forward_bits_per_s / 1e6));
    const at = ({network, trial}) => [across(network), Math.log10(goal.value(trial))];
    // Latency falls and throughput rises to the right: a name stands on the side that the line
    // leaves free.
    const falling = choice.goal === 'latency';
    const placeOf = (point, k, count) => {
      const last = isUntouched(point.network) || k === count - 1 && k > 0;
      const right = last || across(point.network) > x.min + 0.6 * (x.max - x.min);
      return {position: falling === last ? 'bottom' : 'top', align: right ? 'right' : 'left', offset: right ? [6, 0] : [-6, 0]};
    };
    const series = lines.flatMap(({name, i, split, unsplit, expected: guessed}) => [
      {type: 'line', name, z: 3, symbol: 'circle', symbolSize: 9, lineStyle: {color: colour(shadeOf(i)), width: 2},
        itemStyle: {color: colour(shadeOf(i)), borderColor: colour('card'), borderWidth: 1.5},
        labelLayout: {hideOverlap: true},
        data: split.map((point, k) => ({value: at(point), trial: point.trial.id,
          // A name stands where the split changes; between such points it stays the same.
          label: {silent: true, show: k === 0 || nameOf(split[k - 1].trial) !== nameOf(point.trial), ...placeOf(point, k, split.length), distance: 10,
            formatter: () => nameOf(point.trial), color: colour('ink'), fontSize: roomy ? 12 : 11, textBorderColor: colour('card'), textBorderWidth: 3}}))},
      {type: 'line', z: 2, symbol: 'circle', symbolSize: 5, lineStyle: {color: colour('dominated'), width: 1.3, type: 'dashed'},
        itemStyle: {color: colour('dominated')}, data: unsplit.map((point) => ({value: at(point), trial: point.trial.id}))},
      {type: 'line', z: 2, symbol: 'circle', symbolSize: 7, lineStyle: {color: colour(shadeOf(i)), width: 1.2, type: 'dotted', opacity: 0.8},
        itemStyle: {color: colour('card'), borderColor: colour(shadeOf(i)), borderWidth: 1.4},
        data: guessed.map(({network, trial}) => ({value: [across(network), Math.log10(Math.abs(goal.expected(trial)))], trial: trial.id, expected: true}))},
    ]);
    const ring = lines.flatMap(({split}) => split).filter(({trial}) => trial.condition === choice.condition);
    const lost = members.filter(({condition}) => {
      const entry = networks.entryOf(condition);
      return entry && (entry.failed || entry.skipped) && !entry.measured;
    });
    chart.setOption({
      animation: false, textStyle: axes.font(), grid: {left: 56, right: 16, top: 26, bottom: 48},
      tooltip: axes.tooltip(colour, view, (trial, data) => (data.expected ? expectedTip(trial, goal) : axes.tip(trial, {x: view.figures.byId('latency'), y: view.figures.byId('throughput')}, trial.condition))),
      xAxis: {...x, name: 'rate forward, Mbit/s', nameLocation: 'middle', nameGap: 28},
      yAxis: {...y, name: choice.goal === 'latency' ? 'latency, p50 ms' : 'throughput, samples/s', nameGap: 10,
        nameTextStyle: {color: colour('muted'), fontSize: 12, align: 'left', padding: [0, 0, 0, -48]}},
      series: [...series,
        axes.ring(ring.map(at), 22, colour),
        {type: 'scatter', silent: true, z: 4, symbol: 'path://M1 0L5 4 9 0 10 1 6 5 10 9 9 10 5 6 1 10 0 9 4 5 0 1z', symbolSize: 10,
          itemStyle: {color: colour('bad')}, data: lost.map((network) => ({value: [across(network), y.min + (y.max - y.min) * (falling ? 0.04 : 0.96)],
            label: {show: true, position: 'right', color: colour('bad'), fontSize: 11.5, formatter: () => `${network.condition}: all ${network.skipped ? 'skipped' : 'failed'}`}}))},
      ],
    }, true);
    byId('moves-chart').dataset.moves = lines.reduce((sum, {split}) => sum + split.length, 0);
    byId('moves-chart').dataset.expected = expected.length;
    // A single network of its delay is a dot, and no line.
    const icon = (several, colour, size, dashes) => (several ? lineIcon(colour, dashes) : dotIcon(colour, size));
    const several = (kind) => lines.some((line) => line[kind].length > 1);
    byId('moves-legend').replaceChildren(
      ...lines.filter(({split}) => split.length).map(({name, i, split}) => el('span', {}, icon(split.length > 1, `var(--${shadeOf(i)})`, 8), name)),
      lines.some(({unsplit}) => unsplit.length) ? el('span', {}, icon(several('unsplit'), 'var(--dominated)', 5, '4 3'), 'the best single device') : '',
      expected.length ? el('span', {}, icon(several('expected'), 'var(--muted)', 6, '1.5 3'), 'predicted') : '');
  };

  byId('moves').hidden = false;
  page.watch(byId('moves-chart'), () => { if (chart) { chart.resize(); paint(); } });
  const draw = () => {
    paint();
    byId('goal').replaceChildren(segments('Goal', Object.entries(GOALS).map(([value, {text}]) => [value, text]), choice.goal, (value) => {
      choice.goal = value;
      page.draw();
    }));
    byId('moves-note').textContent = `The best plan that splits the model, batch ${choice.batch}, against the measured rate from the first device to the second.`;
  };
  return {draw, paint};
};
