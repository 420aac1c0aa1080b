// The plan that is chosen: its standing, who beats it, its figures and its way through devices and
// links.
const detailCard = (view, page, saves) => {
  'use strict';
  const {byId, PARTS, figure, short, range, bytes, chance, roundsOf, wayOf, nameOf, latency, rate, el, swatch, partText, bar} = common;

  const plans = planFile(view.run);
  /** Shows the command that runs it again. */
  const againOf = (trial) => {
    if (view.simulated) return [];
    const command = plans.commandOf(trial);
    return [el('h3', {}, plans.trains ? 'Train by it' : 'Run it again'), el('pre', {class: 'command'}, el('code', {}, ...command.split(/ (?=--)/).flatMap((word, i) => [i ? ' ' : '', el('span', {}, word)]))),
      el('div', {class: 'actions'}, saves.copyButton('copy command', 'Copy command', command), saves.plan(plans.fileName(trial), plans.contentOf(trial))),
      el('p', {class: 'hint'}, [plans.isPlain(trial) ? '' : 'The command reads the plan that is downloaded here.',
        plans.networkOf(trial) && `It leaves the network as it is: here it was ${plans.networkOf(trial)}.`].filter(Boolean).join(' '))];
  };

  const stepOf = (colour, title, value, note) => el('li', {style: `--dot: var(--${colour})`},
    el('div', {class: 'row'}, el('span', {}, title), el('b', {}, value)), note ? el('small', {}, note) : undefined);
  const pathOf = (trial) => {
    const steps = [];
    // Parts shown add up to the figure that is shown, not to the median of the rounds.
    const share = latency(trial) / (trial.latency_ms.measured_p50 || latency(trial));
    const ms = (value) => `${short(value * share)} ms`;
    // Each replica has a link that leads to it and one that leads back.
    const {replicas} = trial.plan;
    trial.links.forEach((link, i) => {
      const arrives = replicas ? i % 2 === 0 : i === 0;
      const returns = replicas ? i % 2 === 1 : i === trial.links.length - 1;
      const between = !arrives && !returns;
      const codec = between ? trial.plan.codecs[i - 1] : undefined;
      const title = `${arrives ? 'input arrives ' : returns ? 'result returns ' : ''}over ${link.transport === 'own' ? 'a link of its own' : link.transport}${codec && codec !== 'none' ? ` ${codec}` : ''}`;
      const cut = between && trial.split ? trial.split.cuts[i - 1] : undefined;
      const crossing = cut ? cut.boundary : [];
      const what = crossing.length
        ? crossing.slice(0, 3).map((value) => `${value.dtype} ${value.shape.join('×')}`).join(', ') + (crossing.length > 3 ? ` and ${crossing.length - 3} more` : '')
        : '';
      steps.push(stepOf('transfer', title, ms(link.transfer_ms.p50), [cut && trial.split.cuts.length > 1 ? cut.name : '', bytes(link.bytes), what].filter(Boolean).join(' · ')));
      const stage = returns ? undefined : trial.stages[replicas ? i / 2 : i];
      if (stage) {
        steps.push(stepOf('compute', stage.device, ms(stage.compute_ms.p50),
          view.simulated ? '' : [`engine ${stage.engine}`, stage.precision, `${bytes(stage.weight_bytes)} of weights`, `${bytes(stage.peak_memory_bytes)} of memory`,
            stage.precision_reason, stage.schedule && stage.schedule !== 'sequential' ? `schedule ${stage.schedule}` : '', stage.schedule_reason].filter(Boolean).join(' · ')));
      }
    });
    return el('ul', {class: 'path'}, ...steps);
  };
  const BEATERS = 5;
  /** Every plan of the front that beats it, as something to choose. */
  const beatenBy = (trial) => {
    const beaters = view.isFront(trial) ? [] : view.beaters(trial);
    if (!beaters.length) return [];
    return [el('h3', {}, 'Who beats it'), el('ul', {class: 'beaters'}, ...beaters.slice(0, BEATERS).map((by) => el('li', {},
      el('button', {type: 'button', class: 'link', 'data-key': `beater ${by.id}`, click: () => page.select(by)}, el('b', {}, nameOf(by)), ` over ${by.transport}`),
      el('small', {}, view.gains(by, trial)))),
    beaters.length > BEATERS ? el('li', {}, el('small', {}, `and ${beaters.length - BEATERS} more`)) : '')];
  };
  const TITLES = {front: 'On the front', perhaps: 'Beaten, perhaps', beaten: 'Beaten', together: 'Simulated'};
  const draw = () => {
    const trial = view.chosen();
    if (!trial) {
      byId('detail').replaceChildren(el('h2', {}, 'No plan'), el('p', {class: 'hint'}, 'Nothing was measured for this choice.'));
      return;
    }
    const split = trial.time_split_ms;
    const standing = view.standing(trial);
    const measured = (value, unit) => (trial.rounds ? `${figure(value)} ${unit} measured in ${roundsOf(trial)}` : '');
    const interval = ({ci95}) => (view.together ? '' : range(ci95));
    const box = (label, value, ...notes) => el('div', {}, el('span', {}, label), el('b', {}, value), ...notes.filter(Boolean).map((note) => el('small', {}, note)));
    byId('detail').replaceChildren(
      el('span', {class: `badge ${standing}`}, TITLES[standing]),
      el('span', {class: 'muted'}, !view.isRunsFront() ? '' : ` P(front) ${chance(trial)}`),
      el('h2', {style: 'margin-top: 6px'}, nameOf(trial)),
      trial.name && trial.split ? el('p', {class: 'muted'}, trial.split.name) : '',
      el('p', {class: 'muted'}, [wayOf(trial), view.together ? '' : trial.transport, `batch ${trial.batch}`].filter(Boolean).join(' · ')),
      el('p', {class: 'verdict'}, view.isFront(trial) ? view.verdict(trial) : view.doubt(trial)),
      ...beatenBy(trial),
      el('div', {class: 'figures'},
        box('Latency, p50', `${figure(latency(trial))} ms`, interval(trial.latency_ms), measured(trial.latency_ms.measured_p50, 'ms'),
          `window ${trial.latency_ms.window}, ${trial.latency_ms.samples} ${trial.plan.replicas ? 'turns' : 'requests'}`),
        box('Throughput', `${figure(rate(trial))} /s`, interval(trial.throughput), measured(trial.throughput.measured_samples_per_s, '/s'), `window ${trial.throughput.window}`)),
      el('h3', {}, trial.plan.replicas ? 'Time of each turn’s slowest request' : 'Time of one request'), bar(trial),
      el('ul', {class: 'parts'}, ...PARTS.map(([part, text]) => el('li', {}, swatch(part), el('span', {}, text),
        el('b', {}, partText(trial, part)), el('small', {}, partText(trial, part) === '–' ? '' : `${Math.abs(Math.round(100 * split[part] / latency(trial)))} %`)))),
      partText(trial, 'wait') === '–' ? el('p', {class: 'hint'}, 'Computing and transfer are medians of their own, together more than the whole.') : '',
      el('h3', {}, trial.plan.replicas ? 'Their ways, in turns' : 'Its way'), pathOf(trial), ...againOf(trial));
  };
  return {draw, drawChosen: draw};
};
