// The filters above the charts, and the plans that stand out.
const filtersBar = (view, page) => {
  'use strict';
  const {byId, figure, devicesOf, nameOf, isAlone, latency, rate, el, shapeIcon, colourOf, segments, toggle} = common;
  const {choice, batches, conditions, transports} = view;

  // Made once: what is typed and where must not be lost while all else is drawn anew.
  const find = el('input', {id: 'find', type: 'search', placeholder: 'name of a cut', 'aria-label': 'Show plans whose name has these words', autocomplete: 'off',
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
    filters.push(labelled('Transport', el('div', {class: 'chips', role: 'group', 'aria-label': 'Transport'}, ...transports.map((name, i) => {
      const chip = toggle(`Transport ${name}`, !choice.off.has(name), () => {
        if (choice.off.has(name)) choice.off.delete(name);
        else if (choice.off.size + 1 < transports.length) choice.off.add(name);
        page.draw();
      }, shapeIcon(i, `var(--${colourOf(i)})`), name);
      chip.className = 'chip';
      return chip;
    }))));
    filters.push(labelled('Plans', segments('Plans', [['all', 'All'], ['front', 'On the front']], choice.only, (value) => {
      choice.only = value;
      page.draw();
    })));
    groups.replaceChildren(...filters);
    if (find.value !== choice.find) find.value = choice.find;
  };

  const headline = (label, value, unit, trial) => el('button', {class: 'headline', type: 'button', 'data-key': `headline ${label}`, click: () => page.select(trial)},
    el('span', {}, label), el('strong', {}, value, el('small', {}, ` ${unit}`)), el('em', {}, `${nameOf(trial)} over ${trial.transport}`));
  const drawHeadlines = () => {
    const {front, pool} = view;
    const cards = [];
    if (front.length) {
      const fastest = front[0];
      const busiest = front[front.length - 1];
      const alone = pool.filter(isAlone).sort((a, b) => rate(b) - rate(a))[0];
      cards.push(headline('Lowest latency', figure(latency(fastest)), 'ms, p50', fastest));
      cards.push(headline('Highest throughput', figure(rate(busiest)), 'samples/s', busiest));
      if (alone && !view.simulated) {
        cards.push(el('div', {class: 'headline'}, el('span', {}, busiest.plan.replicas ? 'Gained by taking turns' : 'Gained by splitting'),
          el('strong', {}, `${(rate(busiest) / rate(alone)).toFixed(2)} ×`, el('small', {}, ' throughput')),
          el('em', {}, `of the best single device, ${devicesOf(alone)[0]} with ${figure(rate(alone))} samples/s`)));
      }
    }
    byId('headlines').replaceChildren(...cards);
  };
  return {draw: () => { drawFilters(); drawHeadlines(); }};
};
