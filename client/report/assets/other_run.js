// Another run, laid over the chart of the front. It is read from a file that the reader chooses (a
// report, or what `sweep --json` and this page write), or comes with the page by `report --with`.
// It is drawn, and compared in words; nothing of it can be chosen.
const otherRun = (() => {
  'use strict';
  const {el} = common;

  /** Returns the run in a report's page or in a JSON file. Throws an Error with a sentence for the
   *  reader. */
  const read = (text) => {
    let json = text;
    if (/^\s*</.test(text)) {
      const held = new DOMParser().parseFromString(text, 'text/html').getElementById('run');
      if (!held) throw new Error('this page is no report of a run');
      json = held.textContent;
    }
    let run = null;
    try { run = JSON.parse(json); } catch { throw new Error('it is neither a report nor JSON'); }
    const whole = run && Array.isArray(run.trials) && run.trials.every((trial) => trial && trial.plan && Array.isArray(trial.plan.stages)
      && (trial.status !== 'ok' || (trial.latency_ms && trial.throughput && Array.isArray(trial.links) && Array.isArray(trial.stages))));
    if (!whole) throw new Error('it holds no run: choose a report, or what sweep --json wrote');
    return run;
  };
  /** Makes what is drawn of a run: its plans of the batch and network chosen. If it knows only one
   *  network, that is taken for the one chosen. */
  const make = (run, view) => {
    const measured = run.trials.filter((trial) => trial.status === 'ok').map((trial) => ({...trial, plan: {...run.plan, ...trial.plan}}));
    const conditions = new Set(measured.map((trial) => trial.condition));
    const {figures, choice} = view;
    const under = () => measured.filter((trial) => trial.batch === choice.batch && (conditions.size === 1 || trial.condition === choice.condition)
      && figures.has(view.x, trial) && figures.has(view.y, trial));
    return {name: [run.model === view.run.model ? '' : run.model, run.run || 'another run'].filter(Boolean).join(' '), model: run.model, conditions, batches: new Set(measured.map((trial) => trial.batch)), under, front: () => view.frontOf(under()),
      byTrial: new Map(measured.map((trial) => [trial.id, trial]))};
  };
  const series = (view, x, y, colour) => {
    const {other} = view;
    const place = (trial) => [view.x.value(trial), view.y.value(trial)];
    const front = other.front();
    const edge = axes.edge(front.map(place), x, y, colour, view.y.less);
    return [{...edge, areaStyle: undefined, lineStyle: {color: colour('other'), width: 1.6, type: 'dashed'}},
      {id: 'other', type: 'scatter', z: 2, clip: true, symbol: 'circle', data: other.under().map((trial) => ({value: place(trial), other: trial.id, symbolSize: front.includes(trial) ? 8 : 5,
        itemStyle: {color: front.includes(trial) ? colour('other') : 'transparent', borderColor: colour('other'), borderWidth: 1, opacity: front.includes(trial) ? 1 : 0.5}}))}];
  };
  /** Says why nothing of a run is drawn. */
  const nothingOf = ({name, conditions, batches}, choice) => {
    if (!conditions.size) return `${name} has no plan measured.`;
    if (!batches.has(choice.batch)) return `${name} has no plan of batch ${choice.batch}: its batches are ${[...batches].join(', ')}.`;
    if (conditions.size > 1 && !conditions.has(choice.condition)) return `${name} has no network ${choice.condition}: it has ${[...conditions].join(', ')}.`;
    return `${name} has no plan with the figures on the axes at batch ${choice.batch}${conditions.size > 1 ? ` under ${choice.condition}` : ''}.`;
  };
  /** Says what changed from the other run to this one. */
  const compared = (view) => {
    const {other, choice, run} = view;
    const theirs = other.front();
    // Figures of two models say nothing of what changed in one.
    const model = other.model === run.model ? '' : `Another model: ${other.model}, where this run has ${run.model}. `;
    if (!theirs.length) return model + nothingOf(other, choice);
    if (!view.front.length) return model;
    const best = (figure, trials) => trials.reduce((best_, trial) => ((figure.value(trial) < figure.value(best_)) === figure.less ? trial : best_));
    return `${model}Against ${other.name}: ` + [view.x, view.y].map((figure) => {
      const [here, there] = [figure.value(best(figure, view.front)), figure.value(best(figure, theirs))];
      const change = here / there - 1;
      return `${figure.best.toLowerCase()} ${figure.text(here)} instead of ${figure.text(there)}${Number.isFinite(change) ? ` (${change < 0 ? '−' : '+'}${common.percent(Math.abs(change))})` : ''}`;
    }).join('; ') + '.';
  };
  /** Makes the controls: a file to choose, a sentence, and a button to take the run away. */
  const control = (view, page) => {
    const embedded = document.getElementById('other').textContent.trim();
    if (embedded) view.other = make(JSON.parse(embedded), view);
    const say = el('span', {class: 'muted', role: 'status', id: 'other-note'});
    const show = () => {
      drop.hidden = !view.other;
      say.textContent = view.other ? compared(view) : '';
    };
    const file = el('input', {type: 'file', id: 'other-file', accept: '.html,.json', class: 'unseen', change: async () => {
      const [chosen] = file.files;
      if (!chosen) return;
      const before = view.other;
      try {
        view.other = make(read(await chosen.text()), view);
        page.draw();
      } catch (error) {
        view.other = before;
        page.draw();
        say.textContent = `${chosen.name} cannot be compared: ${error.message}.`;
      }
      file.value = '';
    }});
    const drop = el('button', {type: 'button', class: 'action', 'data-key': 'other none', click: () => {
      view.other = null;
      page.draw();
    }}, 'Remove');
    const pick = el('label', {class: 'action', for: 'other-file', title: 'A report.html, or a JSON file of sweep --json or of this page'}, 'Compare with a run…');
    return {nodes: [file, pick, drop], say, draw: show};
  };
  return {control, series};
})();
