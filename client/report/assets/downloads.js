// Files that a reader takes along: the table as CSV, the run as JSON, the chart as a picture, a
// plan as a file, a command.
const downloads = (view) => {
  'use strict';
  const {el, nameOf, wayOf, latency, rate} = common;
  const {run} = view;
  const base = [run.model, run.run].filter(Boolean).join('-').replace(/[^\w.+-]+/g, '-');

  const save = (name, url) => el('a', {href: url, download: name}).click();
  const saveText = (name, type, text) => {
    const url = URL.createObjectURL(new Blob([text], {type}));
    save(name, url);
    setTimeout(() => URL.revokeObjectURL(url), 10000);
  };
  const button = (key, text, title, click) => el('button', {type: 'button', class: 'action', 'data-key': key, title, click}, text);

  const COLUMNS = [['plan', nameOf], ['devices', wayOf], ['transport', (trial) => trial.travel], ...view.varied.map((id) => [id, (trial) => trial[id]]), ['batch', (trial) => trial.batch], ['condition', (trial) => trial.condition],
    ['p50_ms', latency], ['p50_low_ms', (trial) => trial.latency_ms.ci95[0]], ['p50_high_ms', (trial) => trial.latency_ms.ci95[1]],
    ['measured_p50_ms', (trial) => trial.latency_ms.measured_p50], ['p90_ms', (trial) => trial.latency_ms.p90], ['p95_ms', (trial) => trial.latency_ms.p95], ['p99_ms', (trial) => trial.latency_ms.p99],
    ['latency_window', (trial) => trial.latency_ms.window],
    ['samples_per_s', rate], ['samples_per_s_low', (trial) => trial.throughput.ci95[0]], ['samples_per_s_high', (trial) => trial.throughput.ci95[1]],
    ['measured_samples_per_s', (trial) => trial.throughput.measured_samples_per_s], ['throughput_window', (trial) => trial.throughput.window], ['rounds', (trial) => trial.rounds], ['boundary_bytes', (trial) => (trial.split ? trial.split.boundary_bytes : 0)],
    ['peak_memory_bytes', (trial) => Math.max(...trial.stages.map((stage) => stage.peak_memory_bytes))], ['output_error', (trial) => (trial.output_error ? trial.output_error.max : '')],
    ...(view.together ? [] : [['on_front', (trial) => view.isFront(trial)], ['p_front', (trial) => trial.p_front]])];
  /** A text that a spreadsheet takes for a formula is kept from being one. */
  const cell = (value) => {
    const text = String(value ?? '').replace(/^(?=[=+@\t]|-[^\d.])/, "'");
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const csv = (trials) => [COLUMNS.map(([name]) => name), ...trials.map((trial) => COLUMNS.map(([, value]) => value(trial)))].map((row) => row.map(cell).join(',')).join('\n') + '\n';

  /** Copies a text; the clipboard is out of reach for some pages that were opened as files. */
  const copy = async (text) => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const held = el('textarea', {class: 'unseen'}, text);
      document.body.append(held);
      held.select();
      document.execCommand('copy');
      held.remove();
    }
  };
  const copyButton = (key, text, what) => {
    const made = button(key, text, 'Copy it', async () => {
      await copy(what);
      made.textContent = 'Copied';
      setTimeout(() => { made.textContent = text; }, 1500);
    });
    return made;
  };
  return {
    csv: (shown) => button('save csv', 'CSV', 'Download the plans of this table', () => saveText(`${base}.csv`, 'text/csv', csv(shown()))),
    json: () => button('save json', 'JSON', 'Download the whole run, as sweep --json has it', () => saveText(`${base}.json`, 'application/json', document.getElementById('run').textContent)),
    png: (picture) => button('save png', 'PNG', 'Download this chart as a picture', () => save(`${base}-front.png`, picture())),
    plan: (name, content) => button('save plan', 'Download plan', `For run --plan and deploy --plan: ${name}`, () => saveText(name, 'application/json', `${JSON.stringify(content, null, 1)}\n`)),
    copyButton,
  };
};
