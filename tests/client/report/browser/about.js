// Parts of the page that do not depend on what is chosen: a network that was skipped, once, and the
// machine that the run was begun from.
'use strict';
module.exports = async ({open, assert}) => {
  const page = await open();
  assert.deepEqual(await page.locator('#disturbances .badge').allTextContents(),
    ['this machine: load 5.8 on 2 cores, others used 61 %: figures vary', 'pi-2: another coordinator ran 2 pipelines here, in 1 of 4 rounds: figures vary']);
  // Figures are rounded as the terminal rounds them.
  assert.deepEqual(await page.evaluate(() => [common.bytes(62720), common.bytes(62822), common.figure(2.45), common.figure(0.0625), common.figure(12.125)]),
    ['61.2 KiB', '61.3 KiB', '2.450', '0.062', '12.12']);
  assert.equal(await page.evaluate(() => common.chance({p_front: 0.6149999, p_front_text: '0.61'})), '61 %');
  const failures = page.locator('#failures');
  assert.equal(await failures.locator('h2').textContent(), '84 skipped');
  const reasons = await failures.locator('p').allTextContents();
  assert.equal(reasons.length, 1);
  assert.match(reasons[0], /84 plans skipped.*network 1-far: 0\.8 Mbit\/s of 1/);
  const coordinator = page.locator('#provenance dt', {hasText: 'Coordinator'}).locator('xpath=following-sibling::dd[1]');
  assert.match(await coordinator.textContent(), /^AMD Ryzen 7 5800U, 16 cores, 14\.9 GiB of memory, Debian GNU\/Linux 12 \(bookworm\), Linux 6\.1\.0$/);
};
