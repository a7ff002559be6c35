// The geometry and the packed states of a fleet map, apart from how they are drawn.
// States, two bits a GPU in GPU order, frame after frame: 0 idle, 1 working, 2 failed, 3 the big job.

export const IDLE = 0, BUSY = 1, DEAD = 2, BIG = 3;

// A fleet's shape as Python's MapShape: where each GPU is drawn and which GPU is drawn where.
export class Shape {
  constructor({ nodes, gpus_per_node, nodes_per_rack, racks_per_row, node_columns }) {
    Object.assign(this, { nodes, gpusPerNode: gpus_per_node, nodesPerRack: nodes_per_rack, racksPerRow: racks_per_row, nodeColumns: node_columns });
    this.nodeRows = Math.ceil(gpus_per_node / node_columns);
    this.gpus = nodes * gpus_per_node;
    this.columns = racks_per_row * node_columns;
    this.rackRows = nodes_per_rack * this.nodeRows;
    this.rows = Math.ceil(Math.ceil(nodes / nodes_per_rack) / racks_per_row) * this.rackRows;
    this.pixels = new Uint32Array(this.gpus);
    this.gpuAt = new Int32Array(this.columns * this.rows).fill(-1);
    for (let gpu = 0; gpu < this.gpus; gpu++) {
      const [column, row] = this.cell(gpu);
      this.pixels[gpu] = row * this.columns + column;
      this.gpuAt[row * this.columns + column] = gpu;
    }
  }

  cell(gpu) {
    const node = Math.floor(gpu / this.gpusPerNode), slot = gpu % this.gpusPerNode;
    const rack = Math.floor(node / this.nodesPerRack), place = node % this.nodesPerRack;
    return [
      rack % this.racksPerRow * this.nodeColumns + slot % this.nodeColumns,
      (Math.floor(rack / this.racksPerRow) * this.nodesPerRack + place) * this.nodeRows + Math.floor(slot / this.nodeColumns),
    ];
  }

  at(column, row) {
    const inside = column >= 0 && row >= 0 && column < this.columns && row < this.rows;
    return inside ? this.gpuAt[row * this.columns + column] : -1;
  }

  name(gpu) {
    const node = Math.floor(gpu / this.gpusPerNode);
    return { rack: Math.floor(node / this.nodesPerRack), node, slot: gpu % this.gpusPerNode };
  }
}

// The states of all GPUs at one frame, a byte each.
export function unpack(cells, frame, gpus) {
  const states = new Uint8Array(gpus), start = frame * Math.ceil(gpus / 4);
  for (let gpu = 0; gpu < gpus; gpu++) states[gpu] = cells[start + (gpu >> 2)] >> ((gpu & 3) * 2) & 3;
  return states;
}

// Bytes as a widget's trait or an exported file may hold them.
export function bytes(view) {
  return view instanceof Uint8Array ? view : new Uint8Array(view.buffer ?? view, view.byteOffset ?? 0, view.byteLength);
}

export async function inflate(packed) {
  const stream = new Blob([bytes(packed)]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
