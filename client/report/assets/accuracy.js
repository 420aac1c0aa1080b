// Predictions of the cost model against measurements: a point a plan that has both, how far apart
// they are, and the same as tables. There only where a run has some.
const accuracyCard = (view, networks, page) => {
  'use strict';
  const {byId, figure, percent, nameOf, el, shapeIcon, colours, segments, fill} = common;
  // Networks have colours of their own: those of transports, and their shapes, mean something else.
  const networkColour = (condition) => `n${conditions.indexOf(condition) % 6}`;
  const {choice, conditions} = view;
  const word = view.run.simulated ? 'simulated' : 'predicted';
  const Word = view.run.simulated ? 'Simulated' : 'Predicted';
  const both = view.measured.filter((trial) => trial.predicted);
  if (!both.length) return null;
  const GOALS = {
    latency: {text: 'Latency', unit: 'ms', measured: (trial) => trial.latency_ms.measured_p50, predicted: (trial) => trial.predicted.latency_ms},
    throughput: {text: 'Throughput', unit: 'samples/s', measured: (trial) => trial.throughput.measured_samples_per_s, predicted: (trial) => trial.predicted.samples_per_s},
  };
  /** predicted / measured - 1, with its sign. */
  const errorOf = (trial, goal) => goal.predicted(trial) / goal.measured(trial) - 1;
  const within = (trials, goal, share) => {
    const errors = trials.map((trial) => Math.abs(errorOf(trial, goal))).sort((a, b) => a - b);
    return errors[Math.max(1, Math.ceil(share * errors.length)) - 1];
  };
  const shown = () => both.filter((trial) => trial.batch === choice.batch && !choice.off.has(trial.transport));

  const chart = echarts.init(byId('accuracy-chart'), null, view.renderer);
  page.selectOnClick(chart);
  const paint = () => {
    const goal = GOALS[choice.error];
    const trials = shown();
    byId('accuracy-chart').hidden = !trials.length;
    if (!trials.length) return;
    const colour = colours();
    const values = trials.flatMap((trial) => [goal.measured(trial), goal.predicted(trial)]);
    const axis = axes.log(values, [0.06, 0.06], colour, chart.getWidth() > 560 ? 7 : 5);
    const place = (trial) => [Math.log10(goal.measured(trial)), Math.log10(goal.predicted(trial))];
    const line = (factor, type) => ({type: 'line', symbol: 'none', silent: true, z: 1, clip: true, lineStyle: {color: colour('muted'), width: 1, type},
      data: [[axis.min, axis.min + Math.log10(factor)], [axis.max, axis.max + Math.log10(factor)]]});
    const p95 = within(trials, goal, 0.95);
    const chosen = view.chosen();
    chart.setOption({
      animation: false, textStyle: axes.font(), grid: {left: 56, right: 16, top: 26, bottom: 48},
      tooltip: axes.tooltip(colour, view, (trial) => el('div', {class: 'tip'}, el('b', {}, nameOf(trial)), `${trial.condition}, over ${trial.transport}`, el('br'),
        `${figure(goal.measured(trial))} ${goal.unit} measured`, el('br'), `${figure(goal.predicted(trial))} ${goal.unit} ${word} (${signed(errorOf(trial, goal))})`)),
      xAxis: {...axis, name: `measured, ${goal.unit}`, nameLocation: 'middle', nameGap: 28},
      yAxis: {...axis, name: `${word}, ${goal.unit}`, nameGap: 10, nameTextStyle: {color: colour('muted'), fontSize: 12, align: 'left', padding: [0, 0, 0, -48]}},
      series: [line(1, 'solid'), line(1 + p95, 'dashed'), ...(p95 < 1 ? [line(1 - p95, 'dashed')] : []),
        {type: 'scatter', z: 2, symbolSize: 8, data: trials.map((trial) => ({value: place(trial), trial: trial.id, symbol: 'circle',
          itemStyle: {color: 'transparent', borderColor: colour(networkColour(trial.condition)), borderWidth: 1.5}}))},
        axes.ring(trials.includes(chosen) ? [place(chosen)] : [], 20, colour)],
    }, true);
    byId('accuracy-chart').dataset.points = trials.length;
  };
  const signed = (error) => `${error < 0 ? '−' : '+'}${percent(Math.abs(error))}`;

  const drawTables = () => {
    const trials = shown();
    const errors = (some) => Object.values(GOALS).flatMap((goal) => (some.length ? [percent(within(some, goal, 0.5)), percent(within(some, goal, 0.95))] : ['–', '–']));
    const rows = conditions.map((condition) => [condition, trials.filter((trial) => trial.condition === condition)]).filter(([, some]) => some.length);
    if (rows.length > 1) rows.push(['all', trials]);
    fill(byId('accuracy-table'), [['Network', 'text'], ['Plans'], ['Latency: median error'], ['95 % within'], ['Throughput: median error'], ['95 % within']],
      rows.map(([name, some]) => [name, String(some.length), ...errors(some)]));
    const goal = GOALS[choice.error];
    fill(byId('accuracy-plans'), [['Plan', 'text'], ['Network', 'text'], [`Measured, ${goal.unit}`], [`${Word}, ${goal.unit}`], ['Error']],
      [...trials].sort((a, b) => Math.abs(errorOf(b, goal)) - Math.abs(errorOf(a, goal))).map((trial) => [
        [networks.planButton(`error of ${trial.id}`, trial, page.select, networks.planText(trial))], trial.condition,
        figure(goal.measured(trial)), figure(goal.predicted(trial)), signed(errorOf(trial, goal))]));
  };
  const counted = (count) => (count === 1 ? '1 plan was' : `${count} plans were`);
  const howMany = (count) => {
    if (view.run.simulated) return `${counted(count)} simulated, each from its own requests at window 1, so that throughput is predicted and latency is what the simulation was calibrated with`;
    const all = view.run.trials.filter((trial) => trial.predicted && trial.batch === choice.batch && !choice.off.has(trial.transport)).length;
    return `Before any of them was measured, ${counted(all)} predicted${all > count ? `, ${count} of which ${count === 1 ? 'has' : 'have'} been measured since` : ''}`;
  };
  const draw = () => {
    paint();
    const goal = GOALS[choice.error];
    const trials = shown();
    byId('accuracy-goal').replaceChildren(segments(Word, Object.entries(GOALS).map(([value, {text}]) => [value, text]), choice.error, (value) => {
      choice.error = value;
      page.draw();
    }));
    byId('accuracy-note').textContent = trials.length
      ? `${howMany(trials.length)}: the median one was off by ${percent(within(trials, goal, 0.5))} in ${goal.text.toLowerCase()}, 95 % of them by less than ${percent(within(trials, goal, 0.95))} (dashed). On the line both agree.${view.breaksOrder(choice.error) ? ` Predictions are no guide here${choice.condition === 'none' ? '' : ` (${choice.condition})`}.` : ''}`
      : `No plan of this choice was both ${word} and measured.`;
    byId('accuracy-legend').replaceChildren(...conditions.filter((condition) => trials.some((trial) => trial.condition === condition)).map((condition) =>
      el('span', {}, shapeIcon(0, 'none', `var(--${networkColour(condition)})`), condition)));
    drawTables();
  };
  byId('accuracy').hidden = false;
  byId('accuracy-title').textContent = `${Word} against measured`;
  page.watch(byId('accuracy-chart'), () => { chart.resize(); paint(); });
  return {draw, paint, drawChosen: paint};
};
