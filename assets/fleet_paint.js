// Paints the states of a fleet on a canvas: cells, lines between racks, a cross on each failed node.
// The colours are those of the legend, so that map, legend and dark mode cannot disagree.
import { DEAD } from "./fleet.js";

export const KEYS = ["idle", "busy", "dead", "big"];

export class Painter {
  constructor(root, canvas) {
    this.root = root;
    this.canvas = canvas;
    this.small = document.createElement("canvas");
  }

  // Paint at `side` device pixels a cell.
  paint(shape, states, side) {
    const { canvas } = this, ratio = devicePixelRatio || 1;
    this.#cells(shape, states);
    canvas.width = side * shape.columns;
    canvas.height = side * shape.rows;
    canvas.style.width = `${canvas.width / ratio}px`;
    canvas.style.height = `${canvas.height / ratio}px`;
    const context = canvas.getContext("2d");
    context.imageSmoothingEnabled = false;
    context.drawImage(this.small, 0, 0, canvas.width, canvas.height);
    this.#racks(context, shape, side);
    this.#crosses(context, shape, states, side);
  }

  #colour(key) { return getComputedStyle(this.root.querySelector(`.fl-key-${key}`)).backgroundColor; }

  // A colour as the four bytes of a pixel, red first.
  #pixel(key) {
    const [red, green, blue] = this.#colour(key).match(/[\d.]+/g).map(Number);
    return (255 << 24 | blue << 16 | green << 8 | red) >>> 0;
  }

  #cells(shape, states) {
    this.small.width = shape.columns;
    this.small.height = shape.rows;
    const context = this.small.getContext("2d"), image = context.createImageData(shape.columns, shape.rows);
    const pixels = new Uint32Array(image.data.buffer), palette = KEYS.map(key => this.#pixel(key));
    for (let gpu = 0; gpu < shape.gpus; gpu++) pixels[shape.pixels[gpu]] = palette[states[gpu]];
    context.putImageData(image, 0, 0);
  }

  #racks(context, shape, side) {
    const line = Math.max(1, Math.round(devicePixelRatio || 1)), { width, height } = this.canvas;
    context.fillStyle = this.#colour("gutter");
    for (let x = shape.nodeColumns; x < shape.columns; x += shape.nodeColumns) context.fillRect(x * side, 0, line, height);
    for (let y = shape.rackRows; y < shape.rows; y += shape.rackRows) context.fillRect(0, y * side, width, line);
  }

  #crosses(context, shape, states, side) {
    const dead = new Set();
    states.forEach((state, gpu) => { if (state === DEAD) dead.add(Math.floor(gpu / shape.gpusPerNode)); });
    context.strokeStyle = this.#colour("cross");
    context.lineWidth = Math.max(1.25, side / 3);
    context.beginPath();
    for (const node of dead) {
      const [column, row] = shape.cell(node * shape.gpusPerNode), arm = side * 0.75;
      const x = (column + shape.nodeColumns / 2) * side, y = (row + shape.nodeRows / 2) * side;
      context.moveTo(x - arm, y - arm);
      context.lineTo(x + arm, y + arm);
      context.moveTo(x + arm, y - arm);
      context.lineTo(x - arm, y + arm);
    }
    context.stroke();
  }
}

// The side of a cell in device pixels: the most whole pixels that fit the room there is.
export function cellSide(shape, { clientWidth, clientHeight }) {
  const fit = Math.min(clientWidth / shape.columns, (clientHeight || Infinity) / shape.rows);
  return Math.max(1, Math.floor(fit * (devicePixelRatio || 1) + 0.01));
}
