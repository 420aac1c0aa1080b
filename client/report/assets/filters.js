// The filters above the charts, and the plans that stand out.
const filtersBar = (view, page) => {
  'use strict';
  const {byId, figure, devicesOf, nameOf, isAlone, latency, rate, overOf, el, shapeIcon, colourOf, segments, toggle} = common;
  const {choice, batches, conditions, transports} = view;

  // Made once: typed text and its cursor must not be lost while all else is drawn again.
  const find = el('input', {id: 'find', type: 'search', placeholder: view.together ? 'name' : 'name of a cut', 'aria-label': 'Show plans whose name has these words', autocomplete: 'off',
    spellcheck: 'false', 'aria-keyshortcuts': '/', input: () => { choice.find = find.value; page.draw(); }});
  const groups = el('div', {class: 'filter-groups'});
  byId('filters').replaceChildren(groups, el('div', {class: 'filter'}, el('label', {for: 'find'}, 'Find ', el('kbd', {}, '/')), find));

  const labelled = (label, control) => el('div', {class: 'filter'}, el('span', {'aria-hidden': 'true'}, label), control);
  const choose = (label, values, current, onPick) => labelled(label, segments(label, values.map((value) => [value, String(value)]), current, (value) => {
    onPick(value);
    page.draw();
  }));
  const drawFilters = () => {
    const filters = [choose('Batch', batches, choice.batch, (batch) => { choice.batch = batch; })];
    if (conditions.length > 1) filters.push(choose('Network', conditions, choice.condition, view.chooseCondition));
    // Classes of one scenario have neither transports nor a front.
    if (!view.together) filters.push(labelled('Transport', el('div', {class: 'chips', role: 'group', 'aria-label': 'Transport'}, ...transports.map((name, i) => {
      const chip = toggle(`Transport ${name}`, !choice.off.has(name), () => {
        if (choice.off.has(name)) choice.off.delete(name);
        else if (choice.off.size + 1 < transports.length) choice.off.add(name);
        page.draw();
      }, shapeIcon(i, `var(--${colourOf(i)})`), name);
      chip.className = 'chip';
      return chip;
    }))));
    if (!view.together) filters.push(labelled('Plans', segments('Plans', [['all', 'All'], ['front', 'On the front']], choice.only, (value) => {
      choice.only = value;
      page.draw();
    })));
    groups.replaceChildren(...filters);
    if (find.value !== choice.find) find.value = choice.find;
  };

  const figureCard = (label, one, trial) => {
    const [, value, unit] = one.text(one.value(trial)).match(/^(\S+)\s*(.*)$/);
    return headline(label, [value, el('small', {}, ` ${unit}${one.id === 'latency' ? ', p50' : ''}`)], `${nameOf(trial)}${overOf(trial)}`, trial);
  };
  const headline = (label, strong, text, trial, kind = '') => el(trial ? 'button' : 'div', {class: `headline ${kind}`, ...(trial ? {type: 'button', 'data-key': `headline ${label}`, click: () => page.select(trial)} : {})},
    el('span', {}, label), el('strong', {}, ...strong), el('em', {}, text));
  const times = (ratio) => `${ratio.toFixed(2)} ×`;
  /** Makes the card of what splitting, or taking turns, gains over the best device alone: more
   *  throughput, or else less latency. Null means that it gains nothing. */
  const gainCard = (alone) => {
    const best = (trials, value, less) => trials.reduce((found, trial) => (found && (value(found) < value(trial)) === less ? found : trial), null);
    const others = view.pool.filter((trial) => !isAlone(trial));
    if (!others.length || !alone.length) return null;
    const [busiest, busiestAlone] = [best(others, rate, false), best(alone, rate, false)];
    const [fastest, fastestAlone] = [best(others, latency, true), best(alone, latency, true)];
    const by = (trial) => (trial.plan.replicas ? 'Gained by taking turns' : 'Gained by splitting');
    if (rate(busiest) > rate(busiestAlone)) {
      return headline(by(busiest), [times(rate(busiest) / rate(busiestAlone)), el('small', {}, ' throughput')],
        `of the best single device, ${devicesOf(busiestAlone)[0]} with ${figure(rate(busiestAlone))} samples/s`
          + (latency(fastestAlone) < latency(fastest) ? `; alone, ${devicesOf(fastestAlone)[0]} has less latency than any split` : ''), null);
    }
    if (latency(fastest) < latency(fastestAlone)) {
      return headline(by(fastest), [times(latency(fastest) / latency(fastestAlone)), el('small', {}, ' latency')],
        `of the best single device, ${devicesOf(fastestAlone)[0]} with ${figure(latency(fastestAlone))} ms`, null);
    }
    return null;
  };
  const withinCard = () => {
    const within = view.within();
    const label = `${view.y.best} within ${choice.target} ms`;
    if (within) return figureCard(label, view.y, within);
    const fastest = [...view.pool].sort((a, b) => latency(a) - latency(b))[0];
    return headline(label, ['None'], `no plan is as quick: the quickest takes ${figure(latency(fastest))} ms`, fastest);
  };
  const drawHeadlines = () => {
    const {pool} = view;
    const front = view.frontOf(pool);
    const cards = [];
    if (front.length) {
      const usual = choice.x === 'latency' && choice.y === 'throughput' && !view.simulated;
      const alone = usual ? view.aloneBest() : null;
      if (alone) {
        cards.push(headline('One device alone beats every split', ['Don’t split'], `${devicesOf(alone)[0]} alone: ${figure(latency(alone))} ms, ${figure(rate(alone))} samples/s`, alone, 'first'));
      }
      cards.push(figureCard(view.x.best, view.x, front[0]));
      cards.push(choice.target === null ? figureCard(view.y.best, view.y, front.at(-1)) : withinCard());
      if (usual && (!alone || front.at(-1).plan.replicas)) cards.push(gainCard(pool.filter(isAlone)));
    }
    byId('headlines').replaceChildren(...cards.filter(Boolean));
  };
  return {draw: () => { drawFilters(); drawHeadlines(); }};
};
