// Appended to a report by report_test.sh: uses the page as a reader would, and writes what it finds into the page, one
// finding a line.
(() => {
  'use strict';
  const findings = [];
  const find = (...words) => findings.push(words.join(' '));
  const strokes = (run, kinds) => [...run.querySelectorAll(kinds)]
    .reduce((sum, path) => sum + path.getAttribute('d').split(/m/i).length - 1, 0);
  // The box of a stroke is as high as its line: not at all.
  const is_lane_drawn = (lane) => lane.getBoundingClientRect().width > 0;
  const is_drawn = (element) => element.getBoundingClientRect().height > 0 && getComputedStyle(element).display !== 'none';
  const is_red = (color) => {
    const [red, green, blue] = color.match(/\d+/g).map(Number);
    return red > 180 && green < 120 && blue < 120;
  };
  const box_of = (run) => run.querySelector('.lanes').viewBox.baseVal;

  const tell_of = (run) => {
    const name = run.dataset.run;
    const reds = [...run.querySelectorAll('.lane .oversold')];
    find('lanes', name, [...run.querySelectorAll('.lane')].filter(is_lane_drawn).length);
    find('bars', name, strokes(run, '.lane .hold, .lane .vain, .lane .conflict, .lane .oversold'));
    find('waits', name, strokes(run, '.lane .wait'));
    find('oversold', name, strokes(run, '.lane .oversold'));
    find('red', name, reds.every((path) => is_red(getComputedStyle(path).stroke)));
    find('figures', name, ...[...run.querySelectorAll('.figures dd')].map((each) => each.textContent));
    find('ticks', name, run.querySelectorAll('.ticks li').length > 1 && is_drawn(run.querySelector('.ticks')));
  };

  const press = (value) => document.querySelector(`.controls [value=${value}]`).click();
  const zoom = (run) => {
    const before = box_of(run).width;
    press('in');
    find('zoomed', Math.abs(box_of(run).width * 2 - before) < 1);
    press('whole');
    find('whole', box_of(run).x === 0 && box_of(run).width === +run.querySelector('.window').dataset.end);
  };

  // Of the middle of a bar.
  const point_at = (path) => {
    const svg = path.ownerSVGElement, view = svg.viewBox.baseVal, box = svg.getBoundingClientRect();
    const [, from, height, length] = path.getAttribute('d').match(/^M(-?\d+) (\d+)h(\d+)/).map(Number);
    const x = box.left + ((from + length / 2 - view.x) / view.width) * box.width;
    return { clientX: x, clientY: box.top + height, bubbles: true };
  };
  const hover = (path) => {
    path.scrollIntoView({ block: 'center' });
    const point = point_at(path), hit = document.elementFromPoint(point.clientX, point.clientY);
    hit.dispatchEvent(new PointerEvent('pointermove', point));
    const tip = document.getElementById('tip');
    find('tip', hit === path && is_drawn(tip) && tip.textContent.replaceAll('\n', ' / '));
  };

  const runs = [...document.querySelectorAll('.run')];
  runs.forEach(tell_of);
  const red = document.querySelector('.lanes .oversold');
  if (red) {
    const run = red.closest('.run');
    zoom(run);
    hover(red);
  }
  find('legend', document.querySelectorAll('.legend li').length);
  find('loaded', performance.getEntriesByType('resource').length);
  find('fits', document.documentElement.scrollWidth <= innerWidth);
  find('paper', getComputedStyle(document.body).backgroundColor);
  const answer = document.createElement('pre');
  answer.id = 'probe';
  answer.textContent = `\n${findings.join('\n')}\n`;
  document.body.append(answer);
})();
