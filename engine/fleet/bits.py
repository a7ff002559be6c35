"""Sets of nodes as integers: bit n says that node n belongs.

A fleet of 1,250 nodes is one integer of 157 bytes; finding the lowest node, counting, and finding a run of
125 neighbours (eight shifts) each take well under a microsecond.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

LOWEST = bytes(max(0, (mask & -mask).bit_length() - 1) for mask in range(256))
"""The position of the lowest member of a set below 256; 0 for the empty set."""


def members(mask: int) -> Iterator[int]:
    """Yield the positions of the set bits, lowest first."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def mask_of(positions: Iterable[int]) -> int:
    """Return the set with these positions."""
    mask = 0
    for position in positions:
        mask |= 1 << position
    return mask


def lowest(mask: int, count: int) -> int:
    """Return the subset of the `count` lowest members; `mask` must have that many."""
    low, high = 0, mask.bit_length()
    while low < high:
        middle = (low + high) // 2
        if (mask & ((1 << middle) - 1)).bit_count() >= count:
            high = middle
        else:
            low = middle + 1
    return mask & ((1 << low) - 1)


def without_positions(mask: int, gone: Sequence[int]) -> int:
    """Return `mask` with the positions in `gone` (ascending) cut out and all above moved down."""
    for position in reversed(gone):
        below = (1 << position) - 1
        mask = mask & below | mask >> 1 & ~below
    return mask


def first_run(mask: int, length: int) -> int:
    """Return the lowest start of `length` neighbouring members, or -1 if there is none."""
    have = 1
    while have < length and mask:
        step = min(have, length - have)
        mask &= mask >> step
        have += step
    return (mask & -mask).bit_length() - 1


def longest_run(mask: int) -> int:
    """Return the length of the longest run of neighbouring members; 0 for the empty set."""
    if not mask:
        return 0
    powers = [mask]  # powers[k]: starts of runs of at least 2**k
    while longer := powers[-1] & powers[-1] >> (1 << len(powers) - 1):
        powers.append(longer)
    starts, length = powers.pop(), 1 << len(powers)
    for k in range(len(powers) - 1, -1, -1):
        if longer := starts & powers[k] >> length:
            starts, length = longer, length + (1 << k)
    return length
