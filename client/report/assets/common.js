// Functions that all parts of the page share: figures as text, names of plans, elements, colours
// and axes. Nothing here knows what is chosen.
const common = (() => {
  'use strict';
  const byId = (id) => document.getElementById(id);
  const PARTS = [['compute', 'computing'], ['transfer', 'transfer'], ['wait', 'the rest']];
  const SHAPES = ['circle', 'diamond', 'triangle', 'rect'];
  // No two of the first sixteen kinds look alike.
  const shapeOf = (kind) => SHAPES[kind % 4];
  const colourOf = (kind) => `t${(kind + Math.floor(kind / 4)) % 4}`;
  const SHAPE_PATHS = ['M6 1a5 5 0 1 0 .01 0z', 'M6 0l6 6-6 6-6-6z', 'M6 0l6 11H0z', 'M1 1h10v10H1z'];

  // Steps of one request, in the order that a stage takes them.
  const STEPS = [['transfer', 'transfer'], ['wait', 'waiting'], ['compute', 'computing'], ['encode', 'encoding'], ['between', 'in between']];

  /** Rounds as the terminal does: what lies in the middle goes to the even digit. */
  const fixed = (value, digits) => {
    const scaled = value * 10 ** digits;
    const below = Math.floor(scaled);
    // Binary numbers in the middle of two decimals are whole ones of such a power of two.
    const between = Number.isInteger(value * 2 ** (digits + 1)) && scaled - below === 0.5;
    return between ? ((below % 2 ? below + 1 : below) / 10 ** digits).toFixed(digits) : value.toFixed(digits);
  };
  const figure = (value) => {
    const size = Math.abs(value);
    return fixed(value, size >= 999.95 ? 0 : size >= 99.995 ? 1 : size >= 9.9995 ? 2 : 3);
  };
  const short = (value) => {
    const size = Math.abs(value);
    return value.toFixed(size >= 99.95 ? 0 : size >= 9.995 ? 1 : size >= 0.995 ? 2 : 3);
  };
  /** Returns an interval as text. One of no width stands for none, as simulated figures have. */
  const range = (interval) => (interval[0] === interval[1] ? 'no interval' : `${figure(interval[0])} – ${figure(interval[1])}`);
  const bytes = (count) => {
    const units = ['B', 'KiB', 'MiB', 'GiB'];
    let unit = 0;
    while (count >= 999.5 && unit + 1 < units.length) { count /= 1024; ++unit; }
    return `${fixed(count, unit === 0 || count >= 99.95 ? 0 : count >= 9.995 ? 1 : 2)} ${units[unit]}`;
  };
  const percent = (ratio) => `${ratio < 0.1 ? Number((100 * ratio).toPrecision(1)) : Math.round(ratio * 100)} %`;
  const devicesOf = (trial) => trial.plan.stages.map((stage) => stage.device);
  const nameOf = (trial) => {
    if (trial.name) return trial.name;
    if (trial.split) return trial.split.name;
    return `all on ${devicesOf(trial).join(' and ')}${trial.plan.replicas ? ' in turns' : ''}`;
  };
  /** One device runs the whole model. */
  const isAlone = (trial) => !trial.split && !trial.plan.replicas;
  /** Its devices in order, or those that take turns. */
  const wayOf = (trial) => devicesOf(trial).join(trial.plan.replicas ? ' and ' : ' → ');
  /** Returns " over tcp"; '' for a class of a scenario, whose links say for themselves what they
   *  lead over. */
  const overOf = (trial) => (trial.transport === 'simulated' ? '' : ` over ${trial.transport}`);
  /** Returns those settings of a plan's stages that plans of the run differ in: ['2 threads',
   *  'clusters']. */
  const settingsOf = ({threads, schedule}) => [threads && (threads === '0' ? 'threads as set' : `${threads} ${threads === '1' ? 'thread' : 'threads'}`), schedule].filter(Boolean);
  /** Returns what crosses at each cut. */
  const crossesOf = (trial) => (trial.split ? trial.split.cuts.map((cut) => bytes(cut.boundary_bytes)).join(' + ') : '–');
  const latency = (trial) => trial.latency_ms.p50;
  const rate = (trial) => trial.throughput.samples_per_s;
  /** Returns the probability that a plan is on the front: '97 %', or if there are few rounds
   *  '> 90 %' and '< 10 %'; '–' if nobody knows. */
  const chance = ({p_front_text}) => (p_front_text === '-' ? '–' : p_front_text.startsWith('>') ? '> 90 %' : p_front_text.startsWith('<') ? '< 10 %' : `${Math.round(100 * p_front_text)} %`);
  const roundsOf = ({rounds}) => (rounds === 1 ? '1 round' : `${rounds} rounds`);
  /** Returns whether a plan that is beaten may be on the front. What is said decides: of few rounds
   *  that is "< 10 %" for any probability below it. */
  const perhaps = ({p_front: chance, p_front_text: said}) => chance > 0.05 && !said.startsWith('<');
  /** Returns whether a plan that was predicted only may be on the front, as the terminal counts
   *  them. */
  const mayBe = (trial) => trial.p_front === null || trial.p_front > 0.05;
  const date = (text) => (text || '').replace('T', ' ').replace(/(\.\d+)?Z$/, ' UTC');

  /** el('b', {class: 'x'}, 'text', child) makes an element with attributes and children; functions
   *  are listeners. */
  const el = (tag, attributes = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (typeof value === 'function') element.addEventListener(name, value);
      else if (value !== undefined && value !== false) element.setAttribute(name, value);
    }
    element.append(...children.filter((child) => child !== undefined && child !== null));
    return element;
  };
  const swatch = (part) => el('i', {class: 'swatch', style: `background: var(--${part})`});
  const shapeIcon = (kind, colour, edge = 'none') => {
    const icon = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
    icon.setAttribute('viewBox', '0 0 12 12');
    icon.setAttribute('width', '11');
    icon.setAttribute('height', '11');
    const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
    path.setAttribute('d', SHAPE_PATHS[kind % 4]);
    path.style.fill = colour;
    path.style.stroke = edge;
    path.style.strokeWidth = 1.5;
    icon.style.overflow = 'visible';
    icon.setAttribute('aria-hidden', 'true');
    icon.append(path);
    return icon;
  };
  /** A drawing of lines, 20 by 8. */
  const pathIcon = (path, colour, width, dashes = 'none', cap = 'butt') => {
    const icon = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
    icon.setAttribute('viewBox', '0 0 20 8');
    icon.setAttribute('width', '20');
    icon.setAttribute('height', '8');
    icon.setAttribute('aria-hidden', 'true');
    const line = document.createElementNS('http://www.w3.org/2000/svg', 'path');
    line.setAttribute('d', path);
    line.style.fill = 'none';
    line.style.stroke = colour;
    line.style.strokeWidth = width;
    line.style.strokeDasharray = dashes;
    line.style.strokeLinecap = cap;
    icon.append(line);
    return icon;
  };
  /** A dot of that size, as charts draw it. */
  const dotIcon = (colour, size) => pathIcon('M10 4h0', colour, size, 'none', 'round');
  /** A short line, as charts draw it. */
  const lineIcon = (colour, dashes) => pathIcon('M0 4h20', colour, 2, dashes);
  /** Returns how long a part takes; "–" for a rest that is not there: medians of computing and of
   *  transfer may add up to more than that of the whole. Less than is ever shown is rounding. */
  const partText = (trial, part) => (trial.time_split_ms[part] > -0.0005 ? `${short(Math.max(0, trial.time_split_ms[part]))} ms` : '–');
  const bar = (trial, scale) => {
    const parts = PARTS.map(([part]) => Math.max(0, trial.time_split_ms[part]));
    const whole = scale || parts.reduce((sum, part) => sum + part, 0);
    return el('span', {class: 'bar'}, ...PARTS.map(([part], i) =>
      el('i', {style: `width:${100 * parts[i] / whole}%;background:var(--${part})`})));
  };

  const colours = () => {
    const style = getComputedStyle(document.documentElement);
    return (name) => style.getPropertyValue(`--${name}`).trim();
  };

  /** A group of buttons of which one is pressed. */
  const segments = (label, values, current, onPick) => el('div', {class: 'segmented', role: 'group', 'aria-label': label},
    ...values.map(([value, text]) => toggle(`${label} ${value}`, value === current, () => onPick(value), text)));
  /** A button that is made again with every drawing. By its key it keeps the focus. */
  const toggle = (key, pressed, click, ...children) => el('button', {type: 'button', 'data-key': key, 'aria-pressed': String(pressed), click}, ...children);
  /** Draws again, and keeps the focus where it was. */
  const keepingFocus = (draw) => {
    const held = document.activeElement && document.activeElement.dataset.key;
    draw();
    const again = held && document.querySelector(`[data-key="${CSS.escape(held)}"]`);
    if (again && again !== document.activeElement) again.focus({preventScroll: true});
  };
  /** Makes a table of heads [text, class] and rows of cells, each a list of nodes; `rows` may hold
   *  whole <tr> too. */
  const fill = (table, heads, rows) => table.replaceChildren(
    el('thead', {}, el('tr', {}, ...heads.map(([head, kind]) => el('th', {class: kind, scope: 'col'}, head)))),
    el('tbody', {}, ...rows.map((row) => (row instanceof Element ? row
      : el('tr', {}, ...row.map((cell, i) => el('td', {class: heads[i][1]}, ...[cell].flat())))))));

  return {byId, PARTS, STEPS, shapeOf, colourOf, figure, short, range, bytes, percent, chance, roundsOf, perhaps, mayBe, date, devicesOf, nameOf, isAlone, wayOf, overOf, settingsOf, crossesOf, latency, rate, el, swatch, shapeIcon, lineIcon, pathIcon, dotIcon,
    partText, bar, colours, segments, toggle, keepingFocus, fill};
})();
