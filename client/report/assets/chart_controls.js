// The controls above the chart: its axes, how quick a plan has to be, and another run to lay over.
// They are made once, so that what is typed is not lost while all else is drawn again.
const chartControls = (view, page) => {
  'use strict';
  const {byId, el} = common;
  const {choice, figures} = view;

  const select = (id, label, options, take) => {
    const box = el('select', {id, change: () => {
      take(box.value);
      page.draw();
    }}, ...options.map((figure) => el('option', {value: figure.id}, figure.name)));
    return {box, nodes: el('span', {class: 'control'}, el('label', {for: id}, label), box)};
  };
  const [first] = figures.offered;
  const across = select('axis-x', 'Across', figures.offered.filter(({less}) => less), (id) => {
    choice.x = id;
    if (choice.y === id) choice.y = 'throughput';
  });
  const up = select('axis-y', 'Up', figures.offered, (id) => {
    choice.y = id;
    if (choice.x === id) choice.x = id === first.id ? figures.offered.find((one) => one.less && one !== first).id : first.id;
  });
  const target = el('input', {id: 'target', type: 'number', min: 0, step: 'any', inputmode: 'decimal', placeholder: 'none', autocomplete: 'off', input: () => {
    choice.target = Number(target.value) > 0 ? Number(target.value) : null;
    choice.plan = null;
    page.draw();
  }});
  const other = otherRun.control(view, page);
  byId('chart-controls').replaceChildren(across.nodes, up.nodes,
    el('span', {class: 'control'}, el('label', {for: 'target'}, 'At most'), target, el('span', {class: 'muted'}, 'ms')),
    // Another run would be drawn as its front, and classes of one scenario have none.
    ...(view.together ? [] : [el('span', {class: 'control'}, ...other.nodes), other.say]));
  const draw = () => {
    across.box.value = choice.x;
    up.box.value = choice.y;
    if (document.activeElement !== target) target.value = choice.target === null ? '' : choice.target;
    other.draw();
  };
  return {draw};
};
