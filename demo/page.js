// Zoom, pan and what is under the pointer. The page can be read without it.
(() => {
  'use strict';
  const means = {
    wait: 'waits', hold: 'holds the lock, sells a unit', vain: 'holds the lock, sells nothing',
    conflict: 'attempt that conflicted and is repeated', oversold: 'sells an oversold unit',
    'hold unlocked': 'purchase without a lock, sells a unit', 'vain unlocked': 'purchase without a lock, sells nothing',
  };
  const signed = (us) => {
    const digits = Math.abs(us) < 10000 ? 2 : 1;
    return `${us < 0 ? '\u2212' : ''}${(Math.abs(us) / 1000).toFixed(digits)} ms`;
  };
  const tickText = (us) => `${us < 0 ? '\u2212' : '+'}${+(Math.abs(us) / 1000).toFixed(3)} ms`;
  const stepFor = (length) => {
    const rough = Math.max(length / 5, 1), power = 10 ** Math.floor(Math.log10(rough));
    return [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough);
  };

  class Run {
    constructor(element) {
      this.lanes = element.querySelector('.lanes');
      this.ticks = element.querySelector('.ticks');
      this.visible = element.querySelector('.orders .visible');
      const plot = element.querySelector('.window');
      this.end = +plot.dataset.end;
      this.zero = +plot.dataset.zero;
      this.zeroText = plot.dataset.name;
      [this.from, , this.length] = this.lanes.getAttribute('viewBox').split(' ').map(Number);
      this.first = [this.from, this.length];
      this.listen();
    }
    show(from, length) {
      this.length = Math.min(Math.max(length, 200), Math.max(this.end, this.first[1]));
      this.from = Math.min(Math.max(from, -this.length / 2), this.end - this.length / 2);
      const box = this.lanes.viewBox.baseVal;
      this.lanes.setAttribute('viewBox', `${this.from} 0 ${this.length} ${box.height}`);
      this.visible.setAttribute('x', this.from);
      this.visible.setAttribute('width', this.length);
      this.drawTicks();
    }
    drawTicks() {
      const step = stepFor(this.length), ticks = [];
      const last = this.from + this.length - this.zero;
      for (let at = Math.ceil((this.from - this.zero) / step); at * step <= last; ++at) {
        const item = document.createElement('li'), text = document.createElement('span');
        item.style.left = `${((at * step + this.zero - this.from) / this.length) * 100}%`;
        text.textContent = at === 0 ? '0' : tickText(at * step);
        item.append(text);
        if (at === 0) this.nameZero(item);
        ticks.push(item);
      }
      this.ticks.replaceChildren(...ticks);
    }
    nameZero(item) {
      const name = document.createElement('b');
      name.textContent = this.zeroText;
      item.className = 'zero';
      item.append(name);
    }
    zoom(factor) { this.show(this.from + (this.length * (1 - factor)) / 2, this.length * factor); }
    pan(share) { this.show(this.from + this.length * share, this.length); }
    listen() {
      const keys = { ArrowLeft: () => this.pan(-0.2), ArrowRight: () => this.pan(0.2), '+': () => this.zoom(0.5), '-': () => this.zoom(2) };
      this.lanes.tabIndex = 0;
      this.lanes.addEventListener('keydown', (event) => {
        if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
        keys[event.key]();
        event.preventDefault();
      });
      this.lanes.addEventListener('pointerdown', (event) => this.lanes.setPointerCapture(event.pointerId));
      this.lanes.addEventListener('pointermove', (event) => {
        if (event.buttons & 1) this.pan(-event.movementX / this.lanes.clientWidth);
        this.tell(event);
      });
      this.lanes.addEventListener('pointerleave', () => { tip.hidden = true; });
    }
    timeAt(event) {
      const box = this.lanes.getBoundingClientRect();
      return this.from + ((event.clientX - box.left) / box.width) * this.length;
    }
    tell(event) {
      const bar = event.buttons === 0 && barAt(event.target, this.timeAt(event));
      tip.hidden = !bar;
      if (!bar) return;
      tip.textContent = `${bar.lane}\n${bar.what}: ${signed(bar.to - bar.from)}\nfrom ${signed(bar.from - this.zero)}`;
      tip.style.left = `${Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8)}px`;
      tip.style.top = `${Math.min(event.clientY + 16, innerHeight - tip.offsetHeight - 8)}px`;
    }
  }

  // The strokes of a path, read when it is first pointed at.
  const read = new WeakMap();
  const strokesOf = (path) => {
    if (read.has(path)) return read.get(path);
    let end = 0;
    const strokes = path.getAttribute('d').split(/m/i).slice(1).map((each) => {
      const [move, length] = each.split('h'), from = end + parseInt(move, 10);
      end = from + +length;
      return { from, to: end };
    });
    read.set(path, strokes);
    return strokes;
  };
  const barAt = (path, time) => {
    const lane = path.closest('.lane');
    if (!lane || path === lane) return null;
    const away = (each) => Math.max(each.from - time, time - each.to, 0);
    const nearest = strokesOf(path).reduce((best, each) => (away(each) < away(best) ? each : best));
    return { ...nearest, lane: lane.dataset.name, what: means[path.getAttribute('class')] };
  };

  const tip = document.getElementById('tip');
  const runs = [...document.querySelectorAll('.run')].map((each) => new Run(each));
  // The titles are what a browser shows by itself; here `tip` says more.
  for (const title of document.querySelectorAll('.lane title')) {
    title.parentNode.setAttribute('aria-label', title.textContent);
    title.remove();
  }
  const act = {
    in: (run) => run.zoom(0.5), out: (run) => run.zoom(2),
    first: (run) => run.show(...run.first), whole: (run) => run.show(0, run.end),
  };
  for (const button of document.querySelectorAll('.controls button'))
    button.addEventListener('click', () => runs.forEach(act[button.value]));
  document.querySelector('.controls').hidden = false;
  document.body.classList.add('ready');
})();
