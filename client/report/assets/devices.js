// The devices of a run, and what the links between them were measured to be like. Nothing of it
// depends on what is chosen.
const devicesCard = (view, networks) => {
  'use strict';
  const {byId, bytes, percent, el, fill} = common;
  const {run, conditions} = view;
  if (view.simulated) {
    fill(byId('devices-table'), [['Device', 'text'], ['How many, and how busy', 'text'], ['Cores']],
      run.devices.map((device) => [device.name, device.cpu, String(device.cores)]));
    byId('devices-note').textContent = 'As the scenario has them: none of them was there.';
    return;
  }
  fill(byId('devices-table'), [['Device', 'text'], ['Address', 'text'], ['CPU', 'text'], ['Threads'], ['Memory'], ['LibTorch'], ['Weights sent']],
    run.devices.map((device) => [device.name, device.address, device.cpu, String(device.threads), bytes(device.memory_bytes), device.torch, bytes(device.weights_sent_bytes)]));

  const EMULATORS = {user: 'emulated by the test bed', tc: 'emulated by the kernel', devices: 'set on the devices'};
  const links = conditions.map((condition) => {
    const network = networks.figuresOf(condition);
    const more = network.network;
    const loss = (share) => (share === null ? '–' : share > 0 ? percent(share) : '0');
    const deviation = more && more.round_trip_deviation_ms !== null ? el('small', {}, `± ${networks.round(more.round_trip_deviation_ms)}`) : '';
    return [condition,
      network.round_trip_ms === null ? '–' : [`${networks.round(network.round_trip_ms)} ms`, deviation],
      networks.megabits(network.forward_bits_per_s), networks.megabits(network.backward_bits_per_s),
      more ? `${loss(more.forward_loss)}, ${loss(more.backward_loss)}` : '–',
      condition === 'none' ? 'left as it is' : more ? EMULATORS[more.emulator] || more.emulator : '–'];
  });
  fill(byId('links-table'), [['Network', 'text'], ['Round trip'], ['Forward, Mbit/s'], ['Backward, Mbit/s'], ['Lost, both ways'], ['Made so by', 'text']], links);
  const measured = conditions.some((condition) => networks.figuresOf(condition).round_trip_ms !== null);
  byId('devices-note').textContent = measured
    ? 'Each network as it was measured before its plans were: small packets for the round trip, and for what is lost; a stream each way for the rates (headers included). –: not measured.'
    : 'The network was left as it is, and not measured by itself.';
};
