// The chart of the front: every plan of the batch, network and transports chosen. Plans that were
// only predicted are fainter. The keys left and right go from plan to plan in the order of the
// figure across; up and down go along the front.
const frontChart = (view, page) => {
  'use strict';
  const {byId, shapeOf, colourOf, chance, perhaps, nameOf, el, shapeIcon, lineIcon, pathIcon, colours, segments} = common;
  const {choice} = view;
  const box = byId('chart');
  const chart = echarts.init(box, null, view.renderer);
  page.selectOnClick(chart);
  const GRID = {left: 64, right: 18, top: 14, bottom: 46};
  const DOT = 13;

  const place = (trial) => [view.x.value(trial), view.y.value(trial)];
  const point = (trial, colour) => {
    const style = axes.dot(view.standing(trial), view.kindOf(trial), colour);
    return {value: place(trial), trial: trial.id, symbol: shapeOf(view.kindOf(trial)), symbolSize: view.isFront(trial) ? DOT : 9,
      itemStyle: view.meets(trial) ? style : {...style, opacity: 0.3}};
  };
  const expectedPlace = (trial) => [view.x.expected(trial), view.y.expected(trial)];
  /** Fainter than all that was measured, and without a shape of its own. */
  const expectedPoint = (trial, colour) => ({
    value: expectedPlace(trial), trial: trial.id, symbol: 'circle', symbolSize: 5,
    itemStyle: {color: 'transparent', borderColor: colour('dominated'), borderWidth: 1, opacity: perhaps(trial) ? 0.8 : 0.35},
  });
  const perhapsExpected = () => view.expected.filter(perhaps);
  const others = () => (view.other ? view.other.under() : []);

  /** Around what is shown; if nothing is, around the front. */
  const scales = (front) => {
    const seen = choice.zoom === 'front' && front.length > 1 ? front : view.shown.length ? view.shown : front;
    // The interval of few rounds may be a thousand times its figure: no scale is made for those.
    const near = (value, interval) => [value, Math.max(interval[0], value / 1.5), Math.min(interval[1], value * 1.5)];
    const expected = choice.zoom === 'front' ? [] : perhapsExpected();
    const along = (one) => [...seen.flatMap((trial) => near(one.value(trial), one.interval && view.isFront(trial) ? one.interval(trial) : [Infinity, -Infinity])),
      ...expected.map((trial) => one.expected(trial)), ...(choice.zoom === 'front' && view.other ? view.other.front() : others()).map(one.value)].filter(Number.isFinite);
    const [xs, ys] = [along(view.x), along(view.y)];
    if (choice.target !== null && view.x.id === 'latency' && xs.length && choice.target < 1.5 * Math.max(...xs)) xs.push(choice.target);
    return {x: axes.bounds(xs.length ? xs : [0, 1], 0.22), y: axes.bounds(ys.length ? ys : [0, 1])};
  };
  const ringOf = () => (view.shown.includes(view.chosen()) && !page.figure ? [place(view.chosen())] : []);

  const brush = document.createElement('canvas').getContext('2d');
  const widthOf = (text, size) => {
    brush.font = `${size}px ${axes.font().fontFamily}`;
    return brush.measureText(text).width;
  };
  const sureness = (trial) => (view.isRunsFront() ? `P ${chance(trial)}` : '');
  /** Returns where a label may stand, the best place first: on the side where no plan is. `dx` 0 is
   *  above or beneath its plan. */
  const SIDES = (less) => [[-1, -1], [0, -1], [1, -1], [1, 1], [-1, 1]].map(([dx, dy]) => ({dx, dy: less ? -dy : dy}));
  /** Returns the box of a label of that width beside a point, in pixels. `gap` is the distance to
   *  the middle of the point. */
  const boxOf = ([px, py], wide, {dx, dy}, gap) => {
    const left = dx < 0 ? px - gap - wide : dx > 0 ? px + gap : px - wide / 2;
    const near = dx ? 4 : gap;
    return {left, right: left + wide, top: dy < 0 ? py - near - 16 : py + near, bottom: dy < 0 ? py - near : py + near + 16};
  };
  /** Returns the same place for the library, whose labels stand by a corner of their symbol. */
  const labelAt = ({dx, dy}, gap) => ({show: true, position: [DOT / 2 + dx * gap, DOT / 2 + dy * (dx ? 4 : gap)],
    align: dx < 0 ? 'right' : dx > 0 ? 'left' : 'center', verticalAlign: dy < 0 ? 'bottom' : 'top'});
  /** Returns the plans of the front with their labels. A label touches no other one, no plan and no
   *  edge of the chart; if there is no such place, it is left out. The plan chosen comes first, then
   *  the ends of the front. */
  const labelled = (colour, {x, y} = scales(view.front)) => {
    const front = view.shown.filter(view.isFront).sort((a, b) => view.x.value(a) - view.x.value(b));
    const [width, height] = [chart.getWidth(), chart.getHeight()];
    const pixel = (trial) => [GRID.left + (view.x.value(trial) - x.min) / (x.max - x.min) * (width - GRID.left - GRID.right),
      height - GRID.bottom - (view.y.value(trial) - y.min) / (y.max - y.min) * (height - GRID.top - GRID.bottom)];
    const taken = front.map((trial) => {
      const [px, py] = pixel(trial);
      return {trial, left: px - 7, right: px + 7, top: py - 7, bottom: py + 7};
    });
    const points = view.shown.map(pixel);
    const meet = (a, b) => a.left < b.right + 6 && b.left < a.right + 6 && a.top < b.bottom + 2 && b.top < a.bottom + 2;
    const inside = (rect) => rect.left >= GRID.left + 2 && rect.right <= width - GRID.right - 2 && rect.top >= GRID.top && rect.bottom <= height - GRID.bottom;
    const find = (trial) => {
      const [px, py] = pixel(trial);
      const wide = widthOf(nameOf(trial), 12) + (sureness(trial) ? widthOf(`  ${sureness(trial)}`, 11) + 2 : 0);
      const isChosen = trial === view.chosen();
      const gap = isChosen ? 14 : 11;  // outside the ring
      const places = SIDES(view.y.less).map((side) => ({side, rect: {trial, ...boxOf([px, py], wide, side, gap)}})).filter(({rect}) => inside(rect));
      const covers = (rect) => points.some(([qx, qy]) => qx > rect.left - 4 && qx < rect.right + 4 && qy > rect.top - 3 && qy < rect.bottom + 3);
      const free = places.filter(({rect}) => !taken.some((other) => other.trial !== trial && meet(rect, other)));
      // The plan chosen is named even if its name covers others.
      const found = free.find(({rect}) => !covers(rect)) || (isChosen ? free[0] || places[0] : undefined);
      if (!found) return {show: false};
      taken.push(found.rect);
      return labelAt(found.side, gap);
    };
    const labels = new Map();
    for (const trial of new Set([view.chosen(), front[0], front.at(-1), ...front])) if (front.includes(trial)) labels.set(trial, find(trial));
    return front.map((trial) => ({...point(trial, colour), label: labels.get(trial)}));
  };
  const labelOf = (trial) => `{name|${nameOf(trial)}}${sureness(trial) ? `  {p|${sureness(trial)}}` : ''}`;

  let pointed = null;  // the plan under the pointer
  /** Draws intervals of the plan chosen and of the one under the pointer, next to the front's. */
  const pointedIntervals = (colour) => axes.intervals([...new Set([view.chosen(), pointed])].filter((trial) => trial && view.shown.includes(trial)), view,
    colour('muted'), 1.4, {id: 'pointed', z: 2});
  const targetLine = (colour) => ({type: 'line', silent: true, symbol: 'none', data: [],
    markLine: {silent: true, symbol: 'none', animation: false, lineStyle: {color: colour('bad'), type: 'dashed', width: 1.4},
      label: {formatter: `${choice.target} ms`, position: 'end', distance: 2, color: colour('bad'), fontSize: 11.5},
      data: [{xAxis: choice.target}]}});

  const option = () => {
    const colour = colours();
    const {front, shown, expected, other} = view;
    const rest = shown.filter((trial) => !view.isFront(trial));
    const {x, y} = scales(front);
    const axis = (name, gap) => ({...axes.plain(colour, 12), name, nameLocation: 'middle', nameGap: gap,
      axisLabel: {...axes.plain(colour, 12).axisLabel, showMinLabel: false, showMaxLabel: false}});
    return {
      animation: false, textStyle: axes.font(), grid: GRID,
      xAxis: {...axis(view.x.axis, 30), ...x},
      yAxis: {...axis(view.y.axis, 50), ...y},
      tooltip: axes.tooltip(colour, view, (trial, data) => (data.other ? axes.tip(trial, view, `Of ${other.name}.`)
        : trial.status === 'ok' ? axes.tip(trial, view, view.verdict(trial)) : axes.expectedTip(trial))),
      series: [
        axes.edge(front.map(place), x, y, colour, view.y.less),
        ...(other ? otherRun.series(view, x, y, colour) : []),
        ...(choice.target !== null && view.x.id === 'latency' ? [targetLine(colour)] : []),
        {type: 'scatter', data: expected.map((trial) => expectedPoint(trial, colour)), z: 1, clip: true, emphasis: {scale: 1.5}},
        axes.intervals(shown.filter(view.isFront), view, colour('front'), 1.2),
        pointedIntervals(colour),
        {id: 'beaten', type: 'scatter', data: rest.map((trial) => point(trial, colour)), z: 2, clip: true, emphasis: {scale: 1.5}},
        {id: 'front', type: 'scatter', data: labelled(colour, {x, y}), z: 4, clip: true, emphasis: {scale: 1.3},
          // A click goes to what is under a label.
          label: {silent: true, color: colour('ink'), fontSize: 12, textBorderColor: colour('card'), textBorderWidth: 3,
            formatter: (event) => labelOf(view.byTrial.get(event.data.trial)),
            rich: {name: {color: colour('ink'), fontSize: 12}, p: {color: colour('muted'), fontSize: 11}}}},
        axes.ring(ringOf(), 25, colour),
      ],
    };
  };
  const paint = () => {
    pointed = null;
    chart.setOption(option(), true);
    box.dataset.points = view.shown.length;
    box.dataset.expected = view.expected.length;
    box.dataset.front = view.front.length;
    box.dataset.other = others().length;
  };
  const note = () => {
    const {front, pool, shown, expected, y} = view;
    const parts = [pool.length
      ? `${front.length} of ${pool.length} plans ${front.length === 1 ? 'is' : 'are'} beaten by no other. ${y.less ? 'Down' : 'Up'} and left is better.`
      : 'Nothing was measured for this choice.'];
    if (shown.length < pool.length) parts.push(`Shown: ${shown.length}.`);
    if (choice.target !== null) parts.push(`${pool.filter(view.meets).length} take at most ${choice.target} ms.`);
    if (expected.length) parts.push(`${expected.length} more were predicted only; ${perhapsExpected().length || 'none'} of those may be on the front.${view.isMisled() ? ' But predictions are no guide here: sweep --exhaustive measures all.' : ''}`);
    return parts.join(' ');
  };
  const legend = () => {
    const names = view.transports.filter((name) => !choice.off.has(name));
    const icon = (name) => shapeIcon(view.transports.indexOf(name), `var(--${colourOf(view.transports.indexOf(name))})`);
    const intervals = !view.simulated && (view.x.interval || view.y.interval);
    return [...names.map((name) => el('span', {}, icon(name), `${name}, on the front`)),
      view.shown.some((trial) => view.standing(trial) === 'perhaps') ? el('span', {}, shapeIcon(0, 'var(--card)', 'var(--t0)'), 'beaten, but P > 5 %') : '',
      el('span', {}, shapeIcon(0, 'none', 'var(--dominated)'), 'beaten'),
      view.expected.length ? el('span', {}, el('span', {style: 'opacity: 0.5'}, '○'), ' predicted, not measured') : '',
      view.other ? el('span', {}, lineIcon('var(--other)', '5 3'), `front of ${view.other.name}`) : '',
      intervals ? el('span', {}, pathIcon('M1 0v8M1 4h18M19 0v8', 'var(--front)', 1.4), '95 % interval of the front and of the plan chosen') : '',
      intervals && isCut() ? el('span', {}, pathIcon('M0 4h18M13 0l5 4-5 4', 'var(--front)', 1.4), 'goes on beyond the chart') : '', view.isRunsFront() ? el('span', {}, 'P: probability to be on the front') : ''];
  };
  /** Whether an interval that is drawn goes on beyond the chart. */
  const isCut = () => {
    const {x, y} = scales(view.front);
    const beyond = (figure, {min, max}, trial) => figure.interval && (figure.interval(trial)[0] < min || figure.interval(trial)[1] > max);
    return view.shown.filter((trial) => view.isFront(trial) || trial === view.chosen()).some((trial) => beyond(view.x, x, trial) || beyond(view.y, y, trial));
  };
  const drawLine = () => {
    const trial = view.chosen();
    byId('chart-chosen').replaceChildren(...(trial ? [el('b', {}, nameOf(trial)), ` over ${trial.transport}: ${view.x.text(view.x.value(trial))}, ${view.y.text(view.y.value(trial))}`] : []));
  };
  const draw = () => {
    paint();
    byId('zoom').replaceChildren(segments('Zoom', [['all', 'Everything'], ['front', 'Front']], choice.zoom, (value) => {
      choice.zoom = value;
      page.draw();
    }));
    byId('chart-note').textContent = note();
    byId('legend').replaceChildren(...legend());
    drawLine();
  };
  const drawChosen = () => {
    const colour = colours();
    chart.setOption({series: [{id: 'front', data: labelled(colour)}, {id: 'ring', data: ringOf()}, pointedIntervals(colour)]});
    drawLine();
  };
  const pointAt = (trial) => {
    if (pointed === trial) return;
    pointed = trial;
    chart.setOption({series: [pointedIntervals(colours())]});
  };
  chart.on('mouseover', ({data}) => { if (data && data.trial) pointAt(view.byTrial.get(data.trial)); });
  chart.on('mouseout', () => pointAt(null));

  const STEPS = {ArrowLeft: -1, ArrowRight: 1, ArrowDown: -1, ArrowUp: 1, Home: -Infinity, End: Infinity};
  box.addEventListener('keydown', (event) => {
    const step = STEPS[event.key];
    if (!step || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const along = event.key === 'ArrowUp' || event.key === 'ArrowDown' ? view.shown.filter(view.isFront) : [...view.shown];
    const across = view.x.value;
    along.sort((a, b) => across(a) - across(b));
    const now = view.chosen();
    // From a plan that is not among them, to the nearest on that side.
    const at = along.includes(now) ? along.indexOf(now) : now ? along.filter((trial) => across(trial) < across(now)).length - (step > 0 ? 1 : 0) : -1;
    const next = along[Math.min(Math.max(at + step, 0), along.length - 1)];
    if (next) page.select(next);
  });
  page.watch(box, () => { chart.resize(); paint(); });
  /** Returns the chart as a PNG in a data URL, twice as large as on the screen. */
  const picture = () => {
    const stage = el('div', {style: `width:${chart.getWidth()}px;height:${chart.getHeight() + 34}px`});
    const copy = echarts.init(stage, null, {renderer: 'canvas', width: chart.getWidth(), height: chart.getHeight() + 34, devicePixelRatio: 2});
    const colour = colours();
    copy.setOption({...option(), grid: {...GRID, top: GRID.top + 34}, title: {text: `${view.run.model}, batch ${choice.batch}${choice.condition === 'none' ? '' : `, ${choice.condition}`}`,
      left: GRID.left, top: 6, textStyle: {...axes.font(), color: colour('ink'), fontSize: 15}}});
    const url = copy.getDataURL({type: 'png', pixelRatio: 2, backgroundColor: colour('card')});
    copy.dispose();
    return url;
  };
  return {draw, paint, drawChosen, picture};
};
