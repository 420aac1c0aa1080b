// The facts of the run that do not depend on what is chosen: what it is, what failed, and where its
// figures come from.
const aboutRun = (view) => {
  'use strict';
  const {byId, figure, bytes, percent, date, el} = common;
  const {run, measured, predicted, failed, skipped, refused, planned, simulated, together} = view;

  const count = (number, one, several = `${one}s`) => `${number} ${number === 1 ? one : several}`;
  const drawHead = () => {
    byId('model').textContent = run.model;
    if (together) {
      byId('chart-title').textContent = 'Latency and throughput';
      byId('table-title').textContent = 'Every kind of pipeline';
      byId('keys-front').hidden = true;
    }
    const names = run.devices.map((device) => device.name).join(', ');
    byId('subtitle').textContent = [simulated ? `${count(measured.length, 'kind of pipeline', 'kinds of pipelines')}, simulated, not measured` : `${count(measured.length, 'plan')} measured`, predicted.length ? `${predicted.length} more predicted` : '', names && `on ${names}`, date(run.started)].filter(Boolean).join(' · ')
      + (run.finished ? '' : ' · unfinished');
  };
  /** Trials by what became of them: those of one network mostly have one reason. */
  const because = (trials) => {
    const reasons = new Map();
    for (const trial of trials) reasons.set(trial.failure, [...(reasons.get(trial.failure) || []), trial]);
    return reasons;
  };
  /** Badges of what made figures vary. */
  const drawDisturbances = () => {
    const found = run.disturbances || [];
    byId('disturbances').hidden = !found.length;
    byId('disturbances').replaceChildren(...found.map(({where, text}) => el('span', {class: 'badge warn'}, where ? `${where}: ${text}` : text)));
  };
  const drawFailures = () => {
    if (!failed.length && !skipped.length && !refused.length && !planned) return;
    const heading = [failed.length && `${failed.length} failed`, skipped.length && `${skipped.length} skipped`, refused.length && `${refused.length} too inaccurate`, planned && `${planned} not measured`].filter(Boolean).join(', ');
    byId('failures').hidden = false;
    byId('failures').replaceChildren(el('h2', {}, heading),
      ...[...because(skipped)].map(([why, trials]) => el('p', {class: 'failure'}, el('b', {}, `${count(trials.length, 'plan')} skipped`), why)),
      ...[...because([...failed, ...refused])].map(([why, trials]) => el('div', {class: 'failure'}, el('b', {}, trials.length === 1 ? trials[0].id : count(trials.length, 'plan')), why,
        trials.length === 1 ? '' : el('details', {}, el('summary', {}, 'Which'), el('p', {}, trials.map(({id}) => id).join(', '))))));
  };
  /** Where the time went, in words. */
  const timeSpent = () => {
    const time = run.time;
    if (!time?.total_s) return '';
    const parts = [['measuring', time.measuring_s], ['reference plan', time.sentinel_s], ['loading shards', time.loading_s],
      [`opening ${count(time.openings, 'pipeline')}${time.opening_ms ? ` (95 % of them within ${figure(time.opening_ms.p95)} ms)` : ''}`, time.opening_s], ['changing the network', time.network_s]];
    return `${figure(time.total_s)} s${time.requests ? ` and ${count(time.requests, 'request')}` : ''}: ${parts.map(([name, took]) => `${took > 0 && took / time.total_s < 0.001 ? 'less than 0.1 %' : percent(took / time.total_s)} ${name}`).join(', ')}; no request was on its way in ${percent(time.dead_share)}`;
  };
  /** Null in runs of versions that did not keep it. */
  const machineText = (machine) => machine && `${machine.cpu}, ${machine.cores} core${machine.cores === 1 ? '' : 's'}, ${bytes(machine.memory_bytes)} of memory, ${machine.os}`;
  const simulation = () => [['Command', run.command_line], ['Simulated', date(run.started)], ['Seed', String(run.seed)],
    ['Software', `Pareto Edge ${run.software.pareto_edge}`], ['How it was simulated', run.note]];
  /** A long note, folded, a sentence a line. */
  const rules = (note) => {
    const sentences = note.split(/(?<=[.]) (?=[A-Z])/);
    return el('details', {}, el('summary', {}, count(sentences.length, 'rule')), el('ul', {}, ...sentences.map((one) => el('li', {}, one))));
  };
  const drawProvenance = () => {
    const rows = simulated ? simulation() : [['Run', run.run], ['Command', run.command_line], ['Model digest', run.model_digest], ['Weights', bytes(run.weight_bytes)],
      ['Started', date(run.started)], ['Finished', run.finished ? date(run.finished) : 'not yet: it can be resumed'],
      ['Seed', String(run.seed)], ['Software', `Pareto Edge ${run.software.pareto_edge}, LibTorch ${run.software.torch}`],
      ['Coordinator', machineText(run.coordinator)],
      ['On the front', 'no other plan of the same batch and network is at least as fast (latency, p50) and at least as productive (samples/s) and better in one; by the figures shown, which in an adaptive sweep are what predictions and rounds together say'],
      ['Time', timeSpent()], ['How it was measured', run.note && rules(run.note)]];
    byId('provenance').replaceChildren(el('h2', {}, 'Where these figures come from'),
      el('dl', {}, ...rows.filter(([, value]) => value).flatMap(([name, value]) => [el('dt', {}, name),
        el('dd', {}, ['Run', 'Command', 'Model digest'].includes(name) ? el('code', {}, value) : value)])),
      simulated ? '' : el('details', {}, el('summary', {}, 'All options'), el('pre', {}, el('code', {}, JSON.stringify(run.options, null, 1)))));
  };

  drawHead();
  drawDisturbances();
  drawFailures();
  drawProvenance();
};
