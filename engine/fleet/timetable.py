"""What is known before a run: when each job arrives, and when it ends if it starts the moment it arrives.

On a fleet that has room nearly all jobs do. Their ends are sorted once, in numpy, and need no heap. A moment
and a row are one integer, `time << shift | row`, so that one comparison says which event comes first.
"""

from __future__ import annotations

import numpy as np

from engine.fleet.jobs import Column
from engine.fleet.node_parts import FOREVER


class Timetable:
    """The keys of all arrivals in the order of the queue, and of the planned ends in the order of time.

    An arrival's key carries the largest row there can be, so that it follows all ends of its instant. Both
    lists close with a key after all others.

    Attributes
    ----------
    shift, last_row: how a key is made, and the part of it that is the row.
    arrivals: the keys of all rows.
    ends, rows_by_end: the keys of the planned ends, and their rows as an int64 array.

    Parameters
    ----------
    submit: ms, shape `(jobs,)`, ascending.
    run: ms that each job will run, shape `(jobs,)`.
    plain: whether a planned end is wanted for the row, shape `(jobs,)`.
    """

    def __init__(
        self, submit: Column, run: Column, plain: np.ndarray[tuple[int], np.dtype[np.bool_]]
    ) -> None:
        self.shift = max(20, submit.size.bit_length())
        self.last_row = (1 << self.shift) - 1
        rows = np.flatnonzero(plain)
        due = (submit + run)[rows]
        after_all = FOREVER << self.shift
        if submit.size and int(submit[-1]) + int(run.max()) < 1 << 62 - self.shift:
            ends = np.sort(due << self.shift | rows)
            self.rows_by_end = ends & self.last_row
            self.ends: list[int] = ends.tolist()
            self.arrivals: list[int] = (submit << self.shift | self.last_row).tolist()
        else:  # beyond what 64 bits hold, as long as Python counts
            keys = sorted(
                end << self.shift | row for end, row in zip(due.tolist(), rows.tolist(), strict=True)
            )
            self.rows_by_end = np.array([key & self.last_row for key in keys], np.int64)
            self.ends = keys
            self.arrivals = [at << self.shift | self.last_row for at in submit.tolist()]
        self.ends.append(after_all)
        self.arrivals.append(after_all)
