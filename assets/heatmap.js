// The fleet map: a canvas, a scrubber through time, and a readout of the GPU under the pointer or the cursor.
// Traits: html; picture {epoch, shape, frames, now, labels, hours, shown, big} (one trait, so that the map never
// mixes two settings; `now` is the frame `shown` as it is, to be painted before the others are unpacked); ask {serial, epoch, frame, gpu} (out); answer {serial, sentence} (in).
import { BIG, BUSY, DEAD, IDLE, Shape, bytes, inflate, unpack } from "./fleet.js";
import { KEYS, Painter, cellSide } from "./fleet_paint.js";
import { mount, send } from "./mount.js";

const FRAME_MS = 250, ASK_MS = 120;
const number = value => value.toLocaleString("en");

class FleetView {
  constructor(root, model) {
    const find = selector => root.querySelector(selector);
    Object.assign(this, {
      root, model, find, fleet: find(".fl-fleet"), canvas: find("canvas"), stage: find(".fl-stage"), cursor: find(".fl-cursor"),
      slider: find(".fl-scrub input"), clock: find(".fl-scrub output"), play: find(".fl-scrub button"), readout: find(".fl-readout"),
      painter: new Painter(root, find("canvas")),
      still: matchMedia("(prefers-reduced-motion: reduce)"), dark: matchMedia("(prefers-color-scheme: dark)"),
      picture: null, shape: null, cells: null, states: null, frame: 0, focus: 0, chosen: null,
      queued: 0, timer: 0, asking: 0, serial: 0, latest: 0,
    });
  }

  // ---- a new picture ----
  async load() {
    const next = this.model.get("picture"), mine = ++this.latest;
    if (!next?.frames) return;
    this.frame = this.sameMoment(next);
    if (JSON.stringify(next.shape) !== JSON.stringify(this.picture?.shape)) {
      Object.assign(this, { shape: new Shape(next.shape), focus: 0, chosen: null });
    }
    this.picture = next;
    this.cells = null;
    this.slider.max = next.labels.length - 1;
    this.draw();  // at once: an animation frame would wait behind the page's other work on this setting
    const cells = await inflate(next.frames);
    if (mine !== this.latest) return;
    this.cells = cells;
    if (Number(this.canvas.dataset.epoch) !== next.epoch) this.queue();
  }

  // A student who has moved the scrubber stays at that hour; else the map opens where the outcome says.
  sameMoment(next) {
    if (this.fleet.dataset.scrubbed !== "true" || !this.picture) return next.shown;
    const hour = this.picture.hours[this.frame], away = i => Math.abs(next.hours[i] - hour);
    return next.hours.reduce((best, _, i) => (away(i) < away(best) ? i : best), 0);
  }

  // ---- drawing ----
  queue() { this.queued ||= requestAnimationFrame(() => this.draw()); }

  draw() {
    this.queued = 0;
    const states = this.picture && this.stage.clientWidth ? this.present() : null;
    if (!states) return;
    this.states = states;
    const side = cellSide(this.shape, this.stage);
    this.painter.paint(this.shape, this.states, side);
    this.tellFrame();
    this.place();
    Object.assign(this.canvas.dataset, { epoch: this.picture.epoch, frame: this.frame, cell: side });
  }

  // The states at the present frame; null while they are still packed.
  present() {
    if (this.cells) return unpack(this.cells, this.frame, this.shape.gpus);
    return this.frame === this.picture.shown ? unpack(bytes(this.picture.now), 0, this.shape.gpus) : null;
  }

  // ---- words ----
  word(state) { return { [IDLE]: "idle", [BUSY]: "working", [DEAD]: "failed", [BIG]: this.picture.big }[state]; }

  tellFrame() {
    const counts = [0, 0, 0, 0], label = this.picture.labels[this.frame];
    for (const state of this.states) counts[state]++;
    KEYS.forEach((key, state) => { this.find(`[data-count=${key}]`).textContent = number(counts[state]); });
    const named = [BUSY, ...(this.picture.big ? [BIG] : []), IDLE, DEAD];
    const words = named.map(state => `${number(counts[state])} ${state === BIG ? "of " : ""}${this.word(state)}`);
    this.canvas.setAttribute("aria-label", `Fleet of ${number(this.shape.gpus)} GPUs at ${label}: ${words.join(", ")}`);
    this.clock.textContent = label;
    this.slider.value = this.frame;
    this.slider.setAttribute("aria-valuetext", label);
    this.slider.parentElement.style.setProperty("--fl-at", this.frame / Math.max(1, this.picture.labels.length - 1));
    if (this.chosen !== null) this.tell(this.chosen);
  }

