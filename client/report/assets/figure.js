// The page as one picture, for papers and slides: the front of the batch and network in the
// address, as large as that says, and what it is of. Nothing else. Asked for by
// client/report/front_picture.cc.
const figureOf = (view, networks, page) => {
  'use strict';
  const {byId, date} = common;
  const {run, choice} = view;
  document.body.classList.add('figure');
  const address = new URLSearchParams(location.hash.slice(1));
  for (const side of ['width', 'height']) document.querySelector('main').style[side] = `${Number(address.get(side))}px`;
  const network = networks.figuresOf(choice.condition);
  byId('model').textContent = run.model;
  byId('subtitle').textContent = [`batch ${choice.batch}`, choice.condition === 'none' ? '' : choice.condition,
    network && network.round_trip_ms !== null ? networks.networkText(network) : '', run.devices.map((device) => device.name).join(', '), date(run.started)].filter(Boolean).join(' · ');
  const chart = frontChart(view, page);
  view.look();
  chart.draw();
};
