"""The shape of a fleet: how many GPUs a node has, how many nodes a rack, and where each is drawn."""

from __future__ import annotations

from pydantic import Field

from engine.model import Frozen


class MapShape(Frozen):
    """A fleet as it is built and drawn: a node `node_columns` GPUs wide, a rack one column of nodes.

    Nodes are numbered in fabric order; rack r holds the nodes r · nodes_per_rack and up.
    """

    nodes: int = Field(default=1250, ge=1)
    gpus_per_node: int = Field(default=8, ge=1, le=8)
    nodes_per_rack: int = Field(default=5, ge=1)
    racks_per_row: int = Field(default=25, ge=1)
    node_columns: int = Field(default=4, ge=1, le=8)

    @property
    def gpus(self) -> int:
        """GPUs of the fleet."""
        return self.nodes * self.gpus_per_node

    @property
    def node_rows(self) -> int:
        """Rows of GPUs in a node."""
        return -(-self.gpus_per_node // self.node_columns)

    @property
    def columns(self) -> int:
        """Width of the map in GPUs."""
        return self.racks_per_row * self.node_columns

    @property
    def rows(self) -> int:
        """Height of the map in GPUs."""
        racks = -(-self.nodes // self.nodes_per_rack)
        return -(-racks // self.racks_per_row) * self.nodes_per_rack * self.node_rows

    def rack(self, node: int) -> int:
        """Return the rack of a node."""
        return node // self.nodes_per_rack

    def cell(self, gpu: int) -> tuple[int, int]:
        """Return the (column, row) of GPU number node · gpus_per_node + slot, both from 0."""
        node, slot = divmod(gpu, self.gpus_per_node)
        rack, place = divmod(node, self.nodes_per_rack)
        column = rack % self.racks_per_row * self.node_columns + slot % self.node_columns
        row = (rack // self.racks_per_row * self.nodes_per_rack + place) * self.node_rows
        return column, row + slot // self.node_columns
