// The chart of the front: every plan of the batch, network and transports chosen. Plans that were
// only predicted are small dots. The keys left and right go from plan to plan in the order of the
// figure across; up and down go along the front.
const frontChart = (view, page) => {
  'use strict';
  const {byId, shapeOf, colourOf, chance, mayBe, nameOf, overOf, el, shapeIcon, lineIcon, pathIcon, dotIcon, colours, segments} = common;
  const {choice} = view;
  const box = byId('chart');
  const chart = echarts.init(box, null, view.renderer);
  page.selectOnClick(chart);
  const EDGES = {right: 18, top: 14, bottom: 46};
  const DOT = 13;
  const EXPECTED = 5;
  const RING_GAP = 14;  // from the middle of the plan chosen to its name
  const GAP = 11;

  const place = (trial) => [view.x.value(trial), view.y.value(trial)];
  const point = (trial, colour) => {
    const style = axes.dot(view.standing(trial), view.kindOf(trial), colour);
    return {value: place(trial), trial: trial.id, symbol: shapeOf(view.kindOf(trial)), symbolSize: view.together || view.isFront(trial) ? DOT : 9,
      itemStyle: view.meets(trial) ? style : {...style, opacity: 0.3}};
  };
  const expectedPlace = (trial) => [view.x.expected(trial), view.y.expected(trial)];
  /** Smaller than all that was measured, and without a shape of its own. */
  const expectedPoint = (trial, colour) => ({value: expectedPlace(trial), trial: trial.id, symbol: 'circle', symbolSize: EXPECTED, itemStyle: {color: colour('expected'), opacity: 1}});
  /** Says what is known of the place of a plan that was predicted only. */
  const expectedStanding = (trial) => (trial.p_front !== null ? `On the front with a probability of ${chance(trial)}.`
    : view.isMisled() ? 'Predictions are no guide here: it may be on the front.' : '');
  const mayBeExpected = () => view.expected.filter(mayBe);
  const others = () => (view.other ? view.other.under() : []);

  /** Around what is shown; if nothing is, around the front. */
  const scales = (front) => {
    const seen = choice.zoom === 'front' && front.length > 1 ? front : view.shown.length ? view.shown : front;
    // The interval of few rounds may be a thousand times its figure: no scale is made for those.
    const near = (value, interval) => [value, Math.max(interval[0], value / 1.5), Math.min(interval[1], value * 1.5)];
    const expected = choice.zoom === 'front' ? [] : mayBeExpected();
    const along = (one) => [...seen.flatMap((trial) => near(one.value(trial), one.interval && view.isFront(trial) ? one.interval(trial) : [Infinity, -Infinity])),
      ...expected.map((trial) => one.expected(trial)), ...(choice.zoom === 'front' && view.other ? view.other.front() : others()).map(one.value)].filter(Number.isFinite);
    const [xs, ys] = [along(view.x), along(view.y)];
    if (choice.target !== null && view.x.id === 'latency' && xs.length && choice.target < 1.5 * Math.max(...xs)) xs.push(choice.target);
    const [x, y] = [axes.bounds(xs.length ? xs : [0, 1]), axes.bounds(ys.length ? ys : [0, 1])];
    return {x: roomForName(x, y), y};
  };
  /** Distances of the vertical axis's name from the axis, and of the axis from the chart's edge: as
   *  far as the widest number needs. */
  const nameGap = (y) => Math.max(50, Math.ceil(axes.widthOf(axes.widestTick(y), 12)) + 14);
  const grid = (y) => ({...EDGES, left: nameGap(y) + 14});
  /** Left of the first plan of the front the chart is free: its name has room there, unless that
   *  takes much of the chart. */
  const roomForName = (x, y) => {
    const first = named()[0];
    if (!first) return x;
    const {left, right} = grid(y);
    const share = (widthOfLabel(first) + RING_GAP + 4) / (chart.getWidth() - left - right);
    const needed = (view.x.value(first) - share * x.max) / (1 - share);
    return share > 0.25 || needed >= x.min ? x : {...x, min: Math.max(0, needed)};
  };
  const ringOf = () => (view.shown.includes(view.chosen()) && !page.figure ? [place(view.chosen())] : []);

  const sureness = (trial) => (view.isRunsFront() ? `P ${chance(trial)}` : '');
  const widthOfLabel = (trial) => axes.widthOf(nameOf(trial), 12) + (sureness(trial) ? axes.widthOf(`  ${sureness(trial)}`, 11) + 2 : 0) + 2 * PAD;
  const PAD = 3;  // between a label's text and the edge of what it covers
  /** The plans that have names in the chart, by the figure across: those of the front. */
  const named = () => view.shown.filter((trial) => view.together || view.isFront(trial)).sort((a, b) => view.x.value(a) - view.x.value(b));
  /** Returns where a label may stand, the best place first: on the side where no plan is. `dx` 0 is
   *  above or beneath its plan, `dy` 0 next to it; `away` is how many steps it stands off. */
  const SIDES = (less) => [0, 1, 2].flatMap((away) => [[-1, -1], [0, -1], [1, -1], [1, 1], [-1, 1], ...(away ? [] : [[-1, 0], [1, 0]])]
    .map(([dx, dy]) => ({dx, dy: less ? -dy : dy, away})));
  const STEP = [20, 22];  // of a label that stands off: across, up
  /** Returns how far a label's nearest corner is from the middle of its point. */
  const offOf = ({dx, dy, away}, gap) => [dx * (gap + STEP[0] * away), dy * ((dx ? 4 : gap) + STEP[1] * away)];
  /** Returns the box of a label of that width next to a point, in pixels. `gap` is the distance to
   *  the middle of the point. */
  const boxOf = ([px, py], wide, side, gap) => {
    const [ox, oy] = offOf(side, gap);
    const left = px + ox - (side.dx < 0 ? wide : side.dx > 0 ? 0 : wide / 2);
    const top = py + oy - (side.dy < 0 ? 18 : side.dy > 0 ? 0 : 9);
    return {left, right: left + wide, top, bottom: top + 18};
  };
  /** Returns the same place for the library, whose labels stand by a corner of their symbol. */
  const labelAt = (side, gap) => ({show: true, position: offOf(side, gap).map((off) => DOT / 2 + off),
    align: side.dx < 0 ? 'right' : side.dx > 0 ? 'left' : 'center', verticalAlign: side.dy < 0 ? 'bottom' : side.dy > 0 ? 'top' : 'middle'});
  /** Returns how far a point is from the line between two others. */
  const distance = ([px, py], [ax, ay], [bx, by]) => {
    const [dx, dy] = [bx - ax, by - ay];
    const along = clamp(((px - ax) * dx + (py - ay) * dy) / (dx * dx + dy * dy), 0, 1);
    return Math.hypot(px - ax - along * dx, py - ay - along * dy);
  };
  const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
  /** Returns what is drawn of plans as [left, right, top, bottom] of lines: their intervals, and
   *  the latency to stay within. */
  const linesOf = (trials, pixel, {left, right, top, bottom}) => [
    ...trials.flatMap((trial) => {
      const [px, py] = pixel(view.x.value(trial), view.y.value(trial));
      const ends = (figure, value, at) => (figure.interval ? figure.interval(trial) : [value, value]).map(at);
      const across = ends(view.x, view.x.value(trial), (value) => clamp(pixel(value, 0)[0], left, right));
      const up = ends(view.y, view.y.value(trial), (value) => clamp(pixel(0, value)[1], top, bottom));
      return [[across[0], across[1], py, py], [px, px, up[1], up[0]]];
    }),
    ...(hasTarget() ? [[pixel(choice.target, 0)[0], pixel(choice.target, 0)[0], top, bottom]] : []),
  ];
  /** Returns the names of the plans of the front, and the lines that lead to those that stand off.
   *  A name touches no other one, no plan and no edge of the chart, and crosses as few lines as can
   *  be; if there is no such place, it is left out. The plan chosen comes first, then the ends of
   *  the front. */
  const labels = ({x, y}) => {
    const front = named();
    const [width, height] = [chart.getWidth(), chart.getHeight()];
    const {left, right, top, bottom} = grid(y);
    const plot = {left, right: width - right, top, bottom: height - bottom};
    const pixel = (across, up) => [plot.left + (across - x.min) / (x.max - x.min) * (plot.right - plot.left),
      plot.bottom - (up - y.min) / (y.max - y.min) * (plot.bottom - plot.top)];
    const pixelOf = (trial) => pixel(view.x.value(trial), view.y.value(trial));
    const taken = front.map((trial) => {
      const [px, py] = pixelOf(trial);
      return {trial, left: px - 7, right: px + 7, top: py - 7, bottom: py + 7};
    });
    const points = view.shown.map(pixelOf);
    const lines = linesOf([...new Set([...front, view.chosen()])].filter((trial) => view.shown.includes(trial)), pixel, plot);
    const meet = (a, b, aside = 6) => a.left < b.right + aside && b.left < a.right + aside && a.top < b.bottom + 2 && b.top < a.bottom + 2;
    const inside = (rect) => rect.left >= plot.left + 2 && rect.right <= plot.right - 2 && rect.top >= plot.top && rect.bottom <= plot.bottom;
    const crossed = (rect) => lines.filter(([l, r, t, b]) => l < rect.right && r > rect.left && t < rect.bottom && b > rect.top).length;
    const find = (trial) => {
      const [px, py] = pixelOf(trial);
      const wide = widthOfLabel(trial);
      const isChosen = trial === view.chosen();
      const gap = isChosen ? RING_GAP : GAP;
      const places = SIDES(view.y.less).map((side) => {
        const [ox, oy] = offOf(side, gap);
        const lead = side.away ? {to: [px + ox, py + oy], left: px + Math.min(0, ox), right: px + Math.max(0, ox), top: py + Math.min(0, oy), bottom: py + Math.max(0, oy)} : null;
        return {side, lead, rect: {trial, ...boxOf([px, py], wide, side, gap)}};
      }).filter(({rect}) => inside(rect));
      const passes = (to) => points.some(([qx, qy]) => Math.hypot(qx - px, qy - py) > 1 && distance([qx, qy], [px, py], to) < 7);
      const covers = (rect) => points.some(([qx, qy]) => qx > rect.left - 4 && qx < rect.right + 4 && qy > rect.top - 3 && qy < rect.bottom + 3);
      const free = places.filter(({rect, lead}) => !taken.some((other) => other.trial !== trial && (meet(rect, other) || (lead && meet(lead, other, 0)))) && !(lead && passes(lead.to)));
      const good = free.filter(({rect}) => !covers(rect)).map((place) => ({...place, cost: crossed(place.rect) + 2.5 * place.side.away})).sort((a, b) => a.cost - b.cost);
      // The plan chosen is named even if its name covers others.
      const found = good[0] || (isChosen ? free[0] || places[0] : undefined);
      if (!found) return {label: {show: false}};
      taken.push(found.rect);
      return {label: labelAt(found.side, gap), lead: found.lead ? {trial, off: offOf(found.side, gap)} : null};
    };
    const result = new Map();
    for (const trial of new Set([view.chosen(), front[0], front.at(-1), ...front])) if (front.includes(trial)) result.set(trial, find(trial));
    return result;
  };
  const labelled = (colour, made) => named().map((trial) => ({...point(trial, colour), label: made.get(trial).label}));
  /** Draws the lines from plans to the names that stand off. */
  const leads = (colour, made) => {
    const lines = [...made.values()].map(({lead}) => lead).filter(Boolean);
    return {id: 'leads', type: 'custom', silent: true, z: 3, data: lines.map(({trial}) => place(trial)),
      renderItem: ({dataIndex}, api) => {
        const [px, py] = api.coord([api.value(0), api.value(1)]);
        const [ox, oy] = lines[dataIndex].off;
        return {type: 'polyline', shape: {points: [[px, py], [px + ox, py + oy]]}, style: {stroke: colour('muted'), lineWidth: 1, fill: 'none'}};
      }};
  };
  const labelOf = (trial) => `{name|${nameOf(trial)}}${sureness(trial) ? `  {p|${sureness(trial)}}` : ''}`;

  let pointed = null;  // the plan under the pointer
  /** Draws intervals of the plan chosen and of the one under the pointer, next to the front's. */
  const pointedIntervals = (colour) => axes.intervals([...new Set([page.figure ? null : view.chosen(), pointed])].filter((trial) => trial && view.shown.includes(trial)), view,
    colour('muted'), 1.4, {id: 'pointed', z: 2});
  const hasTarget = () => choice.target !== null && view.x.id === 'latency';
  /** Draws the latency to stay within, beneath all names. */
  const targetLine = (colour, y) => ({id: 'target', type: 'line', silent: true, z: 1, lineStyle: {color: colour('bad'), type: 'dashed', width: 1.4},
    symbol: 'circle', symbolSize: 1, itemStyle: {color: 'transparent'},
    data: [[choice.target, y.min], {value: [choice.target, y.max],
      label: {show: true, position: 'top', distance: 2, formatter: `${choice.target} ms`, color: colour('bad'), fontSize: 11.5}}]});

  const option = () => {
    const colour = colours();
    const {front, shown, expected, other} = view;
    const names = new Set(named());
    const rest = shown.filter((trial) => !names.has(trial));
    const {x, y} = scales(front);
    const made = labels({x, y});
    const axis = (name, gap) => ({...axes.plain(colour, 12), name, nameLocation: 'middle', nameGap: gap,
      axisLabel: {...axes.plain(colour, 12).axisLabel, showMinLabel: false, showMaxLabel: false}});
    return {
      animation: false, textStyle: axes.font(), grid: grid(y),
      xAxis: {...axis(view.x.axis, 30), ...x},
      yAxis: {...axis(view.y.axis, nameGap(y)), ...y},
      tooltip: axes.tooltip(colour, view, (trial, data) => (data.other ? axes.tip(trial, view, `Of ${other.name}.`)
        : trial.status === 'ok' ? axes.tip(trial, view, view.verdict(trial)) : axes.expectedTip(trial, expectedStanding(trial)))),
      series: [
        axes.edge(front.map(place), x, y, colour, view.y.less),
        ...(other ? otherRun.series(view, x, y, colour) : []),
        ...(hasTarget() ? [targetLine(colour, y)] : []),
        {type: 'scatter', data: expected.map((trial) => expectedPoint(trial, colour)), z: 1, clip: true, emphasis: {scale: 1.5}},
        axes.intervals(shown.filter(view.isFront), view, colour('front'), 1.2),
        pointedIntervals(colour),
        {id: 'beaten', type: 'scatter', data: rest.map((trial) => point(trial, colour)), z: 2, clip: true, emphasis: {scale: 1.5}},
        leads(colour, made),
        {id: 'front', type: 'scatter', data: labelled(colour, made), z: 4, clip: true, emphasis: {scale: 1.3},
          // A click goes to what is under a label.
          label: {silent: true, opacity: 1, color: colour('ink'), fontSize: 12, backgroundColor: colour('card'), borderRadius: 3, padding: [3, PAD],
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
    const better = `${y.less ? 'Down' : 'Up'} and left is better.`;
    const parts = [!pool.length ? 'Nothing was measured for this choice.'
      : view.together ? `${pool.length === 1 ? 'The kind of pipeline' : `The ${pool.length} kinds of pipelines`} of one scenario, simulated together on its devices and links: none can be had in the place of another, so that there is no front.`
        : `${front.length} of ${pool.length} plans ${front.length === 1 ? 'is' : 'are'} beaten by no other. ${better}`];
    if (shown.length < pool.length) parts.push(`Shown: ${shown.length}.`);
    if (choice.target !== null) parts.push(`${pool.filter(view.meets).length} take at most ${choice.target} ms.`);
    if (expected.length) {
      parts.push(!view.run.adaptive ? `${expected.length} more were predicted, and are not measured yet.`
        : view.isMisled() ? `${expected.length} more were predicted only. Predictions are no guide here: any of those may be on the front; sweep --exhaustive measures all.`
          : `${expected.length} more were predicted only; ${mayBeExpected().length || 'none'} of those may be on the front.`);
    }
    return parts.join(' ');
  };
  /** Says how plans of a standing are drawn. */
  const standingText = (standing) => {
    const least = Math.min(...view.shown.filter((trial) => view.standing(trial) === 'perhaps').map((trial) => trial.p_front));
    return {front: 'on the front', perhaps: `beaten, but P ${least < 0.1 ? '> 5' : '≥ 10'} %`, beaten: 'beaten'}[standing];
  };
  const standingIcon = (standing, kind) => (standing === 'front' ? shapeIcon(kind, `var(--${colourOf(kind)})`)
    : standing === 'perhaps' ? shapeIcon(kind, 'var(--card)', `var(--${colourOf(kind)})`) : shapeIcon(kind, 'none', 'var(--dominated)'));
  /** Names each transport as the best of its plans is drawn, and then how the others are: nothing
   *  that the chart does not show. */
  const kindsAndStandings = () => {
    const STANDINGS = ['front', 'perhaps', 'beaten'];
    const of = (name) => STANDINGS.filter((standing) => view.shown.some((trial) => trial.transport === name && view.standing(trial) === standing));
    const seen = view.transports.map((name) => ({name, kind: view.transports.indexOf(name), standings: of(name)})).filter(({standings}) => standings.length);
    const others = new Set(seen.flatMap(({standings}) => standings.slice(1)));
    return [...seen.map(({name, kind, standings: [best]}) => el('span', {}, standingIcon(best, kind), `${name}, ${standingText(best)}`)),
      ...STANDINGS.filter((standing) => others.has(standing)).map((standing) => el('span', {}, standingIcon(standing, 0), standingText(standing)))];
  };
  /** Returns whether what is predicted of a plan lies within the chart. */
  const isSeen = (trial, {x, y}) => [[view.x, x], [view.y, y]].every(([figure, {min, max}]) => figure.expected(trial) >= min && figure.expected(trial) <= max);
  const legend = () => {
    const {front, shown, other} = view;
    const bounds = scales(front);
    const withIntervals = shown.filter((trial) => (view.isFront(trial) || (trial === view.chosen() && !page.figure)) && [view.x, view.y].some(({interval}) => interval && interval(trial)[0] < interval(trial)[1]));
    const ofChosen = withIntervals.some((trial) => !view.isFront(trial));
    const isLabelled = [...labels(bounds).values()].some(({label}) => label.show);
    return [...(view.together ? [] : kindsAndStandings()),
      view.expected.some((trial) => isSeen(trial, bounds)) ? el('span', {}, dotIcon('var(--expected)', EXPECTED), 'predicted, not measured') : '',
      other && other.front().length ? el('span', {}, lineIcon('var(--other)', '5 3'), `front of ${other.name}`) : '',
      withIntervals.length ? el('span', {}, pathIcon('M1 0v8M1 4h18M19 0v8', 'var(--front)', 1.4), `95 % interval of the front${ofChosen ? ' and of the plan chosen' : ''}`) : '',
      withIntervals.length && isCut(withIntervals, bounds) ? el('span', {}, pathIcon('M0 4h18M13 0l5 4-5 4', 'var(--front)', 1.4), 'goes on beyond the chart') : '',
      view.isRunsFront() && isLabelled ? el('span', {}, 'P: probability to be on the front') : ''];
  };
  /** Returns whether an interval that is drawn goes on beyond the chart. */
  const isCut = (trials, {x, y}) => {
    const beyond = (figure, {min, max}, trial) => figure.interval && (figure.interval(trial)[0] < min || figure.interval(trial)[1] > max);
    return trials.some((trial) => beyond(view.x, x, trial) || beyond(view.y, y, trial));
  };
  const drawLine = () => {
    const trial = view.chosen();
    byId('chart-chosen').replaceChildren(...(trial ? [el('b', {}, nameOf(trial)), `${overOf(trial)}: ${view.x.text(view.x.value(trial))}, ${view.y.text(view.y.value(trial))}`] : []));
  };
  const draw = () => {
    paint();
    if (!view.together) byId('zoom').replaceChildren(segments('Zoom', [['all', 'Everything'], ['front', 'Front']], choice.zoom, (value) => {
      choice.zoom = value;
      page.draw();
    }));
    byId('chart-note').textContent = note();
    byId('legend').replaceChildren(...legend());
    drawLine();
  };
  const drawChosen = () => {
    const colour = colours();
    const made = labels(scales(view.front));
    chart.setOption({series: [{id: 'front', data: labelled(colour, made)}, leads(colour, made), {id: 'ring', data: ringOf()}, pointedIntervals(colour)]});
    byId('legend').replaceChildren(...legend());
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
    const drawn = option();
    copy.setOption({...drawn, grid: {...drawn.grid, top: drawn.grid.top + 34}, title: {text: `${view.run.model}, batch ${choice.batch}${choice.condition === 'none' ? '' : `, ${choice.condition}`}`,
      left: drawn.grid.left, top: 6, textStyle: {...axes.font(), color: colour('ink'), fontSize: 15}}});
    const url = copy.getDataURL({type: 'png', pixelRatio: 2, backgroundColor: colour('card')});
    copy.dispose();
    return url;
  };
  return {draw, paint, drawChosen, picture};
};
