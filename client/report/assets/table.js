// Every plan shown as a row: sorted by any column, chosen by a click or, with the arrow keys, from
// row to row.
const plansTable = (view, page) => {
  'use strict';
  const {byId, figure, range, crossesOf, nameOf, latency, rate, el, bar} = common;
  const {choice} = view;
  const table = byId('trials');

  const intervalOf = ({ci95}) => (view.together ? '' : el('small', {}, range(ci95)));
  const COLUMNS = [
    ['plan', view.together ? 'Pipeline' : 'Plan', (trial) => (trial.split ? trial.split.position : -1), (trial) => [el('i', {class: 'dot'}), nameOf(trial)], 'text'],
    ['transport', 'Transport', (trial) => trial.travel, (trial) => [trial.travel], 'text'],
    ['threads', 'Threads', (trial) => trial.threads, (trial) => [trial.threads], 'text'],
    ['schedule', 'Schedule', (trial) => trial.schedule, (trial) => [trial.schedule], 'text'],
    ['latency', 'p50 ms', latency, (trial) => [figure(latency(trial)), intervalOf(trial.latency_ms)]],
    ['measured', 'Measured', (trial) => trial.latency_ms.measured_p50, (trial) => [figure(trial.latency_ms.measured_p50), el('small', {}, `${figure(trial.throughput.measured_samples_per_s)} /s`)]],
    ['rounds', 'Rounds', (trial) => trial.rounds, (trial) => [String(trial.rounds)]],
    ['p90', 'p90 ms', (trial) => trial.latency_ms.p90, (trial) => [figure(trial.latency_ms.p90)]],
    ['p99', 'p99 ms', (trial) => trial.latency_ms.p99, (trial) => [figure(trial.latency_ms.p99)]],
    ['throughput', 'Samples/s', rate, (trial) => [figure(rate(trial)), intervalOf(trial.throughput)]],
    ['window', 'Window', (trial) => trial.throughput.window, (trial) => [view.together ? String(trial.throughput.window) : `${trial.latency_ms.window}, ${trial.throughput.window}`]],
    ['bytes', 'Crosses', (trial) => (trial.split ? trial.split.boundary_bytes : 0), (trial) => [crossesOf(trial)]],
    ['time', 'Computing, transfer, the rest', (trial) => trial.time_split_ms.compute / latency(trial), (trial) => [bar(trial)]],
    ['p', 'P(front)', (trial) => trial.p_front, (trial) => [trial.p_front_text]],
  ];
  // Figures shown are those measured, unless predictions have a say in them.
  const same = view.measured.every((trial) => figure(trial.latency_ms.measured_p50) === figure(latency(trial)) && figure(trial.throughput.measured_samples_per_s) === figure(rate(trial)));
  /** The figures on the axes have columns too. */
  const columns = () => {
    const more = [view.x, view.y].filter(({id}) => !COLUMNS.some(([own]) => own === id));
    const none = [...(view.together ? ['transport', 'rounds', 'p', 'measured'] : same ? ['measured'] : []), ...['threads', 'schedule'].filter((id) => !view.varied.includes(id))];
    const shown = COLUMNS.filter(([id]) => !none.includes(id));
    return [...shown.slice(0, -1), ...more.map((one) => [one.id, one.name, one.value, (trial) => [one.text(one.value(trial))]]), shown.at(-1)];
  };
  const sortBy = (id) => {
    choice.descending = choice.sort === id && !choice.descending;
    choice.sort = id;
    common.keepingFocus(draw);
  };
  const rows = new Map();  // of what is shown
  /** The one row that the tab key reaches is the one chosen, or the first. */
  const mark = () => {
    let reached = rows.get(view.chosen());
    for (const [trial, row] of rows) {
      const chosen = trial === view.chosen();
      row.classList.toggle('chosen', chosen);
      row.setAttribute('aria-selected', String(chosen));
      row.tabIndex = -1;
      reached = reached || row;
    }
    if (reached) reached.tabIndex = 0;
  };
  const sorted = () => {
    const key = (columns().find(([id]) => id === choice.sort) || COLUMNS.find(([id]) => id === 'latency'))[2];
    const order = choice.descending ? -1 : 1;
    return [...view.shown].sort((a, b) => order * (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : latency(a) - latency(b)));
  };
  /** Where the plans are that were predicted only: the table has none. */
  const predictedText = () => (!view.expected.length ? ''
    : ` ${view.expected.length} more ${view.expected.length === 1 ? 'plan was' : 'plans were'} predicted only: small dots of the chart, and rows of “paretoctl export ${view.run.run} --csv”.`);
  const draw = () => {
    rows.clear();
    for (const trial of sorted()) {
      rows.set(trial, el('tr', {class: `${view.standing(trial)}${view.meets(trial) ? '' : ' late'}`, 'data-key': `plan ${trial.id}`, 'data-plan-row': trial.id, click: () => page.select(trial)},
        ...columns().map(([, , , cell, kind]) => el('td', {class: kind}, ...cell(trial)))));
    }
    table.replaceChildren(
      el('thead', {}, el('tr', {}, ...columns().map(([id, title, , , kind]) => el('th',
        {class: kind, scope: 'col', 'aria-sort': choice.sort === id ? (choice.descending ? 'descending' : 'ascending') : undefined},
        el('button', {type: 'button', 'data-key': `sort ${id}`, click: () => sortBy(id)}, title + (choice.sort === id ? (choice.descending ? ' ↓' : ' ↑') : '')))))),
      el('tbody', {}, ...rows.values()));
    mark();
    byId('table-note').textContent = view.shown.length
      ? view.together ? 'Window: how many of its requests are in flight. Sort by a heading, choose a row.'
      : `Windows: requests in flight for latency and for throughput. Intervals are 95 %.${same ? '' : ' Measured: the medians of the rounds.'} Sort by a heading, choose a row.${predictedText()}`
      : view.pool.length ? 'No plan measured has such a name.' : 'Nothing was measured for this choice.';
  };
  table.addEventListener('keydown', (event) => {
    const row = event.target.closest('tr[data-plan-row]');
    const next = row && (event.key === 'ArrowDown' ? row.nextElementSibling : event.key === 'ArrowUp' ? row.previousElementSibling
      : event.key === 'Enter' ? row : null);
    if (!next) return;
    event.preventDefault();
    page.select(view.byTrial.get(next.dataset.planRow));
    next.focus();
  });
  return {draw, drawChosen: mark, sorted};
};
