// The figures by which plans are compared. Two of them are the axes of every front on the page:
// latency and throughput, unless the reader chooses others. A figure is offered only if the run has
// it and plans differ in it.
const makeFigures = (run) => {
  'use strict';
  const {latency, rate, figure, bytes} = common;

  /** Returns the unit that leaves few digits of `most`, and its name. */
  const byteUnit = (most) => {
    const units = ['B', 'KiB', 'MiB', 'GiB'];
    const power = Math.max(0, Math.min(units.length - 1, Math.floor(Math.log2(most || 1) / 10)));
    return {size: 1024 ** power, name: units[power]};
  };
  const measured = run.trials.filter((trial) => trial.status === 'ok');
  /** Makes a figure in bytes. Its values are in the unit in which its axis reads well. */
  const inBytes = (row, count) => {
    const unit = byteUnit(Math.max(0, ...measured.map(count).filter(Number.isFinite)));
    return {...row, axis: `${row.axis}, ${unit.name}`, value: (trial) => count(trial) / unit.size, text: (value) => bytes(value * unit.size)};
  };
  const milliseconds = (id, name, value) => ({id, name: `Latency, ${name}`, axis: `latency, ${name} ms`, best: `Lowest latency, ${name}`, less: true, gain: 'less latency',
    value, text: (ms) => `${figure(ms)} ms`});
  const errorOf = (trial) => (trial.output_error ? trial.output_error.max : NaN);
  const errorPower = Math.floor(Math.log10(Math.max(...measured.map(errorOf).filter((error) => error > 0 && Number.isFinite(error)), 1e-12)));

  const all = [
    {...milliseconds('latency', 'p50', latency), best: 'Lowest latency', interval: (trial) => trial.latency_ms.ci95, expected: (trial) => trial.predicted.expected_latency_ms},
    milliseconds('p90', 'p90', (trial) => trial.latency_ms.p90),
    milliseconds('p95', 'p95', (trial) => trial.latency_ms.p95),
    milliseconds('p99', 'p99', (trial) => trial.latency_ms.p99),
    {id: 'throughput', name: 'Throughput', axis: 'throughput, samples/s', best: 'Highest throughput', less: false, gain: 'more samples/s', value: rate,
      text: (value) => `${figure(value)} samples/s`, interval: (trial) => trial.throughput.ci95, expected: (trial) => trial.predicted.expected_samples_per_s},
    inBytes({id: 'bytes', name: 'Bytes that cross', axis: 'bytes that cross', best: 'Fewest bytes that cross', less: true, gain: 'fewer bytes'},
      (trial) => trial.links.slice(1, trial.plan.replicas ? 1 : -1).reduce((sum, link) => sum + (link.wire_bytes || link.bytes), 0)),
    inBytes({id: 'memory', name: 'Memory', axis: 'memory of the fullest device', best: 'Least memory', less: true, gain: 'less memory'},
      (trial) => Math.max(...trial.stages.map((stage) => stage.peak_memory_bytes)) || NaN),
    {id: 'error', name: 'Error', axis: `largest error of the output, 10^${errorPower}`, best: 'Smallest error', less: true, gain: 'less error',
      value: (trial) => errorOf(trial) / 10 ** errorPower, text: (value) => (value * 10 ** errorPower).toExponential(1)},
  ];
  /** Figures of this list by the names that objectives have. */
  const OWN = {latency_p90: 'p90', latency_p99: 'p99', boundary: 'bytes'};
  const idOf = (objective) => OWN[objective] || objective;
  /** Makes a figure of an objective that has no row of its own above. */
  const ofObjective = ({name, title, unit, better}) => {
    const less = better === 'smaller';
    const value = (trial) => (trial.objectives || {})[name] ?? NaN;
    const row = {id: name, name: title[0].toUpperCase() + title.slice(1), best: `${less ? 'Least' : 'Highest'} ${title}`, less, gain: `${less ? 'less' : 'more'} ${title}`};
    return unit === 'B' ? inBytes({...row, axis: title}, value) : {...row, axis: `${title}, ${unit}`, value, text: (number) => `${Math.abs(number) < 0.1 ? Number(number.toPrecision(3)) : figure(number)} ${unit}`};
  };
  all.push(...run.objectives.filter(({name}) => !all.some(({id}) => id === idOf(name))).map(ofObjective));
  const has = (one, trial) => Number.isFinite(one.value(trial));
  const offered = all.filter((one) => one.id === 'latency' || one.id === 'throughput'
    || new Set(measured.filter((trial) => has(one, trial)).map(one.value)).size > 1);
  /** The figures that the run's front is of: less is better across. */
  const axes = run.axes.map((name) => offered.find(({id}) => id === idOf(name))).filter(Boolean);
  const x = axes.find(({less}) => less) || offered[0];
  const y = axes.find((one) => one !== x) || offered.find(({id}) => id === (x.id === 'throughput' ? 'latency' : 'throughput'));
  return {offered, has, usual: {x: x.id, y: y.id}, byId: (id) => offered.find((one) => one.id === id)};
};
