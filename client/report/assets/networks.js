// Facts of a run's networks, and the best plan under each: for the parts that compare them.
const makeNetworks = (view) => {
  'use strict';
  const {latency, rate, nameOf, isAlone, el, percent} = common;
  const {run, choice, under} = view;

  /** The run's entry of a condition, at the batch chosen; undefined where there is none. */
  const entryOf = (condition) => run.networks.find((entry) => entry.condition === condition && entry.batch === choice.batch);
  /** Returns what was measured of the network itself, at any batch. */
  const figuresOf = (condition) => run.networks.find((entry) => entry.condition === condition);
  const round = (value) => value.toFixed(value >= 9.95 ? 0 : value >= 0.995 ? 1 : 2);
  const megabits = (bits) => (bits === null ? '–' : round(bits / 1e6));
  const rateText = ({forward_bits_per_s: forward, backward_bits_per_s: backward}) => (
    forward === null ? 'rate not measured'
      : backward === null || Math.min(forward, backward) > 0.95 * Math.max(forward, backward) ? `${megabits(forward)} Mbit/s`
        : `${megabits(forward)} / ${megabits(backward)} Mbit/s`);
  const networkText = (network) => (network.round_trip_ms === null ? 'not measured'
    : `${round(network.round_trip_ms)} ms round trip · ${rateText(network)}`);
  /** A network that was left as it is, and of which no rate was measured. */
  const isUntouched = (network) => network.condition === 'none' && !network.forward_bits_per_s;

  /** Why a condition has nothing to show: a sentence, or '' where it has something. */
  const nothingOf = (condition) => {
    const entry = entryOf(condition);
    if (!entry) return `Not measured at batch ${choice.batch}.`;
    if (under(condition).length) return '';
    if (entry.measured) return 'No plan over the transports chosen was measured.';
    const {failed, skipped, trials} = entry;
    if (!failed && !skipped) return 'Not measured yet.';
    const {failure} = run.trials.find((trial) => trial.condition === condition && trial.batch === choice.batch && trial.status === (skipped ? 'skipped' : 'failed'));
    const share = (count) => `${count === trials ? `all ${trials}` : `${count} of ${trials}`} plans`;
    if (skipped) return `The network could not be had, so that ${share(skipped)} were skipped: ${failure}`;
    const reached = entry.round_trip_ms === null ? 'The network was not reached' : 'The network was reached';
    return `${reached}, but ${share(failed)} failed: ${failure}`;
  };

  const GOALS = {
    latency: {text: 'Lowest latency', id: 'fastest', value: latency, unit: 'ms', expected: ({predicted}) => predicted.latency_ms,
      better: (a, b) => latency(a) - latency(b) || rate(b) - rate(a)},
    throughput: {text: 'Highest throughput', id: 'most_productive', value: rate, unit: 'samples/s', expected: ({predicted}) => -predicted.samples_per_s,
      better: (a, b) => rate(b) - rate(a) || latency(a) - latency(b)},
  };
  /** Returns the best trial of a kind ('split', 'unsplit'); null if there is none. The run names it
   *  unless transports are left out. */
  const bestOf = (condition, goal, kind) => {
    if (!choice.off.size) {
      const entry = entryOf(condition);
      return (entry && view.byTrial.get(entry[`${goal.id}_${kind}`])) || null;
    }
    return under(condition).filter((trial) => (kind === 'split' ? trial.split : isAlone(trial))).sort(goal.better)[0] || null;
  };
  /** Returns the split that the cost model calls the best, measured or not; null if nothing was
   *  predicted, or simulated from what was measured. */
  const expectedOf = (condition, goal) => {
    if (run.simulated) return null;
    const among = run.trials.filter((trial) => trial.predicted && trial.split && trial.batch === choice.batch
      && trial.condition === condition && !choice.off.has(trial.transport));
    return among.length ? among.reduce((best, trial) => (goal.expected(trial) < goal.expected(best) ? trial : best)) : null;
  };
  const planText = (trial) => (view.transports.length > 1 ? `${nameOf(trial)}, ${trial.transport}` : nameOf(trial));
  /** Returns a plan's value over that of the best there; 1 means no worse. */
  const lossOf = (trial, best, goal) => (goal === GOALS.latency ? latency(trial) / latency(best) : rate(best) / rate(trial));
  const worse = (loss, goal) => {
    if (loss < 1.0005) return 'the best';
    if (goal === GOALS.throughput) return `${percent(1 - 1 / loss)} fewer`;
    return loss < 2 ? `${percent(loss - 1)} slower` : `${loss.toFixed(loss < 9.95 ? 1 : 0)} × slower`;
  };
  const planButton = (key, trial, select, ...children) => el('button', {type: 'button', class: 'link', 'data-key': key, 'data-plan': trial.id,
    'aria-pressed': String(trial.id === choice.plan), title: `Show ${nameOf(trial)} under ${trial.condition}`, click: () => select(trial)}, ...children);
  /** The figures of a plan that stand on the axes. */
  const axisTexts = (trial) => [view.x, view.y].map((one) => one.text(one.value(trial)));

  return {entryOf, figuresOf, round, megabits, rateText, networkText, isUntouched, nothingOf, GOALS, bestOf, expectedOf, planText, lossOf, worse, planButton, axisTexts};
};
