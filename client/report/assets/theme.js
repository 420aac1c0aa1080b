// Light and dark: as the system has it until the reader switches; and what paper needs.
const theme = (paint) => {
  'use strict';
  const {byId} = common;
  const root = document.documentElement;
  const wished = matchMedia('(prefers-color-scheme: dark)');
  const named = new URLSearchParams(location.hash.slice(1)).get('theme');
  const PAPER_WIDTH = 680;
  let printing = null;  // the theme to go back to
  let chosen = named === 'dark' || named === 'light';
  const set = (name) => {
    root.dataset.theme = name;
    byId('theme').setAttribute('aria-pressed', String(name === 'dark'));
  };
  const change = (name) => {
    set(name);
    paint();
  };
  const ofSystem = () => (wished.matches ? 'dark' : 'light');
  set(chosen ? named : ofSystem());
  wished.addEventListener('change', () => { if (!chosen) change(ofSystem()); });
  byId('theme').addEventListener('click', () => {
    chosen = true;
    change(root.dataset.theme === 'dark' ? 'light' : 'dark');
  });
  const charts = () => [...document.querySelectorAll('.picture, .small-chart')].map((element) => echarts.getInstanceByDom(element)).filter(Boolean);
  // Paper is white, and has another width than the screen: drawings are made about as wide, and
  // with a view box the style sheet scales them.
  addEventListener('beforeprint', () => {
    printing = root.dataset.theme;
    if (printing === 'dark') change('light');
    for (const chart of charts()) {
      chart.resize({width: Math.min(chart.getWidth(), PAPER_WIDTH)});
      chart.getZr().flush();  // no frame comes before the paper
      const svg = chart.getDom().querySelector('svg');
      if (svg) svg.setAttribute('viewBox', `0 0 ${svg.getAttribute('width')} ${svg.getAttribute('height')}`);
    }
  });
  addEventListener('afterprint', () => {
    for (const chart of charts()) chart.resize({width: 'auto'});
    if (printing === 'dark') change('dark');
    printing = null;
  });
};