  tell(gpu) {
    const { rack, node, slot } = this.shape.name(gpu), state = this.states[gpu];
    this.chosen = gpu;
    delete this.readout.dataset.answered;
    this.readout.textContent = `Rack ${rack}, node ${node}, GPU ${slot}: ${this.word(state)}`;
    clearTimeout(this.asking);
    if (state === BUSY || state === BIG) this.asking = setTimeout(() => this.ask(), ASK_MS);
  }

  // Who holds the GPU is asked of the kernel: the names of all GPUs at every moment are not in the page.
  ask() {
    this.serial += 1;
    send(this.model, { ask: { serial: this.serial, epoch: this.picture.epoch, frame: this.frame, gpu: this.chosen } });
  }

  answered() {
    const { serial, sentence } = this.model.get("answer");
    if (serial !== this.serial || !sentence) return;
    this.readout.textContent = `${this.readout.textContent.split(" · ")[0]} · ${sentence}`;
    this.readout.dataset.answered = serial;
  }

  // ---- pointer and cursor ----
  place() {
    this.cursor.hidden = !this.canvas.matches(":focus");
    if (this.cursor.hidden || !this.shape) return;
    const [column, row] = this.shape.cell(this.focus), side = this.canvas.clientWidth / this.shape.columns;
    this.cursor.style.translate = `${column * side}px ${row * side}px`;
    this.cursor.style.width = this.cursor.style.height = `${side}px`;
  }

  focused() {
    this.place();
    if (this.states) this.tell(this.focus);
  }

  pointed(event) {
    if (!this.states) return;
    const box = this.canvas.getBoundingClientRect(), { columns, rows } = this.shape;
    const column = Math.floor((event.clientX - box.left) / box.width * columns);
    const gpu = this.shape.at(column, Math.floor((event.clientY - box.top) / box.height * rows));
    if (gpu >= 0 && gpu !== this.chosen) this.tell(gpu);
  }

  // Arrows move by a GPU, with shift by a node.
  pressed(event) {
    const step = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }[event.key];
    if (!step || !this.states) return;
    event.preventDefault();
    const by = event.shiftKey ? [this.shape.nodeColumns, this.shape.nodeRows] : [1, 1], [column, row] = this.shape.cell(this.focus);
    const gpu = this.shape.at(column + step[0] * by[0], row + step[1] * by[1]);
    if (gpu >= 0) this.focus = gpu;
    this.focused();
  }

  // ---- time ----
  goTo(frame) {
    this.frame = Math.max(0, Math.min(this.picture.labels.length - 1, frame));
    this.fleet.dataset.scrubbed = "true";
    this.queue();
  }

  scrubbed() {
    this.stop();
    if (this.picture) this.goTo(Number(this.slider.value));
  }

  next() { this.goTo(this.frame + 1 < this.picture.labels.length ? this.frame + 1 : 0); }

  stop() {
    clearInterval(this.timer);
    this.timer = 0;
    this.play.dataset.state = this.still.matches ? "step" : "stopped";
    this.play.setAttribute("aria-label", this.still.matches ? "Step to the next moment" : "Play");
  }

  // Who asked for less motion gets one step a press.
  toggle() {
    if (!this.picture) return;
    if (this.still.matches) return this.next();
    if (this.timer) return this.stop();
    this.timer = setInterval(() => this.next(), FRAME_MS);
    this.play.dataset.state = "playing";
    this.play.setAttribute("aria-label", "Pause");
  }

  // ---- wiring ----
  wire() {
    const off = [];
    const on = (target, name, action) => {
      target.addEventListener(name, action);
      off.push(() => target.removeEventListener(name, action));
    };
    const hear = (name, action) => { this.model.on(name, action); off.push(() => this.model.off(name, action)); };
    on(this.canvas, "pointermove", event => this.pointed(event));
    on(this.canvas, "keydown", event => this.pressed(event));
    on(this.canvas, "focus", () => this.focused());
    on(this.canvas, "blur", () => this.place());
    on(this.slider, "input", () => this.scrubbed());
    on(this.play, "click", () => this.toggle());
    on(this.dark, "change", () => this.queue());
    on(this.still, "change", () => this.stop());
    hear("change:picture", () => this.load());
    hear("change:answer", () => this.answered());
    const sized = new ResizeObserver(() => this.queue());
    sized.observe(this.stage);
    this.stop();
    this.load();
    return () => { off.forEach(undo => undo()); sized.disconnect(); clearInterval(this.timer); clearTimeout(this.asking); };
  }
}

export function render(context) {
  return mount(context, root => new FleetView(root, context.model).wire());
}
export default { render };
