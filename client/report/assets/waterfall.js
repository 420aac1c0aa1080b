// One request of the plan chosen, step by step, from the timeline that was kept of it: when each
// link and each stage was at work, and with what. Picture and table are one: a row a step, its bar
// next to its figures. Null, and no card, where no request of any plan was kept.
const waterfallCard = (view, page) => {
  'use strict';
  const {byId, STEPS, figure, short, nameOf, el, swatch, segments} = common;
  const {choice} = view;
  if (!view.measured.some((trial) => trial.requests)) return null;
  const KINDS = [['p50', 'Median'], ['p90', 'p90'], ['p99', 'p99']];

  /** Returns the rows of a request: {title, note, parts: [[part, ms], …]} one after the other, and
   *  what no clock saw. */
  const rowsOf = (trial, request) => {
    const [total, ...times] = request;
    const stages = trial.plan.stages.length;
    const rows = [];
    const seen = times.reduce((sum, time) => sum + time, 0);
    // No clock saw what passes when a message is handed to a link: the source encodes, threads
    // wake, messages are written. Each link has an equal part.
    const between = Math.max(0, total - seen) / (stages + 1);
    for (let i = 0; i <= stages; ++i) {
      const [transfer, wait, compute, encode] = times.slice(4 * i, 4 * i + 4);
      const from = i === 0 ? 'coordinator' : trial.plan.stages[i - 1].device;
      const to = i === stages ? 'coordinator' : trial.plan.stages[i].device;
      rows.push({title: `${from} → ${to}`, note: i < trial.links.length ? trial.links[i].transport : '', parts: [...(between > 0 ? [['between', between]] : []), ['transfer', transfer]]});
      if (i < stages) rows.push({title: to, note: '', parts: [['wait', wait], ['compute', compute], ['encode', encode]]});
    }
    return {rows, total, seen};
  };
  /** About five round numbers from 0 on. */
  const ticksTo = (end) => {
    const rough = end / 5;
    const unit = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((times) => times * unit).find((size) => size >= rough);
    return Array.from({length: Math.floor(end / step) + 1}, (_, i) => Number((i * step).toPrecision(6)));
  };
  const share = (value, end) => `${(100 * value / end).toFixed(3)}%`;
  const textOf = (parts) => parts.map(([part, time]) => `${STEPS.find(([name]) => name === part)[1]} ${short(time)}`).join(' · ');

  const table = (rows, end) => {
    const ticks = ticksTo(end);
    let at = 0;
    const body = rows.map(({title, note, parts}) => {
      const whole = parts.reduce((sum, [, time]) => sum + time, 0);
      const bars = parts.map(([part, time]) => {
        const bar = el('i', {style: `left:${share(at, end)};width:${share(time, end)};background:var(--${part})`});
        at += time;
        return bar;
      });
      return el('tr', {}, el('th', {scope: 'row'}, title, el('small', {}, parts.length > 1 ? textOf(parts) : note)),
        el('td', {class: 'track', role: 'img', 'aria-label': `from ${short(at - whole)} to ${short(at)} ms: ${textOf(parts)}`},
          el('div', {}, ...ticks.map((tick) => el('u', {style: `left:${share(tick, end)}`})), ...bars)),
        el('td', {}, `${short(whole)} ms`));
    });
    return [el('thead', {}, el('tr', {}, el('th', {scope: 'col'}, 'Step'),
      el('th', {class: 'track', 'aria-label': 'When, in ms since the request was sent'}, el('div', {}, ...ticks.map((tick) => el('span', {style: `left:${share(tick, end)}`}, String(tick))))),
      el('th', {scope: 'col'}, 'Takes'))), el('tbody', {}, ...body)];
  };
  const draw = () => {
    const trial = view.chosen();
    const request = trial && trial.requests && trial.requests[choice.request];
    byId('waterfall-kinds').replaceChildren(segments('Request', KINDS, choice.request, (value) => {
      choice.request = value;
      page.draw();
    }));
    byId('waterfall-legend').replaceChildren(...STEPS.map(([part, text]) => el('span', {}, swatch(part), text)));
    if (!request) {
      byId('waterfall-note').textContent = trial ? 'Of this plan no request was kept.' : 'No plan is chosen.';
      byId('waterfall-table').replaceChildren();
      return;
    }
    const {rows, total, seen} = rowsOf(trial, request);
    const which = KINDS.find(([kind]) => kind === choice.request)[1].toLowerCase();
    byId('waterfall-note').textContent = `${nameOf(trial)}: the request nearest to the ${which} of ${trial.latency_ms.samples} took ${figure(total)} ms`
      + (choice.request === 'p50' ? ` (p50 ${figure(trial.latency_ms.measured_p50)})` : '')
      + `. A transfer is half the link's smallest round trip and the time from the first byte to the last. In between, which no clock saw, messages are encoded and written and threads wake: an equal part at each link.${seen > 1.02 * total ? ' Its messages overlap.' : ''}`;
    byId('waterfall-table').replaceChildren(...table(rows, Math.max(total, seen)));
    byId('waterfall-table').dataset.steps = rows.length;
  };
  byId('waterfall').hidden = false;
  return {draw, drawChosen: draw};
};
