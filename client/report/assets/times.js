// Where the latency of each plan on the front goes: a bar a plan, on one scale.
const timesCard = (view, page) => {
  'use strict';
  const {byId, PARTS, figure, nameOf, latency, el, swatch, partText, bar} = common;
  const draw = () => {
    byId('time-legend').replaceChildren(...PARTS.map(([part, text]) => el('span', {}, swatch(part), text)));
    byId('times-note').textContent = view.together
      ? 'Latency (p50) of each kind of pipeline, split as the means of its parts are: into computing, transfer, and the rest, which are queues. Choose one to see its stages.'
      : 'Latency (p50) of each plan on the front, split into computing and transfer, medians of each, and the rest: queues, encoding, threads that wake, and what medians leave. Choose one to see its stages.';
    const plans = view.together ? [...view.shown].sort((a, b) => latency(a) - latency(b)) : [...view.front];
    const chosen = view.chosen();
    if (chosen && !plans.includes(chosen)) plans.push(chosen);
    const scale = Math.max(...plans.map((trial) => Math.max(latency(trial), trial.time_split_ms.compute + trial.time_split_ms.transfer)));
    byId('times').replaceChildren(...plans.map((trial) => el('button',
      {class: 'time', type: 'button', 'data-key': `time ${trial.id}`, 'aria-pressed': String(trial === chosen), click: () => page.select(trial),
        title: PARTS.map(([part, text]) => `${text} ${partText(trial, part)}`).join(', ')},
      el('span', {}, nameOf(trial), el('span', {class: 'muted'}, view.together ? '' : ` ${trial.transport}${view.isFront(trial) ? '' : ', beaten'}`)),
      bar(trial, scale), el('span', {}, `${figure(latency(trial))} ms`))));
  };
  return {draw, drawChosen: draw};
};
