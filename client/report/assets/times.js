// Where the latency of each plan on the front goes: a bar a plan, on one scale.
const timesCard = (view, page) => {
  'use strict';
  const {byId, PARTS, figure, short, nameOf, latency, el, swatch, bar} = common;
  const draw = () => {
    byId('time-legend').replaceChildren(...PARTS.map(([part, text]) => el('span', {}, swatch(part), text)));
    const plans = [...view.front];
    const chosen = view.chosen();
    if (chosen && !view.isFront(chosen)) plans.push(chosen);
    const scale = Math.max(...plans.map(latency));
    byId('times').replaceChildren(...plans.map((trial) => el('button',
      {class: 'time', type: 'button', 'data-key': `time ${trial.id}`, 'aria-pressed': String(trial === chosen), click: () => page.select(trial),
        title: PARTS.map(([part, text]) => `${text} ${short(trial.time_split_ms[part])} ms`).join(', ')},
      el('span', {}, nameOf(trial), el('span', {class: 'muted'}, ` ${trial.transport}${view.isFront(trial) ? '' : ', beaten'}`)),
      bar(trial, scale), el('span', {}, `${figure(latency(trial))} ms`))));
  };
  return {draw, drawChosen: draw};
};
