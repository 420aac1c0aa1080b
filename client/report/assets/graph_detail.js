// Facts of the card that was clicked, next to the drawing.
const graphDetail = (data, go) => {
  'use strict';
  const {bytes, figure} = common;
  const element = document.getElementById('detail');
  const KINDS = ['input', 'operator', 'module', 'output'];
  const WEIGHTS = [['', 'trainable'], [' hollow', 'frozen'], [' square', 'buffer']];
  const make = (name, text, className) => {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (className) made.className = className;
    return made;
  };
  const counted = (count) => {
    const [unit, scale] = count >= 1e9 ? ['G', 1e9] : count >= 1e6 ? ['M', 1e6] : count >= 1e3 ? ['K', 1e3] : ['', 1];
    return `${Number((count / scale).toPrecision(3))}${unit && ` ${unit}`}`;
  };
  const nameOf = (node) => (node.kind === 1 && node.path ? `${node.title} of ${node.path}` : node.path || node.title);
  const neighbours = (title, indices) => {
    if (indices.length === 0) return [];
    const list = make('div', undefined, 'neighbours');
    for (const index of indices.slice(0, 40)) {
      const button = make('button', nameOf(data.nodes[index]), 'link');
      button.type = 'button';
      button.addEventListener('click', () => go(index));
      list.append(button);
    }
    if (indices.length > 40) list.append(make('span', `and ${indices.length - 40} others`, 'muted'));
    return [make('h3', title), list];
  };
  const show = (index, family) => {
    const node = data.nodes[index];
    element.textContent = '';
    const title = make('h2');
    const mark = make('i', undefined, family);
    title.append(mark, node.title);
    element.append(title, make('p', node.kind === 2 ? `${node.path} · ${node.contents}` : [node.path, node.contents].filter(Boolean).join(' · ') || `${KINDS[node.kind]} of the model itself`, 'where'));
    const facts = make('dl');
    const add = (name, value) => { if (value) facts.append(make('dt', name), make('dd', value)); };
    add('makes', node.makes.join(', '));
    const [, time, flops, activations, parameters] = node.heat;
    add('activations', activations ? `${bytes(activations)} at batch ${data.batch}` : '');
    add('time', time ? `${figure(time)} ms` : '');
    add('FLOPs', flops ? counted(flops) : '');
    add('parameters', parameters ? counted(parameters) : '');
    add('operators', node.operators.map(([begin, end]) => (end - begin === 1 ? `${begin}` : `${begin} … ${end - 1}`)).join(', '));
    element.append(facts);
    if (node.weights.length > 0) {
      const table = make('table', undefined, 'plain rows');
      const body = make('tbody');
      for (const [name, shape, size, kind] of node.weights.slice(0, 200)) {
        const row = make('tr');
        const first = make('td', undefined, 'text');
        first.append(make('i', undefined, `mark${WEIGHTS[kind][0]}`), name);
        first.title = WEIGHTS[kind][1];
        row.append(first, make('td', shape), make('td', bytes(size)));
        body.append(row);
      }
      table.append(body);
      element.append(table);
    }
    const before = new Set();
    const after = new Set();
    for (const [from, to] of data.edges) {
      if (to === index) before.add(from);
      if (from === index) after.add(to);
    }
    element.append(...neighbours('Reads', [...before]), ...neighbours('Is read by', [...after]));
  };
  return {show, counted};
};
