"""Mistakes that were made somewhere before, or nearly: planted one by one, each must be found.

A simulation that finds none of them in some hundred seeds would not find the next one either. The
modules divide them by what they break:

    slots.py         the way of a change to its slot
    rows.py          rows beside concurrent writers
    restores.py      the state that a restore wants
    keys.py          rows that share a primary key beside concurrent writers
    ranges.py        rows of ranges that were deleted without being read
    columns.py       columns that change beside concurrent writers
    fields.py        fields inside a column that change
    batches.py       batches that are sent again
    feed.py          what change feeds tell, and consumers
    streams.py       what streams that read tables show
    stored.py        what is stored of a state
    removals.py      what a vacuum removes, and what it keeps
    freed_slots.py   slots that are free again
"""

from __future__ import annotations

from tests.simulation.bugs import (
    batches,
    columns,
    feed,
    fields,
    freed_slots,
    keys,
    ranges,
    removals,
    restores,
    rows,
    slots,
    stored,
    streams,
)
from tests.simulation.bugs.bug import Bug

__all__ = ["BUGS", "Bug"]

BUGS: tuple[Bug, ...] = (
    *slots.BUGS,
    *rows.BUGS,
    *restores.BUGS,
    *keys.BUGS,
    *ranges.BUGS,
    *columns.BUGS,
    *fields.BUGS,
    *batches.BUGS,
    *feed.BUGS,
    *streams.BUGS,
    *stored.BUGS,
    *removals.BUGS,
    *freed_slots.BUGS,
)
"""Every planted mistake."""
