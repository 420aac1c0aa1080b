// What the page shows of a run under several network conditions: their fronts side by side, and how the best split moves from one
// to the next. report.js makes this once with what the two share, and calls draw() after every choice.
const networkCards = (page) => {
  'use strict';
  const {byId, SHAPES, figure, bytes, percent, devicesOf, nameOf, latency, rate, el, shapeIcon, colours, bounds} = common;
  const {run, conditions, choice, under, frontOf, select, toggle, chooseCondition} = page;
  const trialOf = new Map(run.trials.map((trial) => [trial.id, trial]));
  const renderer = {renderer: page.canvas ? 'canvas' : 'svg'};
  const NO_LIMIT = 'no limit';

  // ---- what is known of a network --------------------------------------------------------------------------------------------

  /** The run's entry of a condition, at the batch chosen; undefined where there is none. */
  const entryOf = (condition) => run.networks.find((entry) => entry.condition === condition && entry.batch === choice.batch);
  const figuresOf = (condition) => run.networks.find((entry) => entry.condition === condition);
  const round = (value) => value.toFixed(value >= 9.95 ? 0 : value >= 0.995 ? 1 : 2);
  const megabits = (bits) => (bits === null ? '–' : round(bits / 1e6));
  const rateText = ({forward_bits_per_s: forward, backward_bits_per_s: backward}) => (
    forward === null ? 'rate not measured'
      : backward === null || Math.min(forward, backward) > 0.95 * Math.max(forward, backward) ? `${megabits(forward)} Mbit/s`
        : `${megabits(forward)} / ${megabits(backward)} Mbit/s`);
  const networkText = (network) => (network.round_trip_ms === null ? 'not measured'
    : `${round(network.round_trip_ms)} ms round trip · ${rateText(network)}`);
  // A network left as it is has no limit but the machine's; nor has one that is as fast.
  const untouched = figuresOf('none');
  const isUnlimited = (network) => network.condition === 'none'
    || Boolean(untouched && untouched.forward_bits_per_s && network.forward_bits_per_s >= 0.8 * untouched.forward_bits_per_s);

  /** Why a condition has nothing to show: a sentence, or '' where it has something. */
  const nothingOf = (condition) => {
    const entry = entryOf(condition);
    if (!entry) return `Not measured at batch ${choice.batch}.`;
    if (under(condition).length) return '';
    if (entry.measured) return 'No plan over the transports chosen was measured.';
    if (!entry.failed) return 'Not measured yet.';
    const failure = run.trials.find((trial) => trial.condition === condition && trial.batch === choice.batch && trial.status === 'failed');
    const reached = entry.round_trip_ms === null ? 'The network was not reached' : 'The network was reached';
    return `${reached}, but ${entry.failed === entry.trials ? `all ${entry.trials}` : `${entry.failed} of ${entry.trials}`} plans failed: ${failure.failure}`;
  };

  // ---- the best of a network -------------------------------------------------------------------------------------------------

  const GOALS = {
    latency: {text: 'Lowest latency', id: 'fastest', value: latency, unit: 'ms', better: (a, b) => latency(a) - latency(b) || rate(b) - rate(a)},
    throughput: {text: 'Highest throughput', id: 'most_productive', value: rate, unit: 'samples/s', better: (a, b) => rate(b) - rate(a) || latency(a) - latency(b)},
  };
  /** The best trial of a kind ('split', 'unsplit'); null where there is none. The run names it unless transports are left out. */
  const bestOf = (condition, goal, kind) => {
    if (!choice.off.size) {
      const entry = entryOf(condition);
      return (entry && trialOf.get(entry[`${goal.id}_${kind}`])) || null;
    }
    return under(condition).filter((trial) => Boolean(trial.split) === (kind === 'split')).sort(goal.better)[0] || null;
  };
  const planText = (trial) => (page.several ? `${nameOf(trial)}, ${trial.transport}` : nameOf(trial));
  /** How many times worse a plan is than the best there; 1: no worse. */
  const lossOf = (trial, best, goal) => (goal === GOALS.latency ? latency(trial) / latency(best) : rate(best) / rate(trial));

  const tip = (trial) => el('div', {class: 'tip'}, el('b', {}, nameOf(trial)),
    `${trial.condition} · ${devicesOf(trial).join(' → ')} over ${trial.transport}, batch ${trial.batch}`, el('br'),
    `${figure(latency(trial))} ms, ${figure(rate(trial))} samples/s`);
  const tooltip = (colour) => ({
    trigger: 'item', confine: true, backgroundColor: colour('card'), borderColor: colour('line'), padding: [8, 12],
    textStyle: {color: colour('ink'), fontSize: 13}, formatter: (event) => (event.data.trial ? tip(event.data.trial) : ''),
  });

  // ---- axes ------------------------------------------------------------------------------------------------------------------

  /** 1, 2, 5, 10, … within bounds, and fewer of them where there are many. */
  const logTicks = (low, high, most) => {
    const ticks = (steps) => {
      const all = [];
      for (let decade = Math.floor(Math.log10(low)); decade <= Math.ceil(Math.log10(high)); ++decade) {
        for (const step of steps) if (step * 10 ** decade >= low && step * 10 ** decade <= high) all.push(step * 10 ** decade);
      }
      return all;
    };
    return [[1, 2, 5], [1, 3], [1]].map(ticks).find((all) => all.length <= most) || ticks([1]);
  };
  const tickText = (value) => (value >= 1 ? String(Math.round(value)) : String(Number(value.toPrecision(1))));
  /** An axis of logarithms, drawn as a plain one: ticks stand where they read well, whatever the range. */
  const logAxis = (values, margins, colour, most = 7) => {
    const low = Math.log10(Math.min(...values));
    const high = Math.log10(Math.max(...values));
    const span = Math.max(high - low, 0.3);
    const min = low - span * margins[0];
    const max = high + span * margins[1];
    const ticks = logTicks(10 ** min, 10 ** max, most).map((tick) => Math.log10(tick));
    return {...axisOf(colour), min, max, axisTick: {show: false, customValues: ticks}, splitLine: {lineStyle: {color: colour('line')}, customValues: ticks},
      axisLabel: {...axisOf(colour).axisLabel, customValues: ticks, formatter: (tick) => tickText(10 ** tick)}};
  };
  const axisOf = (colour) => ({
    type: 'value', nameTextStyle: {color: colour('muted'), fontSize: 12}, axisLine: {show: false}, axisTick: {show: false},
    axisLabel: {color: colour('muted'), fontSize: 11.5, hideOverlap: true}, splitLine: {lineStyle: {color: colour('line')}},
  });
  const fontOf = () => ({fontFamily: getComputedStyle(document.body).fontFamily});

  // ---- fronts side by side ---------------------------------------------------------------------------------------------------

  const smalls = conditions.map((condition) => {
    const title = el('button', {type: 'button', class: 'small-title', 'data-key': `front of ${condition}`, click: () => chooseCondition(condition)},
      el('b', {}, condition), el('span', {}, networkText(figuresOf(condition))));
    const picture = el('div', {class: 'small-chart', role: 'img'});
    const nothing = el('p', {class: 'small-nothing'});
    const best = el('p', {class: 'small-best'});
    const figureBox = el('figure', {class: 'small'}, title, picture, nothing, best);
    return {condition, title, picture, nothing, best, figureBox, chart: null};
  });

  const drawSmall = (small, shared) => {
    const colour = colours();
    const trials = under(small.condition);
    const front = frontOf(trials);
    const rest = trials.filter((trial) => !front.includes(trial));
    const place = (trial) => (shared ? [Math.log10(latency(trial)), Math.log10(rate(trial))] : [latency(trial), rate(trial)]);
    const linear = (values, below) => ({...axisOf(colour), ...bounds(values, below), splitNumber: 4,
      axisLabel: {...axisOf(colour).axisLabel, showMinLabel: false, showMaxLabel: false}});
    const x = shared ? logAxis(shared.map(latency), [0.07, 0.07], colour, 5) : linear(trials.map(latency), 0.1);
    const y = shared ? logAxis(shared.map(rate), [0.07, 0.07], colour, 5) : linear(trials.map(rate), 0.1);
    const edge = front.map(place);
    if (edge.length) {
      edge.unshift([edge[0][0], y.min]);
      edge.push([x.max, edge[edge.length - 1][1]]);
    }
    const ring = trials.find((trial) => trial.id === choice.plan);
    const dot = (trial) => ({value: place(trial), trial, symbol: SHAPES[page.shapeOf(trial)]});
    small.chart.setOption({
      animation: false, textStyle: fontOf(), tooltip: tooltip(colour), grid: {left: 48, right: 14, top: 24, bottom: 36},
      xAxis: {...x, name: 'latency, p50 ms', nameLocation: 'middle', nameGap: 22},
      yAxis: {...y, name: 'samples/s', nameGap: 8, nameTextStyle: {color: colour('muted'), fontSize: 12, align: 'left', padding: [0, 0, 0, -40]}},
      series: [
        {type: 'line', step: 'end', data: edge, symbol: 'none', silent: true, z: 1, lineStyle: {color: colour('front'), width: 2, opacity: 0.55},
          areaStyle: {color: colour('front'), opacity: 0.05, origin: 'start'}},
        {type: 'scatter', data: rest.map(dot), z: 2, symbolSize: 6, itemStyle: {color: 'transparent', borderColor: colour('dominated'), borderWidth: 1.2}},
        {type: 'scatter', z: 4, symbolSize: 10, data: front.map((trial) => ({...dot(trial),
          itemStyle: {color: colour(`t${page.shapeOf(trial)}`), borderColor: colour('card'), borderWidth: 1.2}}))},
        {type: 'scatter', silent: true, z: 3, data: ring ? [place(ring)] : [], symbol: 'circle', symbolSize: 20,
          itemStyle: {color: 'transparent', borderColor: colour('ring'), borderWidth: 2}},
      ],
    }, true);
    small.picture.dataset.shown = trials.length;
    small.picture.dataset.best = front.length;
    small.picture.setAttribute('aria-label', `${small.condition}: latency against throughput of ${trials.length} plans, ${front.length} on the front`);
  };

  const drawFronts = () => {
    const all = conditions.flatMap(under);
    for (const small of smalls) {
      small.title.setAttribute('aria-pressed', small.condition === choice.condition);
      const nothing = nothingOf(small.condition);
      small.nothing.textContent = nothing;
      small.nothing.hidden = !nothing;
      small.picture.hidden = Boolean(nothing);
      small.best.hidden = Boolean(nothing);
      if (nothing) continue;
      if (!small.chart) {
        small.chart = echarts.init(small.picture, null, renderer);
        small.chart.on('click', (event) => { if (event.data && event.data.trial) select(event.data.trial); });
      }
      drawSmall(small, choice.scales === 'one' ? all : null);
      const front = frontOf(under(small.condition));
      const ends = front.length > 1 ? [front[0], front[front.length - 1]] : front;
      const speeds = (trial) => [`${figure(latency(trial))} ms`, `${figure(rate(trial))} samples/s`];
      small.best.replaceChildren(...ends.map((trial, i) => planButton(`end ${i} of ${small.condition}`, trial,
        el('b', {}, ends.length === 1 ? speeds(trial).join(', ') : speeds(trial)[i]), ` ${planText(trial)}`)));
    }
    byId('scales').replaceChildren(...[['own', 'Own scales'], ['one', 'One scale']].map(([value, text]) =>
      toggle(`Scales ${value}`, choice.scales === value, () => { choice.scales = value; }, text)));
    byId('fronts-note').textContent = `${choice.scales === 'one' ? 'On one logarithmic scale.' : 'Each on its own scale.'} `
      + 'Choose a plan, or a network by its title, to see it above.';
  };
  const planButton = (key, trial, ...children) => el('button', {type: 'button', class: 'link', 'data-key': key,
    'aria-pressed': trial.id === choice.plan, title: `Show ${nameOf(trial)} under ${trial.condition}`, click: () => select(trial)}, ...children);

  // ---- how the best split moves ----------------------------------------------------------------------------------------------

  /** Measured conditions whose round trips are much the same, in order of their rate: a line of the picture each. */
  const delayClasses = () => {
    const classes = [];
    const known = conditions.map(figuresOf).filter((network) => isUnlimited(network) || network.forward_bits_per_s);
    for (const network of known.sort((a, b) => a.round_trip_ms - b.round_trip_ms)) {
      const last = classes[classes.length - 1];
      if (last && network.round_trip_ms <= 1.3 * last[0].round_trip_ms + 2) last.push(network);
      else classes.push([network]);
    }
    const place = (network) => (isUnlimited(network) ? Infinity : network.forward_bits_per_s);
    return classes.map((networks) => {
      const low = round(networks[0].round_trip_ms || 0);
      const high = round(networks[networks.length - 1].round_trip_ms || 0);
      const name = networks.some((network) => network.round_trip_ms === null) ? 'no delay added'
        : `${low === high ? low : `${low} – ${high}`} ms round trip`;
      return {name, networks: networks.sort((a, b) => place(a) - place(b))};
    });
  };
  const classes = delayClasses();
  const limits = classes.flatMap(({networks}) => networks).filter((network) => !isUnlimited(network)).map((network) => network.forward_bits_per_s / 1e6);
  const anyUnlimited = classes.some(({networks}) => networks.some(isUnlimited));

  let moves = null;
  const drawMoves = () => {
    const colour = colours();
    const goal = GOALS[choice.goal];
    const lines = classes.map(({name, networks}, i) => ({name, i,
      split: networks.map((network) => ({network, trial: bestOf(network.condition, goal, 'split')})).filter(({trial}) => trial),
      unsplit: networks.map((network) => ({network, trial: bestOf(network.condition, goal, 'unsplit')})).filter(({trial}) => trial)}));
    const points = lines.flatMap(({split, unsplit}) => [...split, ...unsplit]);
    byId('moves-chart').hidden = !points.length;
    if (!points.length) return;
    if (!moves) {
      moves = echarts.init(byId('moves-chart'), null, renderer);
      moves.on('click', (event) => { if (event.data && event.data.trial) select(event.data.trial); });
    }
    const roomy = moves.getWidth() > 560;
    // "No limit" has its place right of all rates, a fifth of their range away.
    const x = logAxis(limits.length ? limits : [1], anyUnlimited ? [0.06, !limits.length ? 1 : roomy ? 0.32 : 0.42] : [0.06, 0.1], colour);
    const most = Math.log10(limits.length ? Math.max(...limits) : 1);
    const end = x.max - (x.max - most) * 0.3;
    if (anyUnlimited) {
      const ticks = x.axisLabel.customValues.filter((tick) => limits.length && tick <= most + (end - most) * 0.35);
      x.axisTick = {show: false, customValues: [...ticks, end]};
      x.splitLine = {...x.splitLine, customValues: [...ticks, end]};
      x.axisLabel = {...x.axisLabel, customValues: [...ticks, end], formatter: (tick) => (Math.abs(tick - end) < 1e-9 ? NO_LIMIT : tickText(10 ** tick))};
    }
    const y = logAxis(points.map(({trial}) => goal.value(trial)), [0.16, 0.16], colour);
    const at = ({network, trial}) => [isUnlimited(network) ? end : Math.log10(network.forward_bits_per_s / 1e6), Math.log10(goal.value(trial))];
    // Latency falls and throughput rises to the right: a name stands on the side that the line leaves free.
    const falling = choice.goal === 'latency';
    const placeOf = (point, k, count) => {
      const last = isUnlimited(point.network) || k === count - 1 && k > 0;
      return {position: falling === last ? 'bottom' : 'top', align: last ? 'right' : 'left', offset: last ? [6, 0] : [-6, 0]};
    };
    const series = lines.flatMap(({name, i, split, unsplit}) => [
      {type: 'line', name, z: 3, symbol: SHAPES[i % 4], symbolSize: 12, lineStyle: {color: colour(`t${i % 4}`), width: 2},
        itemStyle: {color: colour(`t${i % 4}`), borderColor: colour('card'), borderWidth: 1.5},
        labelLayout: {hideOverlap: true},
        data: split.map((point, k) => ({value: at(point), trial: point.trial,
          // A name stands where the split changes; between such points it stays the same.
          label: {show: k === 0 || nameOf(split[k - 1].trial) !== nameOf(point.trial), ...placeOf(point, k, split.length), distance: 10,
            formatter: () => nameOf(point.trial), color: colour('ink'), fontSize: roomy ? 12 : 11, textBorderColor: colour('card'), textBorderWidth: 3}}))},
      {type: 'line', z: 2, symbol: 'circle', symbolSize: 5, lineStyle: {color: colour('dominated'), width: 1.3, type: 'dashed'},
        itemStyle: {color: colour('dominated')}, data: unsplit.map((point) => ({value: at(point), trial: point.trial}))},
    ]);
    const ring = lines.flatMap(({split}) => split).filter(({trial}) => trial.condition === choice.condition);
    const lost = classes.flatMap(({networks}) => networks).filter(({condition}) => {
      const entry = entryOf(condition);
      return entry && entry.failed && !entry.measured;
    });
    moves.setOption({
      animation: false, textStyle: fontOf(), tooltip: tooltip(colour), grid: {left: 56, right: 16, top: 26, bottom: 48},
      xAxis: {...x, name: 'rate forward, Mbit/s', nameLocation: 'middle', nameGap: 28},
      yAxis: {...y, name: choice.goal === 'latency' ? 'latency, p50 ms' : 'throughput, samples/s', nameGap: 10,
        nameTextStyle: {color: colour('muted'), fontSize: 12, align: 'left', padding: [0, 0, 0, -48]}},
      series: [...series,
        {type: 'scatter', silent: true, z: 2, symbol: 'circle', symbolSize: 22, data: ring.map(at),
          itemStyle: {color: 'transparent', borderColor: colour('ring'), borderWidth: 2}},
        {type: 'scatter', silent: true, z: 4, symbol: 'path://M1 0L5 4 9 0 10 1 6 5 10 9 9 10 5 6 1 10 0 9 4 5 0 1z', symbolSize: 10,
          itemStyle: {color: colour('bad')}, data: lost.map((network) => ({value: [at({network, trial: points[0].trial})[0], y.min + (y.max - y.min) * (falling ? 0.04 : 0.96)],
            label: {show: true, position: 'right', color: colour('bad'), fontSize: 11.5, formatter: () => `${network.condition}: all failed`}}))},
      ],
    }, true);
    byId('moves-chart').dataset.moves = lines.reduce((sum, {split}) => sum + split.length, 0);
    byId('moves-legend').replaceChildren(...lines.filter(({split}) => split.length).map(({name, i}) =>
      el('span', {}, shapeIcon(i, `var(--t${i % 4})`), name)), el('span', {}, '╌╌ the best single device'));
  };

  /** The plan that is least worse than the best split wherever a split was measured, and by how much; null where none was in all. */
  const compromise = (goal) => {
    const there = conditions.filter((condition) => bestOf(condition, goal, 'split'));
    let found = null;
    for (const plan of there.slice(0, 1).flatMap(under).filter((trial) => trial.split)) {
      const same = there.map((condition) => under(condition).find((trial) => trial.key === plan.key));
      if (!same.every(Boolean)) continue;
      const losses = same.map((trial, i) => lossOf(trial, bestOf(there[i], goal, 'split'), goal));
      const worst = Math.max(...losses);
      if (!found || worst < found.worst) found = {plan, worst, at: there[losses.indexOf(worst)]};
    }
    return found;
  };
  const worse = (loss, goal) => {
    if (loss < 1.0005) return 'the best';
    if (goal === GOALS.throughput) return `${percent(1 - 1 / loss)} fewer`;
    return loss < 2 ? `${percent(loss - 1)} slower` : `${loss.toFixed(loss < 9.95 ? 1 : 0)} × slower`;
  };
  const compromiseText = (goal) => {
    const one = compromise(goal);
    if (!one) return '';
    const at = goal === GOALS.latency ? `is at most ${worse(one.worst, goal)} than` : `has at most ${worse(one.worst, goal)} samples/s than`;
    return `One split for all of them: ${planText(one.plan)} ${one.worst < 1.0005 ? 'is the best under each' : `${at} the best of each (under ${one.at})`}.`;
  };
  /** Where not splitting at all is better. */
  const aloneText = (goal) => {
    const compared = conditions.map((condition) => [condition, bestOf(condition, goal, 'split'), bestOf(condition, goal, 'unsplit')])
      .filter(([, split, unsplit]) => split && unsplit);
    const alone = compared.filter(([, split, unsplit]) => goal.better(unsplit, split) < 0).map(([condition]) => condition);
    if (!compared.length) return '';
    const where = alone.length === compared.length ? 'every network' : alone.length > 3 ? `${alone.length} of ${compared.length} networks` : alone.join(', ');
    return alone.length ? `One device alone is better than any split under ${where}.` : 'Every network has a split that is better than one device alone.';
  };
  const crosses = (trial) => {
    const wire = trial.links.slice(1, -1).reduce((sum, link) => sum + link.wire_bytes, 0);
    return trial.codec !== 'none' && wire ? `${bytes(wire)} of ${bytes(trial.split.boundary_bytes)}` : bytes(trial.split.boundary_bytes);
  };

  const drawMovesTable = () => {
    const goal = GOALS[choice.goal];
    const kept = bestOf(choice.condition, goal, 'split');
    const heads = [['Network', 'text'], ['Round trip'], ['Mbit/s'], ['Lowest latency', 'text'], ['p50 ms'], ['Highest throughput', 'text'], ['Samples/s'],
      [kept ? `With the split of ${choice.condition}` : 'With another split'], ['Unsplit']];
    const beneath = (text) => el('small', {}, text);
    const unitOf = (trial) => `${figure(goal.value(trial))} ${goal.unit}`;
    const row = (condition) => {
      const network = figuresOf(condition);
      const name = el('button', {type: 'button', class: 'link', 'data-key': `row of ${condition}`, 'aria-pressed': condition === choice.condition,
        click: () => chooseCondition(condition)}, condition);
      const cells = [[[name], 'text'], [[network.round_trip_ms === null ? '–' : `${round(network.round_trip_ms)} ms`]],
        [[rateText(network).replace(' Mbit/s', '').replace('rate not measured', '–')]]];
      const best = {latency: bestOf(condition, GOALS.latency, 'split'), throughput: bestOf(condition, GOALS.throughput, 'split')};
      if (!best.latency) {
        const why = nothingOf(condition) || 'No split was measured.';
        return el('tr', {}, ...cells.map(([content, kind]) => el('td', {class: kind}, ...content)),
          el('td', {class: 'text why', colspan: heads.length - cells.length}, why));
      }
      for (const key of ['latency', 'throughput']) {
        cells.push([[planButton(`${key} of ${condition}`, best[key], planText(best[key])), beneath(`${crosses(best[key])} cross`)], 'text'],
          [[figure(GOALS[key].value(best[key]))]]);
      }
      const same = kept && under(condition).find((trial) => trial.key === kept.key);
      cells.push([same ? [unitOf(same), beneath(worse(lossOf(same, best[choice.goal], goal), goal))] : ['–']]);
      const unsplit = bestOf(condition, goal, 'unsplit');
      cells.push([unsplit ? [unitOf(unsplit)] : ['–']]);
      return el('tr', {class: condition === choice.condition ? 'chosen' : undefined}, ...cells.map(([content, kind]) => el('td', {class: kind}, ...content)));
    };
    byId('moves-table').replaceChildren(
      el('thead', {}, el('tr', {}, ...heads.map(([head, kind]) => el('th', {class: kind, scope: 'col'}, head)))),
      el('tbody', {}, ...conditions.map(row)));
    byId('moves-all').textContent = [compromiseText(goal), aloneText(goal)].filter(Boolean).join(' ');
    byId('goal').replaceChildren(...Object.entries(GOALS).map(([value, {text}]) =>
      toggle(`Goal ${value}`, choice.goal === value, () => { choice.goal = value; }, text)));
    byId('moves-note').textContent = `The best plan that splits the model, batch ${choice.batch}, against the measured rate from the first device to the second.`;
  };

  // ---- putting it together ---------------------------------------------------------------------------------------------------

  byId('fronts').hidden = false;
  byId('moves').hidden = false;
  byId('small-fronts').replaceChildren(...smalls.map(({figureBox}) => figureBox));
  const drawCharts = () => {
    drawFronts();
    drawMoves();
  };
  const watcher = new ResizeObserver(() => requestAnimationFrame(() => {
    for (const {chart} of smalls) if (chart) chart.resize();
    if (moves) moves.resize();
    drawMoves();
  }));
  watcher.observe(byId('small-fronts'));
  return {draw: () => { drawCharts(); drawMovesTable(); }, drawCharts};
};
