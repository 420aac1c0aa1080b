// Keys that mean something wherever the focus is: '/' goes to the filter of names, Escape lets go
// of what was chosen or looked for.
const keys = (view, page) => {
  'use strict';
  const {byId} = common;
  const find = byId('find');
  addEventListener('keydown', (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === '/' && document.activeElement !== find) {
      event.preventDefault();
      find.focus();
      find.select();
    } else if (event.key === 'Escape' && document.activeElement === find) {
      view.choice.find = '';
      page.draw();
      byId('chart').focus();
    } else if (event.key === 'Escape' && view.usual()) {
      page.select(view.usual());
    }
  });
};
