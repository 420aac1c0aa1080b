// The report's page. Reads the run (the document of `sweep --json`) from #run; draws; keeps its choices in the address, so that a
// view can be shared as a link. Text from the run only ever becomes text nodes.
(() => {
  'use strict';
  const {byId, PARTS, figure, short, range, bytes, percent, devicesOf, nameOf, crossesOf, latency, rate, el, swatch, shapeIcon, bar} = common;
  const problem = (text) => {
    byId('problem').hidden = false;
    byId('problem').textContent = `This page met an error: ${text}`;
  };
  addEventListener('error', (event) => problem(event.message));

  const run = JSON.parse(byId('run').textContent);
  // What makes a plan the same one under another network; before its codec, which may be chosen for a network, joins its name.
  for (const trial of run.trials) {
    trial.key = [trial.name || '', trial.split ? trial.split.name : '', ...trial.plan.stages.map((stage) => stage.device), trial.transport,
      trial.auto_codec ? 'auto' : trial.codec, trial.plan.micro_batch, trial.batch].join('\n');
  }
  // A codec or a micro-batch makes another kind of link: chosen, drawn and named like a transport.
  for (const trial of run.trials) {
    if (trial.auto_codec) trial.transport += ` ${trial.codec} (auto)`;
    else if (trial.codec !== 'none') trial.transport += ` ${trial.codec}`;
    if (trial.plan.micro_batch > 0) trial.transport += ` by ${trial.plan.micro_batch}`;
  }
  const measured = run.trials.filter((trial) => trial.status === 'ok');
  const failed = run.trials.filter((trial) => trial.status === 'failed');
  // An adaptive sweep leaves most plans at what is expected of them.
  const predicted = run.trials.filter((trial) => trial.status === 'predicted');
  const planned = run.trials.length - measured.length - failed.length - predicted.length;
  const distinct = (values) => [...new Set(values)];
  const transports = distinct(run.trials.map((trial) => trial.transport));
  const batches = distinct(run.trials.map((trial) => trial.batch)).sort((a, b) => a - b);
  const conditions = distinct(run.networks.map((network) => network.condition));
  const shapeOf = (trial) => transports.indexOf(trial.transport) % 4;

  // ---- what is chosen --------------------------------------------------------------------------------------------------------

  const address = new URLSearchParams(location.hash.slice(1));
  const pick = (value, among) => (among.map(String).includes(value) ? among[among.map(String).indexOf(value)] : among[0]);
  const choice = {
    batch: pick(address.get('batch'), batches),
    condition: pick(address.get('condition'), conditions),
    off: new Set((address.get('without') || '').split(',').filter((name) => transports.includes(name))),
    zoom: address.get('zoom') === 'front' ? 'front' : 'all',
    plan: address.get('plan'),
    scales: address.get('scales') === 'one' ? 'one' : 'own',
    goal: address.get('goal') === 'throughput' ? 'throughput' : 'latency',
    sort: 'latency',
    descending: false,
  };
  const remember = () => {
    const kept = new URLSearchParams();
    if (batches.length > 1) kept.set('batch', choice.batch);
    if (conditions.length > 1) kept.set('condition', choice.condition);
    if (choice.off.size) kept.set('without', [...choice.off].join(','));
    if (choice.zoom !== 'all') kept.set('zoom', choice.zoom);
    if (choice.scales !== 'own') kept.set('scales', choice.scales);
    if (choice.goal !== 'latency') kept.set('goal', choice.goal);
    if (choice.plan) kept.set('plan', choice.plan);
    try { history.replaceState(null, '', `#${kept}`); } catch { /* a page in a sandbox has no history */ }
  };

  const beats = (a, b) => latency(a) <= latency(b) && rate(a) >= rate(b) && (latency(a) < latency(b) || rate(a) > rate(b));
  let shown = [];   // plans of the batch, condition and transports chosen
  let front = [];   // those of them that no other shown one beats, in order of latency
  let beaters = new Map();
  let expected = [];  // plans of that choice that were not measured
  /** Plans of the batch and transports chosen, under some condition. */
  const under = (condition) => measured.filter((trial) =>
    trial.batch === choice.batch && trial.condition === condition && !choice.off.has(trial.transport));
  const frontOf = (trials) => {
    const sorted = [...trials].sort((a, b) => latency(a) - latency(b) || rate(b) - rate(a));
    let best = null;
    return sorted.filter((trial) => {
      const on = !best || rate(trial) > rate(best) || (rate(trial) === rate(best) && latency(trial) === latency(best));
      if (on) best = trial;
      return on;
    });
  };
  const look = () => {
    shown = under(choice.condition);
    expected = predicted.filter((trial) =>
      trial.batch === choice.batch && trial.condition === choice.condition && !choice.off.has(trial.transport));
    front = frontOf(shown);
    beaters = new Map(shown.map((trial) => [trial, front.filter((other) => beats(other, trial))]));
  };
  const isFront = (trial) => front.includes(trial);
  const chosen = () => shown.find((trial) => trial.id === choice.plan);

  const verdict = (trial) => {
    if (isFront(trial)) {
      return choice.off.size
        ? 'No plan shown beats it.'
        : trial.predicted ? `No other plan measured beats it; by predictions and rounds together it is on the front with a probability of ${percent(trial.p_front)}.`
        : `No other plan beats it; over resampled rounds it is on the front ${Math.round(100 * trial.p_front)} % of the time.`;
    }
    const by = beaters.get(trial)[0];
    const less = 1 - latency(by) / latency(trial);
    const more = rate(by) / rate(trial) - 1;
    const gains = [];
    if (less >= 0.0005) gains.push(`${percent(less)} less latency`);
    if (more >= 0.0005) gains.push(`${percent(more)} more samples/s`);
    const others = beaters.get(trial).length - 1;
    return `Beaten by ${nameOf(by)} over ${by.transport}${gains.length ? `: ${gains.join(', ')}` : ''}${others ? `; and by ${others} more` : ''}.`;
  };

  // ---- filters and headlines -------------------------------------------------------------------------------------------------

  /** A button that is made anew with every drawing: by its key it keeps the focus. */
  const toggle = (key, pressed, onPick, ...children) => el('button',
    {type: 'button', 'data-key': key, 'aria-pressed': pressed, click: () => { onPick(); draw(); }}, ...children);
  const segmented = (label, values, current, text, onPick) => el('div', {class: 'filter'}, el('span', {}, label),
    el('div', {class: 'segmented', role: 'group', 'aria-label': label}, ...values.map((value) =>
      toggle(`${label} ${value}`, value === current, () => onPick(value), text(value)))));
  /** Under another network the plan chosen stays the one it was, where it was measured there too. */
  const chooseCondition = (condition) => {
    const plan = chosen();
    choice.condition = condition;
    const same = plan && under(condition).find((trial) => trial.key === plan.key);
    if (same) choice.plan = same.id;
  };

  const drawFilters = () => {
    const filters = [segmented('Batch', batches, choice.batch, String, (batch) => { choice.batch = batch; })];
    if (conditions.length > 1) {
      filters.push(segmented('Network', conditions, choice.condition, String, chooseCondition));
    }
    filters.push(el('div', {class: 'filter'}, el('span', {}, 'Transport'), el('div', {class: 'chips'}, ...transports.map((name, i) =>
      el('button', {class: 'chip', type: 'button', 'data-key': `Transport ${name}`, 'aria-pressed': !choice.off.has(name), click: () => {
        if (choice.off.has(name)) choice.off.delete(name);
        else if (choice.off.size + 1 < transports.length) choice.off.add(name);
        draw();
      }}, shapeIcon(i, `var(--t${i % 4})`), name)))));
    byId('filters').replaceChildren(...filters);
    byId('zoom').replaceChildren(...[['all', 'Everything'], ['front', 'Front']].map(([value, text]) =>
      toggle(`Zoom ${value}`, choice.zoom === value, () => { choice.zoom = value; }, text)));
  };

  const headline = (label, value, unit, trial) => el('button', {class: 'headline', type: 'button', click: () => select(trial)},
    el('span', {}, label), el('strong', {}, value, el('small', {}, ` ${unit}`)), el('em', {}, `${nameOf(trial)} over ${trial.transport}`));
  const drawHeadlines = () => {
    const cards = [];
    if (front.length) {
      const fastest = front[0];
      const busiest = front[front.length - 1];
      const alone = shown.filter((trial) => !trial.split).sort((a, b) => rate(b) - rate(a))[0];
      cards.push(headline('Lowest latency', figure(latency(fastest)), 'ms, p50', fastest));
      cards.push(headline('Highest throughput', figure(rate(busiest)), 'samples/s', busiest));
      if (alone) {
        cards.push(el('div', {class: 'headline'}, el('span', {}, 'Gained by splitting'),
          el('strong', {}, `${(rate(busiest) / rate(alone)).toFixed(2)} ×`, el('small', {}, ' throughput')),
          el('em', {}, `of the best single device, ${devicesOf(alone)[0]} with ${figure(rate(alone))} samples/s`)));
      }
    }
    byId('headlines').replaceChildren(...cards);
  };

  // ---- one plan --------------------------------------------------------------------------------------------------------------

  const stepOf = (colour, title, value, note) => el('li', {style: `--dot: var(--${colour})`},
    el('div', {class: 'row'}, el('span', {}, title), el('b', {}, value)), note ? el('small', {}, note) : undefined);
  const pathOf = (trial) => {
    const steps = [];
    trial.links.forEach((link, i) => {
      const last = i === trial.links.length - 1;
      const codec = !last && i > 0 ? trial.plan.codecs[i - 1] : undefined;
      const title = `${i === 0 ? 'input arrives ' : last ? 'result returns ' : ''}over ${link.transport}${codec && codec !== 'none' ? ` ${codec}` : ''}`;
      const cut = !last && i > 0 && trial.split ? trial.split.cuts[i - 1] : undefined;
      const crossing = cut ? cut.boundary : [];
      const what = crossing.length
        ? crossing.slice(0, 3).map((value) => `${value.dtype} ${value.shape.join('×')}`).join(', ') + (crossing.length > 3 ? ` and ${crossing.length - 3} more` : '')
        : '';
      steps.push(stepOf('transfer', title, `${short(link.transfer_ms.p50)} ms`, [cut && trial.split.cuts.length > 1 ? cut.name : '', bytes(link.bytes), what].filter(Boolean).join(' · ')));
      const stage = trial.stages[i];
      if (stage) {
        steps.push(stepOf('compute', stage.device, `${short(stage.compute_ms.p50)} ms`,
          `engine ${stage.engine} · ${bytes(stage.weight_bytes)} of weights · ${bytes(stage.peak_memory_bytes)} of memory`));
      }
    });
    return el('ul', {class: 'path'}, ...steps);
  };
  const drawDetail = () => {
    const trial = chosen();
    if (!trial) {
      byId('detail').replaceChildren(el('h2', {}, 'No plan'), el('p', {class: 'hint'}, 'Nothing was measured for this choice.'));
      return;
    }
    const split = trial.time_split_ms;
    const box = (label, value, note) => el('div', {}, el('span', {}, label), el('b', {}, value), el('small', {}, note));
    byId('detail').replaceChildren(
      el('span', {class: isFront(trial) ? 'badge front' : 'badge'}, isFront(trial) ? 'On the front' : 'Beaten'),
      el('h2', {style: 'margin-top: 6px'}, nameOf(trial)),
      trial.name && trial.split ? el('p', {class: 'muted'}, trial.split.name) : '',
      el('p', {class: 'muted'}, `${devicesOf(trial).join(' → ')} · ${trial.transport} · batch ${trial.batch}`),
      el('p', {class: 'verdict'}, verdict(trial)),
      el('div', {class: 'figures'},
        box('Latency, p50', `${figure(latency(trial))} ms`, `${range(trial.latency_ms.ci95)}, window ${trial.latency_ms.window}, ${trial.latency_ms.samples} requests`),
        box('Throughput', `${figure(rate(trial))} /s`, `${range(trial.throughput.ci95)}, window ${trial.throughput.window}`)),
      el('h3', {}, 'Time of one request'), bar(trial),
      el('ul', {class: 'parts'}, ...PARTS.map(([part, text]) => el('li', {}, swatch(part), el('span', {}, text),
        el('b', {}, `${short(split[part])} ms`), el('small', {}, `${Math.round(100 * split[part] / latency(trial))} %`)))),
      el('h3', {}, 'Its way'), pathOf(trial));
  };
  const select = (trial) => {
    choice.condition = trial.condition;
    choice.plan = trial.id;
    draw();
  };

  // ---- bars and table --------------------------------------------------------------------------------------------------------

  const drawTimes = () => {
    byId('time-legend').replaceChildren(...PARTS.map(([part, text]) => el('span', {}, swatch(part), text)));
    const plans = front.length ? [...front] : [];
    if (chosen() && !isFront(chosen())) plans.push(chosen());
    const scale = Math.max(...plans.map(latency));
    byId('times').replaceChildren(...plans.map((trial) => el('button',
      {class: 'time', type: 'button', 'aria-pressed': trial.id === choice.plan, click: () => select(trial),
        title: PARTS.map(([part, text]) => `${text} ${short(trial.time_split_ms[part])} ms`).join(', ')},
      el('span', {}, nameOf(trial), el('span', {class: 'muted'}, ` ${trial.transport}${isFront(trial) ? '' : ', beaten'}`)),
      bar(trial, scale), el('span', {}, `${figure(latency(trial))} ms`))));
  };

  const COLUMNS = [
    ['plan', 'Plan', (trial) => (trial.split ? trial.split.position : -1), (trial) => [el('i', {class: 'dot'}), nameOf(trial)], 'text'],
    ['transport', 'Transport', (trial) => trial.transport, (trial) => [trial.transport], 'text'],
    ['latency', 'p50 ms', latency, (trial) => [figure(latency(trial)), el('small', {}, range(trial.latency_ms.ci95))]],
    ['p90', 'p90 ms', (trial) => trial.latency_ms.p90, (trial) => [figure(trial.latency_ms.p90)]],
    ['p99', 'p99 ms', (trial) => trial.latency_ms.p99, (trial) => [figure(trial.latency_ms.p99)]],
    ['rate', 'Samples/s', rate, (trial) => [figure(rate(trial)), el('small', {}, range(trial.throughput.ci95))]],
    ['window', 'Window', (trial) => trial.throughput.window, (trial) => [`${trial.latency_ms.window}, ${trial.throughput.window}`]],
    ['boundary', 'Crosses', (trial) => (trial.split ? trial.split.boundary_bytes : 0), (trial) => [crossesOf(trial)]],
    ['time', 'Compute, transfer, wait', (trial) => trial.time_split_ms.compute / latency(trial), (trial) => [bar(trial)]],
    ['p', 'P(front)', (trial) => trial.p_front, (trial) => [trial.p_front.toFixed(2)]],
  ];
  const drawTable = () => {
    const key = COLUMNS.find(([id]) => id === choice.sort)[2];
    const order = choice.descending ? -1 : 1;
    const rows = [...shown].sort((a, b) => order * (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : latency(a) - latency(b)));
    const sortBy = (id) => {
      choice.descending = choice.sort === id && !choice.descending;
      choice.sort = id;
      drawTable();
    };
    byId('trials').replaceChildren(
      el('thead', {}, el('tr', {}, ...COLUMNS.map(([id, title, , , kind]) => el('th',
        {class: kind, scope: 'col', 'aria-sort': choice.sort === id ? (choice.descending ? 'descending' : 'ascending') : undefined},
        el('button', {type: 'button', click: () => sortBy(id)}, title + (choice.sort === id ? (choice.descending ? ' ↓' : ' ↑') : '')))))),
      el('tbody', {}, ...rows.map((trial) => el('tr',
        {class: [isFront(trial) && 'front', trial.id === choice.plan && 'chosen'].filter(Boolean).join(' ') || undefined, tabindex: 0, title: verdict(trial),
          click: () => select(trial), keydown: (event) => { if (event.key === 'Enter') select(trial); }},
        ...COLUMNS.map(([, , , cell, kind]) => el('td', {class: kind}, ...cell(trial)))))));
    byId('table-note').textContent =
      'Windows (requests in flight) of latency and of throughput; intervals are 95 %. Sort by a heading, choose a row.';
  };

  // ---- putting it together ---------------------------------------------------------------------------------------------------

  const canvas = measured.length > 1500;
  const chart = frontChart({choice, isFront, chosen, verdict, select, shapeOf, canvas});
  const networks = conditions.length > 1 ? networkCards({run, conditions, choice, under, frontOf, select, toggle, shapeOf, canvas,
    chooseCondition: (condition) => { chooseCondition(condition); draw(); }, several: transports.length > 1}) : null;
  const drawChart = () => chart.draw({shown, front, expected});

  const draw = () => {
    const held = document.activeElement && document.activeElement.dataset.key;
    look();
    if (!chosen()) choice.plan = front.length ? front[front.length - 1].id : null;
    drawFilters();
    drawHeadlines();
    drawChart();
    drawDetail();
    drawTimes();
    drawTable();
    if (networks) networks.draw();
    if (held) {
      const again = document.querySelector(`[data-key="${CSS.escape(held)}"]`);
      if (again) again.focus({preventScroll: true});
    }
    byId('chart-note').textContent = shown.length
      ? `${front.length} of ${shown.length} plans ${front.length === 1 ? 'is' : 'are'} beaten by no other. Up and left is better.`
      : 'Nothing was measured for this choice.';
    const perhaps = expected.filter((trial) => trial.p_front >= 0.05).length;
    if (expected.length) {
      byId('chart-note').textContent += ` ${expected.length} more were predicted only; ${perhaps || 'none'} of those may be on the front.`;
    }
    byId('legend').replaceChildren(...transports.filter((name) => !choice.off.has(name)).map((name) =>
      el('span', {}, shapeIcon(transports.indexOf(name), `var(--t${transports.indexOf(name) % 4})`), `${name}, on the front`)),
      el('span', {}, shapeIcon(0, 'var(--dominated)'), 'beaten'),
      expected.length ? el('span', {}, el('span', {style: 'opacity: 0.5'}, '○'), ' predicted, not measured') : '',
      el('span', {}, '┼ 95 % interval'));
    remember();
  };

  const wished = matchMedia('(prefers-color-scheme: dark)');
  const setTheme = (dark) => { document.documentElement.dataset.theme = dark ? 'dark' : 'light'; };
  setTheme(wished.matches);
  const drawCharts = () => {
    drawChart();
    if (networks) networks.drawCharts();
  };
  wished.addEventListener('change', () => { setTheme(wished.matches); drawCharts(); });
  byId('theme').addEventListener('click', () => { setTheme(document.documentElement.dataset.theme !== 'dark'); drawCharts(); });
  // Paper has another width than the screen: with a view box drawings are scaled to it, by the style sheet.
  addEventListener('beforeprint', () => {
    for (const svg of document.querySelectorAll('#chart svg, #moves-chart svg, .small-chart svg')) {
      svg.setAttribute('viewBox', `0 0 ${svg.getAttribute('width')} ${svg.getAttribute('height')}`);
    }
  });
  // In the next frame: resizing within the observer's own turn would make it report a loop.
  new ResizeObserver(() => requestAnimationFrame(() => { chart.resize(); drawChart(); })).observe(byId('chart'));
  aboutRun({run, measured, predicted, failed, planned});
  draw();
})();
