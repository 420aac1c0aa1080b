// A small map of the whole drawing, at the right edge. It shows where the window is, and takes it
// to where it is clicked.
const graphMap = (view, data) => {
  'use strict';
  const MOST_WIDTH = 92;
  const canvas = document.getElementById('map');
  let colourOf = () => '#8a94a3';
  let sides = null;
  // Long chains are drawn wider than they are: sideways and down have scales of their own.
  const measure = () => {
    const high = view.element.clientHeight - 24;
    const across = Math.min(MOST_WIDTH, Math.max(34, data.width * high / data.height));
    const down = Math.min(high, Math.max(60, data.height * across / data.width));
    sides = {across, down, x: across / data.width, y: down / data.height};
    const pixels = devicePixelRatio || 1;
    canvas.width = Math.round(across * pixels);
    canvas.height = Math.round(down * pixels);
    canvas.style.width = `${across}px`;
    canvas.style.height = `${down}px`;
  };
  let cards = null;  // the map without the window, drawn once a colouring
  const drawCards = () => {
    cards = document.createElement('canvas');
    cards.width = canvas.width;
    cards.height = canvas.height;
    const brush = cards.getContext('2d');
    const pixels = canvas.width / sides.across;
    brush.scale(pixels, pixels);
    data.nodes.forEach((node, index) => {
      const [left, top, width, height] = node.box;
      brush.fillStyle = colourOf(index);
      brush.fillRect(left * sides.x, top * sides.y, Math.max(width * sides.x, 1.5), Math.max(height * sides.y, 0.8));
    });
  };
  const draw = () => {
    const brush = canvas.getContext('2d');
    brush.setTransform(1, 0, 0, 1, 0, 0);
    brush.clearRect(0, 0, canvas.width, canvas.height);
    brush.drawImage(cards, 0, 0);
    const pixels = canvas.width / sides.across;
    brush.scale(pixels, pixels);
    const {x, y, scale} = view.place;
    const left = Math.max(-x / scale * sides.x, 0);
    const top = Math.max(-y / scale * sides.y, 0);
    const right = Math.min((view.element.clientWidth - x) / scale * sides.x, sides.across);
    const bottom = Math.min((view.element.clientHeight - y) / scale * sides.y, sides.down);
    if (right <= left || bottom <= top) return;
    const accent = getComputedStyle(document.documentElement).getPropertyValue('--accent');
    brush.globalAlpha = 0.14;
    brush.fillStyle = accent;
    brush.fillRect(left, top, right - left, Math.max(bottom - top, 2));
    brush.globalAlpha = 1;
    brush.strokeStyle = accent;
    brush.lineWidth = 1.5;
    brush.strokeRect(left + 0.75, top + 0.75, Math.max(right - left - 1.5, 1), Math.max(bottom - top - 1.5, 2));
  };
  const go = (event) => {
    const box = canvas.getBoundingClientRect();
    view.centre((event.clientX - box.left) / sides.x, (event.clientY - box.top) / sides.y);
  };
  canvas.addEventListener('pointerdown', (event) => {
    event.stopPropagation();
    canvas.setPointerCapture(event.pointerId);
    go(event);
  });
  canvas.addEventListener('pointermove', (event) => {
    if (canvas.hasPointerCapture(event.pointerId)) go(event);
  });
  const resize = () => {
    measure();
    drawCards();
    draw();
  };
  return {
    draw,
    resize,
    paint: (colour) => {
      colourOf = colour;
      drawCards();
      draw();
    },
  };
};
