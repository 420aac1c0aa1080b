// The page serves those who do not see it: every picture has a name and a table, every table and
// control a name, and headings stand in order.
'use strict';
module.exports = async ({open, assert}) => {
  const page = await open();
  const faults = await page.evaluate(() => {
    const nameOf = (element) => element.getAttribute('aria-label') || (element.getAttribute('aria-labelledby') || '').split(' ')
      .map((id) => id && document.getElementById(id) ? document.getElementById(id).textContent : '').join('') || (element.labels && element.labels[0] ? element.labels[0].textContent : '') || element.textContent;
    const found = [];
    for (const element of document.querySelectorAll('[role="img"], [role="application"], [role="group"], table, button, input, select, section, aside, nav')) {
      if (element.checkVisibility() && !nameOf(element).trim()) found.push(`no name: ${element.outerHTML.slice(0, 90)}`);
    }
    for (const picture of document.querySelectorAll('.picture, .small-chart')) {
      if (picture.checkVisibility() && !/table/.test(nameOf(picture))) found.push(`no table: ${nameOf(picture)}`);
    }
    for (const head of document.querySelectorAll('th')) if (!head.scope && !head.getAttribute('aria-label')) found.push(`no scope: ${head.textContent}`);
    const levels = [...document.querySelectorAll('h1, h2, h3')].map((heading) => Number(heading.tagName[1]));
    levels.forEach((level, i) => { if (i ? level > levels[i - 1] + 1 : level !== 1) found.push(`heading ${i} of level ${level}`); });
    const ids = [...document.querySelectorAll('[id]')].map(({id}) => id);
    for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) found.push(`twice: ${id}`);
    return found;
  });
  assert.deepEqual(faults, []);
  assert.equal(await page.locator('#detail').getAttribute('aria-live'), 'polite', 'a choice is told');
  const front = Number(await page.locator('#chart').getAttribute('data-front'));
  await page.click('#fronts summary');
  assert.ok(await page.locator('#fronts-table tbody tr').count() >= front);
};
