// The best split under each network as a table, and in words: one split for all of them, and where
// none is worth it.
const movesTable = (view, networks, page) => {
  'use strict';
  const {byId, figure, bytes, el, fill} = common;
  const {choice, conditions, under} = view;
  const {GOALS, bestOf, expectedOf, planText, lossOf, worse} = networks;

  /** Returns the plan that is least worse than the best split, over all networks that a split was
   *  measured under, and by how much; null if none was measured under all. */
  const compromise = (goal) => {
    const there = conditions.filter((condition) => bestOf(condition, goal, 'split'));
    let found = null;
    for (const plan of there.slice(0, 1).flatMap(under).filter((trial) => trial.split)) {
      const same = there.map((condition) => under(condition).find((trial) => trial.key === plan.key));
      if (!same.every(Boolean)) continue;
      const losses = same.map((trial, i) => lossOf(trial, bestOf(there[i], goal, 'split'), goal));
      const worst = Math.max(...losses);
      if (!found || worst < found.worst) found = {plan, worst, at: there[losses.indexOf(worst)]};
    }
    return found;
  };
  const compromiseText = (goal) => {
    const one = compromise(goal);
    if (!one) return '';
    const at = goal === GOALS.latency ? `is at most ${worse(one.worst, goal)} than` : `has at most ${worse(one.worst, goal)} samples/s than`;
    return `One split for all of them: ${planText(one.plan)} ${one.worst < 1.0005 ? 'is the best under each' : `${at} the best of each (under ${one.at})`}.`;
  };
  /** Where not splitting at all is better. */
  const aloneText = (goal) => {
    const compared = conditions.map((condition) => [condition, bestOf(condition, goal, 'split'), bestOf(condition, goal, 'unsplit')])
      .filter(([, split, unsplit]) => split && unsplit);
    const alone = compared.filter(([, split, unsplit]) => goal.better(unsplit, split) < 0).map(([condition]) => condition);
    if (!compared.length) return '';
    const where = alone.length === compared.length ? `every network${compared.length < conditions.length ? ' where both were measured' : ''}` : alone.length > 3 ? `${alone.length} of ${compared.length} networks` : alone.join(', ');
    const better = goal === GOALS.latency ? 'a lower latency' : 'a higher throughput';
    return alone.length ? `One device alone has ${better} than any split under ${where}.`
      : compared.length === conditions.length ? `Every network has a split with ${better} than one device alone.`
        : `Wherever one device alone was measured too, a split has ${better}.`;
  };
  const crosses = (trial) => {
    const wire = trial.links.slice(1, -1).reduce((sum, link) => sum + link.wire_bytes, 0);
    return trial.codec !== 'none' && wire ? `${bytes(wire)} of ${bytes(trial.split.boundary_bytes)}` : bytes(trial.split.boundary_bytes);
  };

  const draw = () => {
    const goal = GOALS[choice.goal];
    const kept = bestOf(choice.condition, goal, 'split');
    const guessed = conditions.some((condition) => expectedOf(condition, goal));
    const heads = [['Network', 'text'], ['Round trip'], ['Mbit/s'], ['Lowest latency', 'text'], ['p50 ms'], ['Highest throughput', 'text'], ['Samples/s'],
      ...(guessed ? [['Predicted best', 'text']] : []), [kept ? `${planText(kept)}, the best under ${choice.condition}` : 'With another split'], ['Unsplit']];
    const beneath = (text) => el('small', {}, text);
    const unitOf = (trial) => `${figure(goal.value(trial))} ${goal.unit}`;
    const row = (condition) => {
      const network = networks.figuresOf(condition);
      const name = el('button', {type: 'button', class: 'link', 'data-key': `row of ${condition}`, 'aria-pressed': String(condition === choice.condition),
        click: () => page.chooseCondition(condition)}, condition);
      const cells = [[name], [network.round_trip_ms === null ? '–' : `${networks.round(network.round_trip_ms)} ms`],
        [networks.rateText(network).replace(' Mbit/s', '').replace('rate not measured', '–')]];
      const best = {latency: bestOf(condition, GOALS.latency, 'split'), throughput: bestOf(condition, GOALS.throughput, 'split')};
      if (!best.latency) {
        const why = networks.nothingOf(condition) || 'No split was measured.';
        return el('tr', {}, ...cells.map((content, i) => el('td', {class: heads[i][1]}, ...content)),
          el('td', {class: 'text why', colspan: heads.length - cells.length}, why));
      }
      for (const key of ['latency', 'throughput']) {
        cells.push([networks.planButton(`${key} of ${condition}`, best[key], page.select, planText(best[key])), beneath(`${crosses(best[key])} cross`)],
          [figure(GOALS[key].value(best[key]))]);
      }
      if (guessed) {
        const guess = expectedOf(condition, goal);
        cells.push(guess ? [planText(guess), beneath(`${figure(Math.abs(goal.expected(guess)))} ${goal.unit}${guess.status === 'ok' ? '' : ', not measured'}`)] : ['–']);
      }
      const same = kept && under(condition).find((trial) => trial.key === kept.key);
      cells.push(same ? [unitOf(same), beneath(worse(lossOf(same, best[choice.goal], goal), goal))] : ['–']);
      const unsplit = bestOf(condition, goal, 'unsplit');
      cells.push([unsplit ? unitOf(unsplit) : '–']);
      return el('tr', {class: condition === choice.condition ? 'chosen' : undefined}, ...cells.map((content, i) => el('td', {class: heads[i][1]}, ...content)));
    };
    fill(byId('moves-table'), heads, conditions.map(row));
    byId('moves-all').textContent = [compromiseText(goal), aloneText(goal)].filter(Boolean).join(' ');
  };
  return {draw};
};
