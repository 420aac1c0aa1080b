// What the page says of the run whatever is chosen: what it is, what failed, and where its figures come from. report.js calls this once.
const aboutRun = (page) => {
  'use strict';
  const {byId, figure, bytes, percent, date, latency, rate, el} = common;
  const {run, measured, predicted, failed, planned} = page;

  const drawHead = () => {
    byId('model').textContent = run.model;
    const names = run.devices.map((device) => device.name).join(', ');
    byId('subtitle').textContent = [`${measured.length} plans measured`, predicted.length ? `${predicted.length} more predicted` : '', names && `on ${names}`, date(run.started)].filter(Boolean).join(' · ')
      + (run.finished ? '' : ' · unfinished');
  };
  const drawFailures = () => {
    if (!failed.length && !planned) return;
    byId('failures').hidden = false;
    byId('failures').replaceChildren(el('h2', {}, `${failed.length} failed${planned ? `, ${planned} not measured` : ''}`),
      ...failed.map((trial) => el('p', {class: 'failure'}, el('b', {}, trial.id), trial.failure)));
  };
  /** Of predictions against measurements, in words. */
  const predictionError = () => {
    const both = measured.filter((trial) => trial.predicted);
    if (!both.length) return '';
    const within = (errors, share) => errors.sort((a, b) => a - b)[Math.max(1, Math.ceil(share * errors.length)) - 1];
    const words = (errors) => `${percent(within(errors, 0.5))} (95 % of them within ${percent(within(errors, 0.95))})`;
    const latencies = both.map((trial) => Math.abs(trial.predicted.latency_ms / latency(trial) - 1));
    const rates = both.map((trial) => Math.abs(trial.predicted.samples_per_s / rate(trial) - 1));
    return `of the ${both.length} plans that were measured, the median one was off by ${words(latencies)} in latency and ${words(rates)} in throughput`;
  };
  /** Where the time went, in words. */
  const timeSpent = () => {
    const time = run.time;
    if (!time?.total_s) return '';
    const parts = [['measuring', time.measuring_s], ['sentinel', time.sentinel_s], ['loading shards', time.loading_s],
      [`opening ${time.openings} pipelines${time.opening_ms ? ` (95 % of them within ${figure(time.opening_ms.p95)} ms)` : ''}`, time.opening_s], ['changing the network', time.network_s]];
    return `${figure(time.total_s)} s: ${parts.map(([name, took]) => `${percent(took / time.total_s)} ${name}`).join(', ')}; no request was on its way in ${percent(time.dead_share)}`;
  };
  const drawProvenance = () => {
    const rows = [['Run', run.run], ['Command', run.command_line], ['Model digest', run.model_digest], ['Weights', bytes(run.weight_bytes)],
      ['Started', date(run.started)], ['Finished', run.finished ? date(run.finished) : 'not yet: it can be resumed'],
      ['Seed', String(run.seed)], ['Software', `Pareto Edge ${run.software.pareto_edge}, LibTorch ${run.software.torch}`],
      ['On the front', 'no other plan of the same batch and network is at least as fast (latency, p50) and at least as productive (samples/s) and better in one'],
      ['Predictions', predictionError()], ['Time', timeSpent()], ['How it was measured', run.note]];
    const heads = ['Device', 'Address', 'CPU', 'Threads', 'Memory', 'LibTorch', 'Weights sent'];
    byId('provenance').replaceChildren(el('h2', {}, 'Where these figures come from'),
      el('dl', {}, ...rows.filter(([, value]) => value).flatMap(([name, value]) => [el('dt', {}, name),
        el('dd', {}, ['Run', 'Command', 'Model digest'].includes(name) ? el('code', {}, value) : value)])),
      el('div', {class: 'scroll', style: 'margin-bottom: 0'}, el('table', {class: 'plain'}, el('thead', {}, el('tr', {}, ...heads.map((head, i) => el('th', {class: i < 3 ? 'text' : undefined}, head)))),
        el('tbody', {}, ...run.devices.map((device) => el('tr', {}, ...[device.name, device.address, device.cpu, device.threads,
          bytes(device.memory_bytes), device.torch, bytes(device.weights_sent_bytes)].map((cell, i) => el('td', {class: i < 3 ? 'text' : undefined}, String(cell)))))))),
      el('details', {}, el('summary', {}, 'All options'), el('pre', {}, el('code', {}, JSON.stringify(run.options, null, 1)))));
  };

  drawHead();
  drawFailures();
  drawProvenance();
};
