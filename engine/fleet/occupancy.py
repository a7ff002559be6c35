"""Which GPUs of which nodes are taken, kept so that every question a scheduler asks is a few shifts."""

from __future__ import annotations

from functools import cache

from engine.errors import InvalidInput
from engine.fleet.bits import first_run, longest_run, members, without_positions


class Occupancy:
    """The GPUs of a fleet of equal nodes, as bits.

    `busy[n]` has a bit for every taken GPU slot of node n. `boards[f]` is the set of healthy nodes with
    exactly f free GPUs. Failed nodes are on no board.

    Parameters
    ----------
    nodes: number of nodes, at least 1.
    gpus_per_node: GPUs of each, 1 to 8.
    """

    def __init__(self, nodes: int, gpus_per_node: int) -> None:
        if nodes < 1:
            raise InvalidInput("nodes", nodes, "a whole number of at least 1")
        if not 1 <= gpus_per_node <= 8:
            raise InvalidInput("gpus_per_node", gpus_per_node, "a whole number from 1 to 8")
        self.nodes = nodes
        self.gpus_per_node = gpus_per_node
        self.full_mask = (1 << gpus_per_node) - 1
        self.busy = bytearray(nodes)
        self.boards = [0] * gpus_per_node + [(1 << nodes) - 1]
        self.bit = [1 << n for n in range(nodes)]
        self.failed: list[int] = []
        self._no_block = (-1, 0)  # the last set of free nodes without a run, and of which length
        self.free_of, self.slots_of = _tables(gpus_per_node)

    def take(self, node: int, gpus: int) -> int:
        """Take the lowest `gpus` free slots of a node and return them as a mask."""
        busy, bit, boards = self.busy[node], self.bit[node], self.boards
        slots = self.slots_of[gpus][busy]
        free = self.free_of[busy]
        boards[free] ^= bit
        boards[free - gpus] ^= bit
        self.busy[node] = busy | slots
        return slots

    def release(self, node: int, slots: int) -> None:
        """Give the slots of a mask back."""
        busy, bit, boards = self.busy[node], self.bit[node], self.boards
        left = busy ^ slots
        boards[self.free_of[busy]] ^= bit
        boards[self.free_of[left]] ^= bit
        self.busy[node] = left

    def take_nodes(self, mask: int) -> None:
        """Take all GPUs of these wholly free nodes."""
        self.boards[self.gpus_per_node] ^= mask
        self.boards[0] ^= mask
        for node in members(mask):
            self.busy[node] = self.full_mask

    def release_nodes(self, mask: int) -> None:
        """Give these wholly taken nodes back."""
        self.boards[0] ^= mask
        self.boards[self.gpus_per_node] ^= mask
        for node in members(mask):
            self.busy[node] = 0

    def fail(self, node: int) -> None:
        """Take a node out of service; what ran on it must have been released before."""
        self.boards[self.gpus_per_node] ^= self.bit[node]
        self.failed = sorted([*self.failed, node])
        self._no_block = -1, 0

    def repair(self, node: int) -> None:
        """Put a failed node back into service, empty."""
        self.boards[self.gpus_per_node] ^= self.bit[node]
        self.failed = [n for n in self.failed if n != node]
        self._no_block = -1, 0

    @property
    def whole_free(self) -> int:
        """The set of healthy nodes that are wholly free."""
        return self.boards[self.gpus_per_node]

    @property
    def free_gpus(self) -> int:
        """Free GPUs on healthy nodes."""
        return sum(free * board.bit_count() for free, board in enumerate(self.boards))

    @property
    def busy_gpus(self) -> int:
        """Taken GPUs."""
        return (self.nodes - len(self.failed)) * self.gpus_per_node - self.free_gpus

    def free_on(self, node: int) -> int:
        """Return the free GPUs of a node that is in service."""
        return self.free_of[self.busy[node]]

    def fits_one(self, gpus: int, allowed: int = -1) -> bool:
        """Return whether some allowed node has `gpus` free."""
        return any(board & allowed for board in self.boards[gpus:])

    def healthy(self) -> list[int]:
        """Return the healthy nodes in fabric order."""
        gone = set(self.failed)
        return [n for n in range(self.nodes) if n not in gone]

    def find_block(self, length: int, allowed: int = -1) -> int:
        """Return the lowest run of `length` wholly free nodes as a set, or 0.

        The run is contiguous in fabric order; failed nodes are passed over and do not belong to it.
        """
        free = self.whole_free & allowed
        if free.bit_count() < length or (free, length) == self._no_block:
            return 0
        start = first_run(without_positions(free, self.failed), length)
        if start < 0:
            self._no_block = free, length
            return 0
        if not self.failed:
            return ((1 << length) - 1) << start
        return sum(1 << n for n in self.healthy()[start : start + length])

    def longest_block(self) -> int:
        """Return the length of the longest run of wholly free nodes, failed nodes passed over."""
        return longest_run(without_positions(self.whole_free, self.failed))

    def external_fragmentation(self) -> float | None:
        """Return 1 − longest free run / free whole nodes.

        1.0 when GPUs are free but no whole node is; None when no GPU is free.
        """
        whole = self.whole_free.bit_count()
        if whole:
            return 1.0 - self.longest_block() / whole
        return 1.0 if self.free_gpus else None


@cache
def _tables(gpus_per_node: int) -> tuple[list[int], list[list[int]]]:
    """Free slots of every busy mask, and the lowest g free slots of it (0 where there are too few)."""
    masks = range(1 << gpus_per_node)
    free = [gpus_per_node - mask.bit_count() for mask in masks]
    slots = [[_lowest_free(mask, g, gpus_per_node) for mask in masks] for g in range(gpus_per_node + 1)]
    return free, slots


def _lowest_free(busy: int, count: int, width: int) -> int:
    slots = [s for s in range(width) if not busy >> s & 1]
    return sum(1 << s for s in slots[:count]) if len(slots) >= count else 0
