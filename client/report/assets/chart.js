// The chart of the front: every plan of the batch, network and transports chosen, those that were only predicted fainter. With the keyboard:
// left and right go from plan to plan in order of latency, up and down along the front.
const frontChart = (view, page) => {
  'use strict';
  const {byId, shapeOf, colourOf, chance, perhaps, nameOf, latency, rate, el, shapeIcon, colours, segments} = common;
  const {choice} = view;
  const box = byId('chart');
  const chart = echarts.init(box, null, view.renderer);
  page.selectOnClick(chart);

  const place = (trial) => [latency(trial), rate(trial)];
  const point = (trial, colour) => ({
    value: place(trial), trial: trial.id, symbol: shapeOf(view.kindOf(trial)), symbolSize: view.isFront(trial) ? 13 : 9,
    itemStyle: axes.dot(view.standing(trial), view.kindOf(trial), colour),
  });
  /** Fainter than all that was measured, and without a shape of its own. */
  const expectedPoint = (trial, colour) => ({
    value: [trial.predicted.expected_latency_ms, trial.predicted.expected_samples_per_s], trial: trial.id, symbol: 'circle', symbolSize: 5,
    itemStyle: {color: 'transparent', borderColor: colour('dominated'), borderWidth: 1, opacity: perhaps(trial) ? 0.8 : 0.35},
  });
  const perhapsExpected = () => view.expected.filter(perhaps);

  /** Around what is shown; of nothing, around the front. */
  const scales = (front) => {
    const seen = choice.zoom === 'front' && front.length > 1 ? front : view.shown.length ? view.shown : front;
    // Of two rounds an interval may be a thousand times its figure: no scale is made for those.
    const near = (value, interval) => [value, Math.max(interval[0], value / 1.5), Math.min(interval[1], value * 1.5)];
    const perhaps = choice.zoom === 'front' ? [] : perhapsExpected();
    const xs = [...seen.flatMap((trial) => near(latency(trial), trial.latency_ms.ci95)), ...perhaps.map((trial) => trial.predicted.expected_latency_ms)];
    const ys = [...seen.flatMap((trial) => near(rate(trial), trial.throughput.ci95)), ...perhaps.map((trial) => trial.predicted.expected_samples_per_s)];
    return {x: axes.bounds(xs.length ? xs : [0, 1], 0.22), y: axes.bounds(ys.length ? ys : [0, 1])};
  };
  const ringOf = () => (view.shown.includes(view.chosen()) && !page.figure ? [place(view.chosen())] : []);
  /** Of each plan on the front its name and how sure that is; where there is no room, of its ends and of what is chosen. */
  const labelled = (colour) => {
    const roomy = chart.getWidth() > 520;
    const front = view.shown.filter(view.isFront).sort((a, b) => latency(a) - latency(b));
    return front.map((trial, i) => ({...point(trial, colour),
      label: {show: roomy || trial === view.chosen() || i === 0 || i === front.length - 1}}));
  };
  const labelOf = (trial) => (choice.off.size || view.simulated ? `{name|${nameOf(trial)}}` : `{name|${nameOf(trial)}}  {p|P ${chance(trial)}}`);

  const paint = () => {
    const colour = colours();
    const {front, shown, expected} = view;
    const rest = shown.filter((trial) => !view.isFront(trial));
    const {x, y} = scales(front);
    const named = labelled(colour);
    const axis = (name, gap) => ({...axes.plain(colour, 12), name, nameLocation: 'middle', nameGap: gap,
      axisLabel: {...axes.plain(colour, 12).axisLabel, showMinLabel: false, showMaxLabel: false}});
    chart.setOption({
      animation: false, textStyle: axes.font(), grid: {left: 58, right: 18, top: 14, bottom: 46},
      xAxis: {...axis('latency, p50 ms', 30), ...x},
      yAxis: {...axis('throughput, samples/s', 44), ...y},
      tooltip: axes.tooltip(colour, view, (trial) => (trial.status === 'ok' ? axes.tip(trial, view.verdict(trial)) : axes.expectedTip(trial))),
      series: [
        axes.edge(front.map(place), x, y, colour),
        {type: 'scatter', data: expected.map((trial) => expectedPoint(trial, colour)), z: 1, clip: true, emphasis: {scale: 1.5}},
        axes.intervals(rest, colour('line'), 1.5),
        axes.intervals(shown.filter(view.isFront), colour('front'), 1.2),
        {id: 'beaten', type: 'scatter', data: rest.map((trial) => point(trial, colour)), z: 2, clip: true, emphasis: {scale: 1.5}},
        {id: 'front', type: 'scatter', data: named, z: 4, clip: true, emphasis: {scale: 1.3},
          // Up and left of the front there is nothing: labels stand there, unless they would leave the chart. A click goes to what is under them.
          label: {silent: true, position: [-5, -4], align: 'right', verticalAlign: 'bottom', color: colour('ink'), fontSize: 12,
            textBorderColor: colour('card'), textBorderWidth: 3, formatter: (event) => labelOf(view.byTrial.get(event.data.trial)),
            rich: {name: {color: colour('ink'), fontSize: 12}, p: {color: colour('muted'), fontSize: 11}}},
          labelLayout: ({dataIndex, labelRect, rect}) => {
            if (labelRect.x >= 56) return {hideOverlap: true};
            const last = dataIndex === named.length - 1;
            return {hideOverlap: true, x: rect.x + rect.width + 6, y: last ? rect.y : rect.y + 24, align: 'left'};
          }},
        axes.ring(ringOf(), 25, colour),
      ],
    }, true);
    box.dataset.points = shown.length;
    box.dataset.expected = expected.length;
    box.dataset.front = front.length;
  };
  const note = () => {
    const {front, pool, shown, expected} = view;
    const parts = [pool.length
      ? `${front.length} of ${pool.length} plans ${front.length === 1 ? 'is' : 'are'} beaten by no other. Up and left is better.`
      : 'Nothing was measured for this choice.'];
    if (shown.length < pool.length) parts.push(`Shown: ${shown.length}.`);
    if (expected.length) parts.push(`${expected.length} more were predicted only; ${perhapsExpected().length || 'none'} of those may be on the front.`);
    return parts.join(' ');
  };
  const legend = () => {
    const names = view.transports.filter((name) => !choice.off.has(name));
    const icon = (name) => shapeIcon(view.transports.indexOf(name), `var(--${colourOf(view.transports.indexOf(name))})`);
    return [...names.map((name) => el('span', {}, icon(name), `${name}, on the front`)),
      view.shown.some((trial) => view.standing(trial) === 'perhaps') ? el('span', {}, shapeIcon(0, 'var(--card)', 'var(--t0)'), 'beaten, but P > 5 %') : '',
      el('span', {}, shapeIcon(0, 'none', 'var(--dominated)'), 'beaten'),
      view.expected.length ? el('span', {}, el('span', {style: 'opacity: 0.5'}, '○'), ' predicted, not measured') : '',
      view.simulated ? '' : el('span', {}, '┼ 95 % interval'), choice.off.size || view.simulated ? '' : el('span', {}, 'P: probability to be on the front')];
  };
  const draw = () => {
    paint();
    byId('zoom').replaceChildren(segments('Zoom', [['all', 'Everything'], ['front', 'Front']], choice.zoom, (value) => {
      choice.zoom = value;
      page.draw();
    }));
    byId('chart-note').textContent = note();
    byId('legend').replaceChildren(...legend());
  };
  const drawChosen = () => chart.setOption({series: [{id: 'front', data: labelled(colours())}, {id: 'ring', data: ringOf()}]});

  const STEPS = {ArrowLeft: -1, ArrowRight: 1, ArrowDown: -1, ArrowUp: 1, Home: -Infinity, End: Infinity};
  box.addEventListener('keydown', (event) => {
    const step = STEPS[event.key];
    if (!step || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const along = event.key === 'ArrowUp' || event.key === 'ArrowDown' ? view.shown.filter(view.isFront) : [...view.shown];
    along.sort((a, b) => latency(a) - latency(b));
    const now = view.chosen();
    // From a plan that is not among them, to the nearest on that side.
    const at = along.includes(now) ? along.indexOf(now) : now ? along.filter((trial) => latency(trial) < latency(now)).length - (step > 0 ? 1 : 0) : -1;
    const next = along[Math.min(Math.max(at + step, 0), along.length - 1)];
    if (next) page.select(next);
  });
  page.watch(box, () => { chart.resize(); paint(); });
  return {draw, paint, drawChosen};
};
