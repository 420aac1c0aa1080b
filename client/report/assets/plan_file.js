// A plan as other commands take it: the file that `--plan` reads (core/plan/FORMAT.md), and the
// command that runs it again.
const planFile = (run) => {
  'use strict';
  const {nameOf, settingsOf} = common;
  const options = run.options || {};
  const trains = options.train === true;

  /** Returns what its file holds. */
  const contentOf = (trial) => ({...trial.plan, splits: trial.split ? trial.split.cuts.map((cut) => cut.name) : [], batch: trial.batch,
    ...(options.model ? {model_source: options.model} : {})});
  const fileName = (trial) => `${[nameOf(trial), trial.link, trial.codec === 'none' ? '' : trial.codec, ...settingsOf(trial), `b${trial.batch}`].filter(Boolean).join('-').replace(/[^\w.+-]+/g, '-')}.json`;
  const quoted = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);
  /** Returns whether flags can say it: its devices are the first ones of the run, in their order,
   *  its stages lie one behind the other, and none has settings of its own. Without a cut, flags
   *  train in the process of the command. */
  const isPlain = (trial) => !trial.name && !trial.plan.replicas && (!trains || trial.split)
    && trial.plan.stages.every((stage, i) => !stage.operators && !stage.settings && typeof trial.plan.schedule !== 'object' && run.devices[i] && stage.device === run.devices[i].name);

  const modelFlags = () => {
    const source = options.model || {model: run.model};
    // Files of data say their shape, too.
    const data = (source.inputs || []).map((file) => ['--input', file]);
    return [['--model', source.model], ...(data.length ? data : [['--input-shape', source.input_shape]]), ['--num-classes', source.num_classes === 1000 ? '' : source.num_classes],
      ['--weights', source.weights], ['--model-seed', source.model_seed || ''], ['--operators', (source.operators || []).join(',')]];
  };
  const deviceFlags = () => [['--devices', options.devices], ['--testbed', options.testbed]];
  const pipelineFlags = (trial) => {
    const plan = contentOf(trial);
    return [['--split', trial.split ? plan.splits.join(',') : 'none'], ['--transport', trial.link], ['--codec', trial.codec === 'none' ? '' : trial.codec],
      ['--batch', trial.batch === 1 && !trains ? '' : trial.batch],
      trains ? ['--micro-batches', plan.micro_batch ? Math.ceil(trial.batch / plan.micro_batch) : ''] : ['--micro-batch', plan.micro_batch || ''],
      ['--engine', trains || plan.engine === 'auto' ? '' : plan.engine], ['--precision', plan.precision === 'fp32' ? '' : plan.precision],
      ['--threads', plan.threads || ''], ['--schedule', trains ? '' : plan.schedule || '']];
  };
  /** Returns the command that runs the plan, or trains by it on made-up samples. It names the
   *  plan's file if flags cannot say it. */
  const commandOf = (trial) => {
    const flags = isPlain(trial) ? [...modelFlags(), ...pipelineFlags(trial), ...deviceFlags()] : [['--plan', fileName(trial)], ...deviceFlags()];
    if (trains) flags.push(['--loss', options.loss === 'cross-entropy' ? '' : options.loss], ['--data', 'synthetic']);
    return [trains ? 'paretoctl train' : 'paretoctl run', ...flags.filter(([, value]) => value !== undefined && value !== null && value !== '').map(([flag, value]) => `${flag} ${quoted(String(value))}`)].join(' ');
  };
  /** Returns the network that was put between the devices for the plan; '' if there was none, or if
   *  it is the test bed's. */
  const networkOf = (trial) => (trial.condition === 'none' || options.testbed ? '' : trial.condition);
  return {contentOf, fileName, isPlain, networkOf, commandOf, trains};
};
