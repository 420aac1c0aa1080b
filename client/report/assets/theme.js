// Light and dark: as the system has it until the reader switches; and what paper needs.
const theme = (paint) => {
  'use strict';
  const {byId} = common;
  const root = document.documentElement;
  const wished = matchMedia('(prefers-color-scheme: dark)');
  const named = new URLSearchParams(location.hash.slice(1)).get('theme');
  let printing = null;  // the theme to go back to
  const set = (name) => {
    root.dataset.theme = name;
    byId('theme').setAttribute('aria-pressed', String(name === 'dark'));
  };
  const change = (name) => {
    set(name);
    paint();
  };
  set(named === 'dark' || named === 'light' ? named : wished.matches ? 'dark' : 'light');
  wished.addEventListener('change', () => change(wished.matches ? 'dark' : 'light'));
  byId('theme').addEventListener('click', () => change(root.dataset.theme === 'dark' ? 'light' : 'dark'));
  // Paper is white, and has another width than the screen: with a view box drawings are scaled to it, by the style sheet. What is folded
  // away is left out: plans by the hundred.
  addEventListener('beforeprint', () => {
    printing = root.dataset.theme;
    if (printing === 'dark') change('light');
    for (const svg of document.querySelectorAll('.picture svg, .small-chart svg')) {
      svg.setAttribute('viewBox', `0 0 ${svg.getAttribute('width')} ${svg.getAttribute('height')}`);
    }
  });
  addEventListener('afterprint', () => {
    if (printing === 'dark') change('dark');
    printing = null;
  });
};
