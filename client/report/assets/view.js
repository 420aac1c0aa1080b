// The part of the run that is looked at: its trials, the choices, and what follows from them. The
// choices stand in the address, so that a view can be shared as a link. report.js makes this once;
// the parts of the page read it whenever they draw.
const makeView = (run) => {
  'use strict';
  const {percent, chance, perhaps, latency, nameOf, devicesOf, settingsOf} = common;
  // Plans of one key are the same one under another network. The key is made before a plan's codec,
  // which may be chosen for a network, joins its name.
  for (const trial of run.trials) {
    trial.plan = {...run.plan, ...trial.plan};
    trial.key = [trial.name || '', trial.split ? trial.split.name : '', ...devicesOf(trial), trial.transport,
      trial.auto_codec ? 'auto' : trial.codec, trial.plan.micro_batch, trial.threads, trial.schedule, trial.batch].join('\n');
  }
  // A codec or a micro-batch makes another kind of link: chosen, drawn and named like a transport.
  for (const trial of run.trials) {
    trial.link = trial.transport;
    if (trial.auto_codec) trial.transport += ` ${trial.codec} (auto)`;
    else if (trial.codec !== 'none') trial.transport += ` ${trial.codec}`;
    if (trial.plan.micro_batch > 0) trial.transport += ` by ${trial.plan.micro_batch}`;
    trial.travel = trial.transport;
    // So do settings that plans differ in.
    trial.transport = [trial.travel, ...settingsOf(trial)].join(', ');
  }
  const measured = run.trials.filter((trial) => trial.status === 'ok');
  const failed = run.trials.filter((trial) => trial.status === 'failed');
  const skipped = run.trials.filter((trial) => trial.status === 'skipped');
  const refused = run.trials.filter((trial) => trial.status === 'refused');
  // An adaptive sweep leaves most plans at what is expected of them.
  const predicted = run.trials.filter((trial) => trial.status === 'predicted');
  const planned = run.trials.length - measured.length - failed.length - skipped.length - refused.length - predicted.length;
  const distinct = (values) => [...new Set(values)];
  const transports = distinct(run.trials.map((trial) => trial.transport));
  const batches = distinct(run.trials.map((trial) => trial.batch)).sort((a, b) => a - b);
  const conditions = distinct(run.networks.map((network) => network.condition));
  const kindOf = (trial) => transports.indexOf(trial.transport);
  // Nothing was measured: plans are classes of pipelines.
  const simulated = run.simulated === 'figures';
  // Classes of one scenario run together, on the same devices and links: none can be had in the
  // place of another, so that there is no front of them.
  const together = simulated;
  const {adaptive} = run; // figures, and how sure they are, rest on predictions too
  const byTrial = new Map(run.trials.map((trial) => [trial.id, trial]));
  const figures = makeFigures(run);

  // ---- what is chosen ---------------------------------------------------------------------------

  const address = new URLSearchParams(location.hash.slice(1));
  const among = (key, values) => (values.map(String).includes(address.get(key)) ? values[values.map(String).indexOf(address.get(key))] : values[0]);
  const choice = {
    batch: among('batch', batches),
    condition: among('condition', conditions),
    off: new Set(address.getAll('without').filter((name) => transports.includes(name))),
    find: address.get('find') || '',
    only: among('only', ['all', 'front']),
    zoom: among('zoom', ['all', 'front']),
    plan: address.get('plan'),
    // Figures on the axes of fronts. Across, less is better.
    x: among('x', [figures.usual.x, ...figures.offered.filter(({less}) => less).map(({id}) => id)]),
    y: among('y', [figures.usual.y, ...figures.offered.map(({id}) => id)]),
    // Milliseconds of latency, p50; null means no target.
    target: Number(address.get('within') ?? run.options.max_latency_ms) || null,
    scales: among('scales', ['own', 'one']),
    goal: among('goal', ['latency', 'throughput']),
    request: among('request', ['p50', 'p90', 'p99']),
    error: among('error', ['latency', 'throughput']),
    sort: 'latency',
    descending: false,
  };
  if (together) choice.only = choice.zoom = 'all';
  const remember = () => {
    const kept = new URLSearchParams();
    if (batches.length > 1) kept.set('batch', choice.batch);
    if (conditions.length > 1) kept.set('condition', choice.condition);
    for (const name of choice.off) kept.append('without', name);
    if (choice.find) kept.set('find', choice.find);
    for (const [key, usual] of [['only', 'all'], ['zoom', 'all'], ['x', figures.usual.x], ['y', figures.usual.y], ['scales', 'own'], ['goal', 'latency'], ['request', 'p50'], ['error', 'latency']]) {
      if (choice[key] !== usual) kept.set(key, choice[key]);
    }
    if (choice.target !== (Number(run.options.max_latency_ms) || null)) kept.set('within', choice.target || 0);
    if (choice.plan) kept.set('plan', choice.plan);
    // A page in a sandbox has no history.
    try { history.replaceState(null, '', `#${kept}`); } catch {}
  };

  // ---- what follows -----------------------------------------------------------------------------

  /** Smaller is better, whatever the figure. */
  const cost = (figure, trial) => (figure.less ? figure.value(trial) : -figure.value(trial));
  const onX = () => figures.byId(choice.x);
  const onY = () => figures.byId(choice.y);
  /** Returns whether `a` is no worse than `b` in both figures on the axes, and better in one. */
  const beats = (a, b) => {
    const [x, y] = [cost(onX(), a) - cost(onX(), b), cost(onY(), a) - cost(onY(), b)];
    return x <= 0 && y <= 0 && (x < 0 || y < 0);
  };
  const wanted = (trial, condition) => trial.batch === choice.batch && trial.condition === condition && !choice.off.has(trial.transport);
  /** Returns the plans of the batch and transports chosen, under a condition, that have the figures
   *  on the axes. */
  const under = (condition) => measured.filter((trial) => wanted(trial, condition) && figures.has(onX(), trial) && figures.has(onY(), trial));
  /** Returns those that no other one of them beats, in the order of the figure across. */
  const frontOf = (trials) => {
    const sorted = [...trials].sort((a, b) => cost(onX(), a) - cost(onX(), b) || cost(onY(), a) - cost(onY(), b));
    let best = null;
    return sorted.filter((trial) => {
      const on = !best || cost(onY(), trial) < cost(onY(), best)
        || (cost(onY(), trial) === cost(onY(), best) && cost(onX(), trial) === cost(onX(), best));
      if (on) best = trial;
      return on;
    });
  };
  /** Returns whether its name has all words that are looked for. */
  const isFound = (trial) => {
    const name = nameOf(trial).toLowerCase();
    return choice.find.toLowerCase().split(/\s+/).every((word) => name.includes(word));
  };
  /** Returns those of `trials` that the filters of names and of the front leave. What they leave
   *  out still beats others. */
  const left = (trials, front) => trials.filter((trial) => (choice.only === 'all' || front.includes(trial)) && isFound(trial));

  /** The settings that plans differ in: they have columns. */
  const varied = ['threads', 'schedule'].filter((id) => run.trials.some((trial) => trial[id] !== undefined));
  const view = {run, varied, figures, measured, failed, skipped, refused, predicted, planned, transports, batches, conditions, kindOf, byTrial, simulated, together, choice, remember, under, frontOf, left, beats,
    /** From 1500 on, points are drawn faster as pixels; a picture of its own stays a drawing. */
    renderer: {renderer: measured.length > 1500 && !address.has('figure') ? 'canvas' : 'svg'},
    pool: [],      // plans of the batch, condition and transports chosen
    front: [],     // those of them that no other one beats, in the order of the figure across
    shown: [],     // those of the pool that the other filters leave
    expected: [],  // plans of that choice that were not measured
    other: null,   // another run laid over (other_run.js)
  };
  view.look = () => {
    view.pool = under(choice.condition);
    view.front = together ? [] : frontOf(view.pool);
    view.shown = left(view.pool, view.front);
    view.x = onX();
    view.y = onY();
    view.expected = choice.only === 'all' && view.x.expected && view.y.expected ? predicted.filter((trial) => wanted(trial, choice.condition) && isFound(trial)) : [];
    if (!view.chosen()) choice.plan = view.usual() ? view.usual().id : null;
  };
  view.isFront = (trial) => view.front.includes(trial);
  view.chosen = () => view.pool.find((trial) => trial.id === choice.plan);
  /** Returns whether a plan is as quick as the reader wants it. */
  view.meets = (trial) => choice.target === null || latency(trial) <= choice.target;
  /** Returns the best by the figure up of those that are quick enough; undefined means none is. */
  view.within = () => frontOf(view.pool.filter(view.meets)).at(-1);
  /** Returns what is chosen unless somebody chooses: the most productive plan, of those quick
   *  enough. */
  view.usual = () => view.within() || frontOf(view.pool).at(-1);
  /** Returns whether the run's own front is shown, of which it says how sure each plan is. */
  view.isRunsFront = () => !choice.off.size && !simulated && run.axes.join() === 'latency,throughput' && choice.x === 'latency' && choice.y === 'throughput';
  /** Returns the plan of one device that alone, over one transport or another, beats every plan
   *  that splits the model; null means that there is none. */
  view.aloneBest = () => {
    const splits = view.pool.filter((trial) => trial.split);
    const alone = view.frontOf(view.pool.filter(common.isAlone));
    const better = (one) => alone.filter((other) => devicesOf(other)[0] === devicesOf(one)[0]);
    return (splits.length && alone.find((one) => splits.every((split) => better(one).some((other) => beats(other, split))))) || null;
  };
  /** Returns 'front', 'perhaps' (beaten, but on the front in some resampled rounds) or 'beaten',
   *  among the plans of `front`'s condition. 'together' means that there is no front. */
  view.standing = (trial, front = view.front) => (together ? 'together' : front.includes(trial) ? 'front' : view.isRunsFront() && perhaps(trial) ? 'perhaps' : 'beaten');
  /** Keeps the plan chosen under another network, if it was measured there too. */
  view.chooseCondition = (condition) => {
    const plan = view.chosen();
    choice.condition = condition;
    const same = plan && under(condition).find((trial) => trial.key === plan.key);
    if (same) choice.plan = same.id;
  };
  /** Which plans beat a plan, those of the front alone, in order of latency. */
  view.beaters = (trial) => view.front.filter((other) => beats(other, trial));
  /** Says by how much one is better than another, in words. */
  view.gains = (by, trial) => [view.x, view.y].map((figure) => {
    const ratio = figure.value(by) / figure.value(trial);
    if (!figure.less && ratio >= 2) return `${ratio.toFixed(ratio < 10 ? 1 : 0)} × the ${figure.gain.replace('more ', '')}`;
    const share = figure.less ? 1 - ratio : ratio - 1;
    return share >= 0.0005 ? `${percent(share)} ${figure.gain}` : '';
  }).filter(Boolean).join(', ');
  /** Says how sure it is that a plan is beaten. */
  view.doubt = (trial) => (view.standing(trial) !== 'perhaps' ? ''
    : adaptive ? `By predictions and rounds together it is on the front with a probability of ${chance(trial)}.`
    : `Over resampled rounds it is on the front with a probability of ${chance(trial)}.`);
  /** Returns whether predictions of a figure put the plans of this choice into another order than
   *  rounds did. */
  view.breaksOrder = (goal) => !view.simulated && (run.prediction_errors || []).some((error) =>
    error.batch === choice.batch && error.condition === choice.condition && error[goal].no_guide);
  /** Returns whether predictions say nothing of the plans of this choice that an adaptive sweep
   *  left unmeasured. */
  view.isMisled = () => adaptive && (run.prediction_errors || []).some((error) =>
    error.batch === choice.batch && error.condition === choice.condition && error.no_guide);
  view.verdict = (trial) => {
    if (together) return '';
    if (view.isFront(trial)) {
      return !view.isRunsFront()
        ? 'No plan shown beats it.'
        : adaptive ? `No other plan measured beats it; by predictions and rounds together it is on the front with a probability of ${chance(trial)}.`
        : `No other plan beats it; over resampled rounds it is on the front with a probability of ${chance(trial)}.`;
    }
    const [by, ...others] = view.beaters(trial);
    const gains = view.gains(by, trial);
    return `Beaten by ${nameOf(by)} over ${by.transport}${gains ? `: ${gains}` : ''}${others.length ? `; and by ${others.length} more` : ''}. ${view.doubt(trial)}`;
  };
  return view;
};
