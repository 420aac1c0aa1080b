// Tables that are wider than their card say so, and show on which side columns go on.
const scrolls = (page) => {
  'use strict';
  for (const box of document.querySelectorAll('.scroll')) {
    const mark = () => {
      const beyond = box.scrollWidth - box.clientWidth;
      box.toggleAttribute('data-wide', beyond > 1);
      box.toggleAttribute('data-left', beyond > 1 && box.scrollLeft > 1);
      box.toggleAttribute('data-right', beyond > 1 && box.scrollLeft < beyond - 1);
    };
    box.addEventListener('scroll', mark, {passive: true});
    page.watch(box, mark);
    page.watch(box.firstElementChild, mark);
  }
};
