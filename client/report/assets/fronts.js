// The fronts of all network conditions side by side, and the same as a table.
const frontsCard = (view, networks, page) => {
  'use strict';
  const {byId, shapeOf, figure, range, chance, latency, rate, nameOf, wayOf, el, colours, segments, fill} = common;
  const {choice, conditions, under, frontOf} = view;

  const smalls = conditions.map((condition) => {
    const title = el('button', {type: 'button', class: 'small-title', 'data-key': `front of ${condition}`, click: () => page.chooseCondition(condition)},
      el('b', {}, condition), el('span', {}, networks.networkText(networks.figuresOf(condition))));
    const picture = el('div', {class: 'small-chart', role: 'img'});
    const nothing = el('p', {class: 'small-nothing'});
    const best = el('p', {class: 'small-best'});
    const figureBox = el('figure', {class: 'small'}, title, picture, nothing, best);
    return {condition, title, picture, nothing, best, figureBox, chart: null, place: null};
  });

  const ringOf = (small) => {
    const trial = view.chosen();
    return trial && trial.condition === small.condition ? [small.place(trial)] : [];
  };
  const drawSmall = (small, shared) => {
    const colour = colours();
    const pool = under(small.condition).filter((trial) => !shared || shared.includes(trial));
    const front = frontOf(pool);
    const trials = view.left(pool, front);
    const rest = trials.filter((trial) => !front.includes(trial));
    const {x: across, y: up} = view;
    const on = (value) => (shared ? Math.log10(value) : value);
    small.place = (trial) => [on(across.value(trial)), on(up.value(trial))];
    const linear = (values) => ({...axes.plain(colour), ...axes.bounds(values, 0.1), splitNumber: 4,
      axisLabel: {...axes.plain(colour).axisLabel, showMinLabel: false, showMaxLabel: false}});
    const x = shared ? axes.log(shared.map(across.value), [0.07, 0.07], colour, 5) : linear(pool.map(across.value));
    const y = shared ? axes.log(shared.map(up.value), [0.07, 0.07], colour, 5) : linear(pool.map(up.value));
    const dot = (trial) => {
      const kind = view.kindOf(trial);
      return {value: small.place(trial), trial: trial.id, symbol: shapeOf(kind), itemStyle: axes.dot(view.standing(trial, front), kind, colour)};
    };
    small.chart.setOption({
      animation: false, textStyle: axes.font(), grid: {left: Math.max(48, Math.ceil(axes.widthOf(shared ? '' : axes.widestTick(y), 11.5)) + 14), right: 14, top: 24, bottom: 36},
      tooltip: axes.tooltip(colour, view, (trial) => axes.tip(trial, view, view.isRunsFront() ? `${small.condition}: on the front with a probability of ${chance(trial)}.` : small.condition)),
      xAxis: {...x, name: across.axis, nameLocation: 'middle', nameGap: 22},
      yAxis: {...y, name: up.axis, nameGap: 8, nameTextStyle: {color: colour('muted'), fontSize: 12, align: 'left', padding: [0, 0, 0, -40]}},
      series: [
        axes.edge(front.map(small.place), x, y, colour, up.less),
        {type: 'scatter', data: rest.map(dot), z: 2, symbolSize: 6},
        {type: 'scatter', z: 4, symbolSize: 10, data: trials.filter((trial) => front.includes(trial)).map(dot)},
        axes.intervals(front, view, colour('front'), 1, {}, on),
        axes.ring(ringOf(small), 20, colour),
      ],
    }, true);
    small.picture.dataset.shown = trials.length;
    small.picture.dataset.best = front.length;
    small.picture.setAttribute('aria-label', `${small.condition}: latency against throughput of ${trials.length} plans, ${front.length} on the front; the table beneath has them`);
  };

  const paint = () => {
    // Logarithms are of what is more than nothing.
    const all = choice.scales === 'one' ? conditions.flatMap(under).filter((trial) => view.x.value(trial) > 0 && view.y.value(trial) > 0) : null;
    for (const small of smalls) {
      const nothing = networks.nothingOf(small.condition);
      small.nothing.textContent = nothing;
      small.nothing.hidden = !nothing;
      small.picture.hidden = Boolean(nothing);
      small.best.hidden = Boolean(nothing);
      if (nothing) continue;
      if (!small.chart) {
        small.chart = echarts.init(small.picture, null, view.renderer);
        page.selectOnClick(small.chart);
      }
      drawSmall(small, all);
    }
  };
  const drawTable = () => {
    const rows = conditions.flatMap((condition) => frontOf(under(condition)).map((trial, i) => [
      i ? '' : condition, [networks.planButton(`front ${trial.id}`, trial, page.select, nameOf(trial))], wayOf(trial), trial.transport,
      [figure(latency(trial)), el('small', {}, range(trial.latency_ms.ci95))], [figure(rate(trial)), el('small', {}, range(trial.throughput.ci95))],
      trial.p_front_text]));
    fill(byId('fronts-table'), [['Network', 'text'], ['Plan', 'text'], ['Devices', 'text'], ['Transport', 'text'], ['p50 ms'], ['Samples/s'], ['P(front)']], rows);
  };
  const draw = () => {
    paint();
    for (const small of smalls) {
      small.title.setAttribute('aria-pressed', String(small.condition === choice.condition));
      const front = frontOf(under(small.condition));
      const ends = front.length > 1 ? [front[0], front[front.length - 1]] : front;
      small.best.replaceChildren(...ends.map((trial, i) => networks.planButton(`end ${i} of ${small.condition}`, trial, page.select,
        el('b', {}, ends.length === 1 ? networks.axisTexts(trial).join(', ') : networks.axisTexts(trial)[i]), ` ${networks.planText(trial)}`)));
    }
    drawTable();
    byId('scales').replaceChildren(segments('Scales', [['own', 'Own scales'], ['one', 'One scale']], choice.scales, (value) => {
      choice.scales = value;
      page.draw();
    }));
    byId('fronts-note').textContent = `${choice.scales === 'one' ? 'On one logarithmic scale.' : 'Each on its own scale.'} `
      + 'Choose a plan, or a network by its title, to see it above.';
  };
  const drawChosen = () => {
    for (const small of smalls) if (small.chart && !small.picture.hidden) small.chart.setOption({series: [{id: 'ring', data: ringOf(small)}]});
  };

  byId('fronts').hidden = false;
  byId('small-fronts').replaceChildren(...smalls.map(({figureBox}) => figureBox));
  page.watch(byId('small-fronts'), () => { for (const {chart} of smalls) if (chart) chart.resize(); });
  return {draw, paint, drawChosen};
};
