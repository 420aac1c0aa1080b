// The page of a model's picture: moves, zooms and searches, shows what a card is, and colours both
// sides of a cut that is chosen.
'use strict';
module.exports = async ({open, assert, frame, text, contrast}) => {
  const page = await open();
  const count = (selector) => page.locator(selector).count();
  const place = () => page.evaluate(() => document.getElementById('scene').getAttribute('transform'));
  const data = await page.evaluate(() => JSON.parse(document.getElementById('data').textContent));
  assert.equal(await count('#scene .card'), data.nodes.length);
  assert.equal(await count('#scene .edge.crosses'), 0);

  // A cut: the stem and the right branch lie before it.
  const row = data.cuts.findIndex((cut) => cut.name === 'after:right');
  await page.locator('#cuts tbody tr').nth(row).click();
  await frame(page);
  const stages = await page.locator('#scene .card').evaluateAll((cards) => cards.map((card) => [...card.classList].find((name) => /^s\d$/.test(name))));
  assert.deepEqual(stages, ['s0', 's0', 's0', 's1', 's0', 's0', 's1', 's1', 's1', 's1']);
  assert.equal(await count('#scene .edge.crosses'), 3);
  assert.equal(await count('#scene .et'), 3, 'each says what crosses');
  assert.equal(await count('#scene .card.boundary'), 2);
  assert.match(await text(page, '#stages'), /before after:right/);
  await page.click('#no-cut');
  assert.equal(await count('#scene .edge.crosses'), 0);
  assert.equal(await count('#scene .et'), 0);
  await page.locator('#cuts tbody tr').nth(row).press('Enter');
  assert.equal(await count('#scene .edge.crosses'), 3, 'by the keyboard as well');
  await page.click('#no-cut');

  // Search.
  await page.keyboard.press('/');
  await page.keyboard.type('conv2d weight');
  assert.equal(await count('#scene .card.match'), 3);
  assert.equal(await text(page, '#found'), '3 found');
  await page.keyboard.press('Enter');
  assert.equal(await text(page, '#found'), '1 of 3');
  assert.match(await text(page, '#detail h2'), /conv2d/);
  assert.match(await text(page, '#detail'), /4x3x3x3/);
  await page.keyboard.press('Escape');
  assert.equal(await count('#scene .card.match'), 0);

  // Zoom, and moves.
  await page.keyboard.press('0');
  await frame(page);
  const fitted = await place();
  await page.keyboard.press('+');
  await frame(page);
  const near = await place();
  assert.notEqual(near, fitted);
  await page.keyboard.press('ArrowDown');
  await frame(page);
  assert.notEqual(await place(), near);
  const box = await page.locator('#view').boundingBox();
  const before = await place();
  await page.mouse.move(box.x + 30, box.y + 30);
  await page.mouse.down();
  await page.mouse.move(box.x + 90, box.y + 80, {steps: 3});
  await page.mouse.up();
  await frame(page);
  assert.notEqual(await place(), before, 'dragged');
  await page.mouse.wheel(0, 60);
  await frame(page);
  await page.click('#fit');
  await frame(page);
  assert.equal(await place(), fitted);

  // A card that is clicked, and its neighbours.
  await page.locator('#scene .card').nth(2).click();
  assert.match(await text(page, '#detail h2'), /relu/);
  assert.equal(await count('#scene .edge.near'), 3);
  await page.locator('#detail .neighbours button').first().click();
  assert.match(await text(page, '#detail h2'), /conv2d/);

  // Heat, in both themes.
  await page.selectOption('#heat', '2');
  const hottest = () => page.locator('#scene .card').nth(1).locator('.paper').evaluate((paper) => getComputedStyle(paper).fill);
  const letters = () => page.locator('#scene .card').nth(1).locator('.t').evaluate((title) => getComputedStyle(title).fill);
  const light = await hottest();
  assert.ok(contrast(light, await letters()) >= 4.5, 'a hot card can be read');
  assert.match(await text(page, '#ramp'), /FLOPs of one sample, up to 5 K/);
  const was = await page.evaluate(() => document.documentElement.dataset.theme);
  await page.click('#theme');
  assert.notEqual(await page.evaluate(() => document.documentElement.dataset.theme), was);
  assert.ok(contrast(await hottest(), await letters()) >= 4.5, 'in the other theme too');
};
