// Light and dark: as the system has it, and as the switch says; text can be read in both.
'use strict';
module.exports = async ({open, assert, frame, contrast}) => {
  for (const scheme of ['light', 'dark']) {
    const other = scheme === 'light' ? 'dark' : 'light';
    const page = await open('', {colorScheme: scheme});
    const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
    const colours = () => page.evaluate(() => {
      const of = (selector) => getComputedStyle(document.querySelector(selector));
      return {card: of('.card').backgroundColor, page: of('body').backgroundColor, ink: of('body').color, note: of('#chart-note').color, row: of('#trials tbody tr:not(.front)').color,
        label: document.querySelector('#chart svg text').getAttribute('fill')};
    });
    assert.equal(await theme(), scheme);
    const before = await colours();
    for (const [text, ground] of [['ink', 'card'], ['ink', 'page'], ['note', 'card'], ['row', 'card']]) {
      assert.ok(contrast(before[text], before[ground]) >= 4.5, `${scheme}: ${text} on ${ground}: ${contrast(before[text], before[ground])}`);
    }
    await page.emulateMedia({colorScheme: other});
    await frame(page);
    assert.equal(await theme(), other, 'it follows the system');
    const after = await colours();
    assert.notEqual(after.card, before.card);
    assert.notEqual(after.label, before.label, 'charts are drawn in the new colours');
    await page.click('#theme');
    assert.equal(await theme(), scheme, 'and the switch');
    assert.deepEqual(await colours(), before);
    await page.emulateMedia({colorScheme: scheme});
    await page.emulateMedia({colorScheme: other});
    await frame(page);
    assert.equal(await theme(), scheme, 'what was chosen stays');
  }
};
