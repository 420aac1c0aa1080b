// The page of a model's picture: moves and zooms the drawing, finds cards, colours them by a figure
// and by the cut that is chosen.
(() => {
  'use strict';
  const {byId, bytes, figure} = common;
  const data = JSON.parse(byId('data').textContent);
  const root = document.documentElement;
  const element = byId('view');
  const scene = byId('scene');
  const cards = [...scene.querySelectorAll('.card')];
  const edges = [];
  for (const path of scene.querySelectorAll('.edge')) edges[Number(path.dataset.e)] = path;
  const families = cards.map((card) => [...card.classList].find((name) => /^f\d/.test(name)));
  const FAR = 0.33;
  const LARGEST = 4;
  const margin = 24;

  // ---- Where the window is: a place (x, y) of the drawing's corner, and pixels of its unit.
  const view = {element, place: {x: 0, y: 0, scale: 1}};
  let asked = 0;
  const drawn = () => {
    asked = 0;
    const {x, y, scale} = view.place;
    scene.setAttribute('transform', `translate(${x.toFixed(2)} ${y.toFixed(2)}) scale(${scale.toFixed(5)})`);
    scene.classList.toggle('far', scale < FAR);
    scene.classList.toggle('very-far', scale < FAR / 3);
    map.draw();
  };
  const moved = () => { asked = asked || requestAnimationFrame(drawn); };
  const smallest = () => Math.min(1, element.clientWidth / (data.width + 2 * margin), element.clientHeight / (data.height + 2 * margin));
  const held = (at, room, size) => Math.min(Math.max(at, room / 2 - size), room / 2);
  const set = (x, y, scale) => {
    view.place.scale = scale;
    // Some of the drawing stays in the window.
    view.place.x = held(x, element.clientWidth, data.width * scale);
    view.place.y = held(y, element.clientHeight, data.height * scale);
    moved();
  };
  const zoom = (factor, x = element.clientWidth / 2, y = element.clientHeight / 2) => {
    const {place} = view;
    const scale = Math.min(Math.max(place.scale * factor, smallest() * 0.8), LARGEST);
    set(x - (x - place.x) * scale / place.scale, y - (y - place.y) * scale / place.scale, scale);
  };
  const fit = () => {
    const scale = smallest();
    set((element.clientWidth - data.width * scale) / 2, (element.clientHeight - data.height * scale) / 2, scale);
  };
  view.centre = (x, y, scale = view.place.scale) => set(element.clientWidth / 2 - x * scale, element.clientHeight / 2 - y * scale, scale);
  const map = graphMap(view, data);

  // ---- Which stage each card is in, if a cut is shown.
  const inRanges = (ranges, begin, end) => ranges.reduce((sum, [from, to]) => sum + Math.max(0, Math.min(to, end) - Math.max(from, begin)), 0);
  const sizeOf = (node) => node.operators.reduce((sum, [begin, end]) => sum + end - begin, 0);
  /** Returns the number of cuts before each card, or -1 of a card that a cut parts. */
  const stagesOf = (cuts) => data.nodes.map((node) => {
    if (node.kind === 0) return 0;
    if (node.kind === 3) return cuts.length;
    let stage = 0;
    for (const {before} of cuts) {
      const inside = node.operators.reduce((sum, [begin, end]) => sum + inRanges(before, begin, end), 0);
      if (inside > 0 && inside < sizeOf(node)) return -1;
      if (inside === 0) stage += 1;
    }
    return stage;
  });
  let cuts = [];
  let stages = data.nodes.map(() => 0);
  const classOf = (index) => (cuts.length > 0 ? (stages[index] < 0 ? '' : `s${stages[index] % 10}`) : families[index] || '');
  const label = (edge) => {
    const [, , values, size] = data.edges[edge];
    return `${values.length > 42 ? `${values.slice(0, 41)}…` : values} · ${bytes(size)}`;
  };
  const SVG = 'http://www.w3.org/2000/svg';
  const showCuts = (chosen) => {
    cuts = chosen;
    stages = stagesOf(cuts);
    scene.classList.toggle('cut', cuts.length > 0);
    for (const text of scene.querySelectorAll('.et')) text.remove();
    const boundary = new Set();
    edges.forEach((path, index) => {
      const [from, to] = data.edges[index];
      const crosses = cuts.length > 0 && stages[from] !== stages[to];
      if (crosses === path.classList.contains('crosses') && !crosses) return;
      path.classList.toggle('crosses', crosses);
      path.setAttribute('marker-end', crosses ? 'url(#tip-crosses)' : 'url(#tip)');
      if (!crosses) return;
      if (stages[from] >= 0) boundary.add(from);
      const begin = path.getPointAtLength(0);
      const text = document.createElementNS(SVG, 'text');
      text.setAttribute('class', 'et');
      text.setAttribute('x', begin.x + 7);
      text.setAttribute('y', begin.y + 13);
      text.textContent = label(index);
      scene.append(text);
    });
    cards.forEach((card, index) => {
      for (const name of [...card.classList]) if (/^[sf]\d$/.test(name)) card.classList.remove(name);
      const own = classOf(index);
      if (own) card.classList.add(own);
      card.classList.toggle('boundary', boundary.has(index));
      card.classList.toggle('parted', stages[index] < 0);
    });
    const legend = byId('stages');
    legend.textContent = '';
    byId('families').hidden = cuts.length > 0;
    const chip = (className, text) => {
      const span = document.createElement('span');
      const mark = document.createElement('i');
      mark.className = className;
      span.append(mark, text);
      legend.append(span);
    };
    cuts.forEach((cut, index) => chip(`swatch s${index % 10}`, `before ${cut.name}`));
    if (cuts.length > 0) {
      chip(`swatch s${cuts.length % 10}`, `behind ${cuts[cuts.length - 1].name}`);
      chip('rule', 'crosses the cut');
      if (stages.some((stage) => stage < 0)) chip('rule', 'cut inside (dashed)');
    }
    byId('no-cut').hidden = cuts.length === 0;
    paint();
  };

  // ---- Heat: a colour from white to red by the root of a figure's share of the largest.
  const RAMP = {light: [[255, 255, 255], [255, 241, 204], [252, 196, 128], [241, 132, 98]], dark: [[38, 46, 58], [120, 84, 40], [214, 128, 60], [250, 130, 100]]};
  const ramp = (share) => {
    const colours = RAMP[root.dataset.theme === 'dark' ? 'dark' : 'light'];
    const place = share * (colours.length - 1);
    const below = Math.min(Math.floor(place), colours.length - 2);
    return `rgb(${colours[below].map((part, index) => Math.round(part + (colours[below + 1][index] - part) * (place - below))).join(' ')})`;
  };
  let heat = data.heat;
  const detail = graphDetail(data, (index) => choose(index, true));
  const heatText = (value) => (heat === 1 ? `${figure(value)} ms` : heat === 3 ? bytes(value) : detail.counted(value));
  const paint = () => {
    const figures = data.nodes.map((node) => node.heat[heat]);
    const largest = Math.max(...figures, 0);
    const share = (index) => (largest > 0 ? Math.sqrt(figures[index] / largest) : 0);
    const isHot = heat > 0 && largest > 0;
    cards.forEach((card, index) => {
      const coloured = isHot && data.nodes[index].kind !== 0 && data.nodes[index].kind !== 3;
      if (coloured) card.style.setProperty('--heat', ramp(share(index)));
      else card.style.removeProperty('--heat');
      card.classList.toggle('hot', coloured && (root.dataset.theme !== 'dark' || share(index) > 0.62));
    });
    const legend = byId('ramp');
    legend.hidden = !isHot;
    if (isHot) {
      legend.querySelector('i').style.background = `linear-gradient(90deg, ${[0, 0.33, 0.67, 1].map(ramp).join(', ')})`;
      legend.querySelector('small').textContent = `${data.heats[heat]}, up to ${heatText(largest)}`;
    }
    const style = getComputedStyle(root);
    const own = new Map();
    const colourOf = (name) => {
      if (!own.has(name)) {
        const probe = document.createElement('i');
        probe.className = name;
        document.body.append(probe);
        own.set(name, getComputedStyle(probe).getPropertyValue('--own') || style.getPropertyValue('--dominated'));
        probe.remove();
      }
      return own.get(name);
    };
    map.paint((index) => (isHot && cuts.length === 0 ? ramp(share(index)) : colourOf(classOf(index))));
  };

  // ---- A card that was chosen.
  let chosen = -1;
  const choose = (index, moves) => {
    if (chosen >= 0) cards[chosen].classList.remove('chosen');
    edges.forEach((path) => path.classList.remove('near'));
    chosen = index;
    if (index < 0) return;
    cards[index].classList.add('chosen');
    data.edges.forEach(([from, to], edge) => { if (from === index || to === index) edges[edge].classList.add('near'); });
    detail.show(index, classOf(index));
    if (!moves) return;
    const [left, top, width, height] = data.nodes[index].box;
    view.centre(left + width / 2, top + height / 2, Math.max(view.place.scale, 0.8));
  };

  // ---- Search: every word has to stand in a card's texts.
  const texts = data.nodes.map((node) => [node.title, node.path, node.contents, ...node.makes, ...node.weights.map(([name, shape]) => `${name} ${shape}`)].join(' ').toLowerCase());
  let matches = [];
  let shownMatch = -1;
  const search = (text) => {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    matches = words.length === 0 ? [] : texts.flatMap((all, index) => (words.every((word) => all.includes(word)) ? [index] : []));
    shownMatch = -1;
    scene.classList.toggle('searching', words.length > 0);
    const found = new Set(matches);
    cards.forEach((card, index) => card.classList.toggle('match', found.has(index)));
    byId('found').textContent = words.length === 0 ? '' : matches.length === 0 ? 'none' : `${matches.length} found`;
  };
  const nextMatch = (step) => {
    if (matches.length === 0) return;
    shownMatch = (shownMatch + step + matches.length) % matches.length;
    byId('found').textContent = `${shownMatch + 1} of ${matches.length}`;
    choose(matches[shownMatch], true);
  };

  // ---- What people do.
  let pointer = null;
  element.addEventListener('pointerdown', (event) => {
    if (event.button !== 0 || event.target.closest('.legend')) return;
    pointer = {id: event.pointerId, x: event.clientX, y: event.clientY, moved: false, card: event.target.closest('.card')};
  });
  element.addEventListener('pointermove', (event) => {
    if (!pointer || event.pointerId !== pointer.id) return;
    const x = event.clientX - pointer.x;
    const y = event.clientY - pointer.y;
    if (!pointer.moved && Math.hypot(x, y) < 4) return;
    if (!pointer.moved) element.setPointerCapture(event.pointerId);
    pointer = {...pointer, x: event.clientX, y: event.clientY, moved: true};
    element.classList.add('moving');
    set(view.place.x + x, view.place.y + y, view.place.scale);
  });
  element.addEventListener('pointerup', () => {
    if (pointer && !pointer.moved) choose(pointer.card ? Number(pointer.card.dataset.n) : -1, false);
    pointer = null;
    element.classList.remove('moving');
  });
  element.addEventListener('wheel', (event) => {
    event.preventDefault();
    const unit = event.deltaMode === 1 ? 18 : 1;
    if (event.ctrlKey || event.metaKey) {
      const box = element.getBoundingClientRect();
      zoom(Math.exp(-event.deltaY * unit * 0.004), event.clientX - box.left, event.clientY - box.top);
    } else {
      const sideways = event.shiftKey && event.deltaX === 0;
      set(view.place.x - (sideways ? event.deltaY : event.deltaX) * unit, view.place.y - (sideways ? 0 : event.deltaY) * unit, view.place.scale);
    }
  }, {passive: false});
  byId('in').addEventListener('click', () => zoom(1.3));
  byId('out').addEventListener('click', () => zoom(1 / 1.3));
  byId('fit').addEventListener('click', fit);
  const find = byId('find');
  find.addEventListener('input', () => search(find.value));
  find.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') nextMatch(event.shiftKey ? -1 : 1);
    if (event.key === 'Escape') { find.value = ''; search(''); element.focus(); }
  });
  addEventListener('keydown', (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || document.activeElement === find || document.activeElement.tagName === 'SELECT') return;
    const step = 80;
    const {x, y, scale} = view.place;
    const keys = {
      '/': () => { find.focus(); find.select(); },
      '+': () => zoom(1.3),
      '=': () => zoom(1.3),
      '-': () => zoom(1 / 1.3),
      0: fit,
      ArrowUp: () => set(x, y + step, scale),
      ArrowDown: () => set(x, y - step, scale),
      ArrowLeft: () => set(x + step, y, scale),
      ArrowRight: () => set(x - step, y, scale),
      PageUp: () => set(x, y + element.clientHeight * 0.9, scale),
      PageDown: () => set(x, y - element.clientHeight * 0.9, scale),
      Home: () => set(x, 0, scale),
      End: () => set(x, element.clientHeight - data.height * scale, scale),
    };
    if (!keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });
  const select = byId('heat');
  data.heats.forEach((title, index) => {
    if (title === null) return;
    const option = document.createElement('option');
    option.value = index;
    option.textContent = title || 'nothing';
    select.append(option);
  });
  select.value = heat;
  select.addEventListener('change', () => { heat = Number(select.value); paint(); });
  const rows = [...document.querySelectorAll('#cuts tbody tr')];
  const chooseCut = (index, moves) => {
    rows.forEach((row, at) => row.classList.toggle('chosen', at === index));
    showCuts(index < 0 ? [] : [data.cuts[index]]);
    if (moves && index >= 0) goToBoundary();
  };
  const goToBoundary = () => {
    const across = data.edges.filter(([from, to]) => stages[from] !== stages[to]);
    if (across.length === 0) return;
    const boxes = across.map(([from]) => data.nodes[from].box);
    const x = boxes.reduce((sum, [left, , width]) => sum + left + width / 2, 0) / boxes.length;
    const y = Math.max(...boxes.map(([, top, , height]) => top + height));
    view.centre(x, y, Math.max(view.place.scale, 0.6));
  };
  rows.forEach((row, index) => {
    row.tabIndex = 0;
    row.addEventListener('click', () => chooseCut(index, true));
    row.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' && event.key !== ' ') return;
      event.preventDefault();
      chooseCut(index, true);
    });
  });
  byId('no-cut').addEventListener('click', () => chooseCut(-1, false));
  const wished = matchMedia('(prefers-color-scheme: dark)');
  const setTheme = (name) => {
    root.dataset.theme = name;
    byId('theme').setAttribute('aria-pressed', String(name === 'dark'));
  };
  setTheme(new URLSearchParams(location.hash.slice(1)).get('theme') || (wished.matches ? 'dark' : 'light'));
  byId('theme').addEventListener('click', () => { setTheme(root.dataset.theme === 'dark' ? 'light' : 'dark'); paint(); });
  addEventListener('resize', () => { map.resize(); set(view.place.x, view.place.y, view.place.scale); });

  // ---- At first: all of it if it can be read so, else its begin, or the cut that was asked for.
  map.resize();
  showCuts(data.shown);
  const whole = smallest();
  if (whole >= 0.45) fit();
  else {
    const [left, , width] = data.nodes.length > 0 ? data.nodes[0].box : [0, 0, data.width];
    set(element.clientWidth / 2 - (left + width / 2) * 0.8, margin, 0.8);
  }
  if (data.shown.length > 0) {
    const index = data.cuts.findIndex((cut) => JSON.stringify(cut.before) === JSON.stringify(data.shown[0].before));
    if (data.shown.length === 1 && index >= 0) {
      rows[index].classList.add('chosen');
      // Only down: the table may be wider than its place.
      const aside = document.querySelector('aside');
      aside.scrollTop = Math.max(0, rows[index].getBoundingClientRect().bottom - aside.getBoundingClientRect().bottom + 40);
    }
    if (whole < 0.45) goToBoundary();
  }
  drawn();
})();
