// The report's page: reads the run from #run (client/report/page_data.h), makes the parts, and
// draws them after every choice. Text from the run only ever becomes text nodes.
(() => {
  'use strict';
  const {byId} = common;
  addEventListener('error', (event) => {
    byId('problem').hidden = false;
    byId('problem').textContent = `This page met an error: ${event.message}`;
  });

  const view = makeView(JSON.parse(byId('run').textContent));
  const networks = makeNetworks(view);
  const parts = [];
  const draw = () => common.keepingFocus(() => {
    view.look();
    for (const part of parts) part.draw();
    view.remember();
  });
  /** Draws again what another theme or width changes: only pictures. */
  const paint = () => { for (const part of parts) if (part.paint) part.paint(); };
  const page = {
    draw,
    figure: new URLSearchParams(location.hash.slice(1)).get('figure') === 'front',
    select: (trial) => {
      const there = trial.condition === view.choice.condition && trial.batch === view.choice.batch;
      view.choice.condition = trial.condition;
      view.choice.plan = trial.id;
      if (!there) return draw();
      common.keepingFocus(() => { for (const part of parts) if (part.drawChosen) part.drawChosen(); });
      for (const button of document.querySelectorAll('[data-plan]')) button.setAttribute('aria-pressed', String(button.dataset.plan === trial.id));
      view.remember();
    },
    chooseCondition: (condition) => {
      view.chooseCondition(condition);
      draw();
    },
    selectOnClick: (chart) => chart.on('click', ({data}) => {
      const trial = data && view.byTrial.get(data.trial);
      if (trial && trial.status === 'ok') page.select(trial);
    }),
    /** Calls `then` when an element has another size, in the next frame: in the observer's own turn
     *  it would report a loop. */
    watch: (element, then) => new ResizeObserver(() => requestAnimationFrame(then)).observe(element),
  };

  theme(paint);
  if (page.figure) return figureOf(view, networks, page);
  /** A card is null where the run has nothing for it. */
  const add = (...cards) => parts.push(...cards.filter(Boolean));
  const table = plansTable(view, page);
  const chart = frontChart(view, page);
  const saves = downloads(view);
  byId('save-chart').replaceChildren(saves.png(chart.picture));
  byId('save-table').replaceChildren(saves.csv(table.sorted), saves.json());
  add(chartControls(view, page), filtersBar(view, page), chart, detailCard(view, page, saves), waterfallCard(view, page), timesCard(view, page), table);
  if (view.conditions.length > 1) add(frontsCard(view, networks, page), movesChart(view, networks, page), movesTable(view, networks, page));
  add(accuracyCard(view, networks, page));
  devicesCard(view, networks);
  aboutRun(view);
  keys(view, page);
  scrolls(page);
  draw();
})();
