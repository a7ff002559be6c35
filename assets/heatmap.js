// The fleet map: a canvas, a scrubber through time, and a readout of the GPU under the pointer or the cursor.
// Traits: html; picture {epoch, shape, frames, labels, hours, crisis, after_act, big} (one trait, so that the
// map never mixes two settings); ask {serial, epoch, frame, gpu} (out); answer {serial, sentence} (in).
import { BIG, BUSY, DEAD, IDLE, Shape, inflate, unpack } from "./fleet.js";
import { mount, send } from "./mount.js";

const FRAME_MS = 250, ASK_MS = 120;
const KEYS = ["idle", "busy", "dead", "big"];

function wire(root, model) {
  const find = selector => root.querySelector(selector);
  const fleet = find(".fl-fleet"), canvas = find("canvas"), stage = find(".fl-stage"), cursor = find(".fl-cursor");
  const slider = find(".fl-scrub input"), clock = find(".fl-scrub output"), play = find(".fl-scrub button");
  const readout = find(".fl-readout");
  const small = document.createElement("canvas");
  const still = matchMedia("(prefers-reduced-motion: reduce)"), dark = matchMedia("(prefers-color-scheme: dark)");
  let picture = null, shape = null, cells = null, states = null, frame = 0;
  let chosen = null, focus = 0, queued = 0, timer = 0, asking = 0, serial = 0, latest = 0;

  // ---- drawing ----
  const colour = key => getComputedStyle(find(`.fl-key-${key}`)).backgroundColor;
  const packedColour = key => {
    const [r, g, b] = colour(key).match(/[\d.]+/g).map(Number);
    return (255 << 24 | b << 16 | g << 8 | r) >>> 0;
  };
  // The side of a cell: the most whole device pixels that fit the room there is.
  function cell() {
    const { clientWidth: width, clientHeight: height } = stage, ratio = devicePixelRatio || 1;
    const fit = Math.min(width / shape.columns, (height || Infinity) / shape.rows);
    return Math.max(1, Math.floor(fit * ratio + 0.01));
  }
  function paintCells() {
    const context = small.getContext("2d"), image = context.createImageData(shape.columns, shape.rows);
    const pixels = new Uint32Array(image.data.buffer), palette = KEYS.map(packedColour);
    for (let gpu = 0; gpu < shape.gpus; gpu++) pixels[shape.pixels[gpu]] = palette[states[gpu]];
    context.putImageData(image, 0, 0);
  }
  function paintRacks(context, side) {
    context.fillStyle = colour("gutter");
    const line = Math.max(1, Math.round(devicePixelRatio || 1));
    for (let x = shape.nodeColumns; x < shape.columns; x += shape.nodeColumns) context.fillRect(x * side, 0, line, canvas.height);
    for (let y = shape.rackRows; y < shape.rows; y += shape.rackRows) context.fillRect(0, y * side, canvas.width, line);
  }
  function paintCrosses(context, side) {
    const dead = new Set();
    states.forEach((state, gpu) => { if (state === DEAD) dead.add(Math.floor(gpu / shape.gpusPerNode)); });
    context.strokeStyle = colour("cross");
    context.lineWidth = Math.max(1.25, side / 3);
    context.beginPath();
    for (const node of dead) {
      const [column, row] = shape.cell(node * shape.gpusPerNode), arm = side * 0.75;
      const x = (column + shape.nodeColumns / 2) * side, y = (row + shape.nodeRows / 2) * side;
      context.moveTo(x - arm, y - arm); context.lineTo(x + arm, y + arm);
      context.moveTo(x + arm, y - arm); context.lineTo(x - arm, y + arm);
    }
    context.stroke();
  }
  function draw() {
    queued = 0;
    if (!cells || !stage.clientWidth) return;
    states = unpack(cells, frame, shape.gpus);
    paintCells();
    const side = cell(), ratio = devicePixelRatio || 1;
    canvas.width = side * shape.columns;
    canvas.height = side * shape.rows;
    canvas.style.width = `${canvas.width / ratio}px`;
    canvas.style.height = `${canvas.height / ratio}px`;
    const context = canvas.getContext("2d");
    context.imageSmoothingEnabled = false;
    context.drawImage(small, 0, 0, canvas.width, canvas.height);
    paintRacks(context, side);
    paintCrosses(context, side);
    tellFrame();
    place();
    canvas.dataset.epoch = picture.epoch;
    canvas.dataset.frame = frame;
    canvas.dataset.cell = side;
  }
  const queue = () => { queued ||= requestAnimationFrame(draw); };

  // ---- words ----
  const number = value => value.toLocaleString("en");
  const words = state => ({ [IDLE]: "idle", [BUSY]: "working", [DEAD]: "failed", [BIG]: picture.big })[state];
  function tellFrame() {
    const counts = [0, 0, 0, 0];
    for (const state of states) counts[state]++;
    const label = picture.labels[frame];
    canvas.setAttribute("aria-label", `Fleet of ${number(shape.gpus)} GPUs at ${label}: ${number(counts[BUSY])} working, ` +
      `${number(counts[BIG])} held by ${picture.big}, ${number(counts[IDLE])} idle, ${number(counts[DEAD])} failed`);
    clock.textContent = label;
    slider.value = frame;
    slider.setAttribute("aria-valuetext", label);
    slider.parentElement.style.setProperty("--fl-at", frame / Math.max(1, picture.labels.length - 1));
    find(".fl-counts").textContent = `${number(counts[BUSY] + counts[BIG])} GPUs busy, ${number(counts[IDLE])} idle, ${number(counts[DEAD])} failed`;
    if (chosen !== null) tell(chosen);
  }
  function tell(gpu) {
    chosen = gpu;
    const { rack, node, slot } = shape.name(gpu);
    readout.textContent = `Rack ${rack}, node ${node}, GPU ${slot}: ${words(states[gpu])}`;
    clearTimeout(asking);
    if (states[gpu] === BUSY || states[gpu] === BIG) asking = setTimeout(ask, ASK_MS);
  }
  // Who holds the GPU is asked of the kernel: the names of 10,000 GPUs at every moment are not in the page.
  function ask() {
    serial += 1;
    send(model, { ask: { serial, epoch: picture.epoch, frame, gpu: chosen } });
  }
  function answered() {
    const answer = model.get("answer");
    if (answer.serial === serial && chosen !== null) {
      readout.textContent = `${readout.textContent.split(" · ")[0]} · ${answer.sentence}`;
      readout.dataset.answered = serial;
    }
  }

  // ---- pointer, cursor, time ----
  function place() {
    const shown = root.ownerDocument && canvas.matches(":focus");
    cursor.hidden = !shown;
    if (!shown) return;
    const [column, row] = shape.cell(focus), side = canvas.clientWidth / shape.columns;
    cursor.style.translate = `${column * side}px ${row * side}px`;
    cursor.style.width = cursor.style.height = `${side}px`;
  }
  function move(columns, rows) {
    const [column, row] = shape.cell(focus), gpu = shape.at(column + columns, row + rows);
    if (gpu >= 0) focus = gpu;
    place();
    tell(focus);
  }
  function pointed(event) {
    if (!states) return;
    const box = canvas.getBoundingClientRect();
    const gpu = shape.at(Math.floor((event.clientX - box.left) / box.width * shape.columns), Math.floor((event.clientY - box.top) / box.height * shape.rows));
    if (gpu >= 0 && gpu !== chosen) tell(gpu);
  }
  function pressed(event) {
    const by = event.shiftKey && shape ? [shape.nodeColumns, shape.nodeRows] : [1, 1];
    const step = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }[event.key];
    if (!step || !states) return;
    event.preventDefault();
    move(step[0] * by[0], step[1] * by[1]);
  }
  function goTo(next) {
    frame = Math.max(0, Math.min(picture.labels.length - 1, next));
    fleet.dataset.scrubbed = "true";
    queue();
  }
  function stop() {
    clearInterval(timer);
    timer = 0;
    play.dataset.state = still.matches ? "step" : "stopped";
    play.setAttribute("aria-label", still.matches ? "Step to the next moment" : "Play");
  }
  function toggle() {
    if (!picture?.labels) return;
    const next = () => goTo(frame + 1 >= picture.labels.length ? 0 : frame + 1);
    if (still.matches) return next();
    if (timer) return stop();
    timer = setInterval(next, FRAME_MS);
    play.dataset.state = "playing";
    play.setAttribute("aria-label", "Pause");
  }

  // ---- a new picture ----
  // A student who has moved the scrubber stays at that hour; else the map shows the moment after the act.
  function sameMoment(next) {
    if (fleet.dataset.scrubbed !== "true" || !picture?.hours) return next.after_act;
    const hour = picture.hours[frame];
    return next.hours.reduce((best, at, i) => (Math.abs(at - hour) < Math.abs(next.hours[best] - hour) ? i : best), 0);
  }
  async function load() {
    const next = model.get("picture"), mine = ++latest;
    if (!next?.frames) return;
    const bytes = await inflate(next.frames);
    if (mine !== latest) return;
    frame = sameMoment(next);
    if (JSON.stringify(next.shape) !== JSON.stringify(picture?.shape)) {
      shape = new Shape(next.shape);
      small.width = shape.columns;
      small.height = shape.rows;
      focus = 0;
      chosen = null;
    }
    picture = next;
    cells = bytes;
    slider.max = picture.labels.length - 1;
    queue();
  }

  canvas.addEventListener("pointermove", pointed);
  canvas.addEventListener("keydown", pressed);
  canvas.addEventListener("focus", () => { if (states) { place(); tell(focus); } });
  canvas.addEventListener("blur", place);
  slider.addEventListener("input", () => { stop(); goTo(Number(slider.value)); });
  play.addEventListener("click", toggle);
  model.on("change:picture", load);
  model.on("change:answer", answered);
  const sized = new ResizeObserver(queue);
  sized.observe(stage);
  for (const query of [dark, still]) query.addEventListener("change", queue);
  stop();
  load();
  return () => {
    clearInterval(timer);
    clearTimeout(asking);
    sized.disconnect();
    for (const query of [dark, still]) query.removeEventListener("change", queue);
    model.off("change:picture", load);
    model.off("change:answer", answered);
  };
}

export function render(context) {
  return mount(context, root => wire(root, context.model));
}
export default { render };
