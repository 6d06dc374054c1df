"""Carry row numbers through a compaction.

If the rows are in the order of the inputs, arithmetic on the vectors of the inputs is enough. For
any other order, an origin says which input and which of its rows each output row is from:
input << 32 | row.
Spec: docs/spec/operations.md#compaction
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from pyroaring import FrozenBitMap

from colonnade.manifests.arrays.origins import Rows
from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.model.operations import Compaction

_NOWHERE = -1


@dataclass(frozen=True, slots=True)
class RowMap:
    """Where the rows of each input of a compaction are in its outputs.

    `deleted` are the deleted rows of each input, ascending. A row's place is its index among all
    output rows. `firsts` has the first place of each input. `starts` has the first place of each
    output, and the end of the last one. `sorted_places` exists only if the outputs have another
    order. It has the place of each row of each input, and `_NOWHERE` for a deleted row.
    """

    deleted: tuple[Rows, ...]
    firsts: Rows
    starts: Rows
    sorted_places: tuple[Rows, ...] | None

    def carry(self, index: int, rows: FrozenBitMap) -> dict[int, FrozenBitMap]:
        """Return rows of input `index` as rows of outputs, by output. Requires: no row is deleted.

        Cost: proportional to these rows and the deleted rows, not to all rows.
        """
        outputs, numbers = self.places(index, np.asarray(rows.to_array(), np.int64))
        return {
            int(output): FrozenBitMap(numbers[outputs == output]) for output in np.unique(outputs)
        }

    def places(self, index: int, rows: Rows) -> tuple[Rows, Rows]:
        """Return for rows of input `index` their outputs, and their numbers there. As `carry`."""
        places = self._places(index, rows)
        outputs = np.searchsorted(self.starts, places, side="right") - 1
        return outputs, places - self.starts[outputs]

    def _places(self, index: int, wanted: Rows) -> Rows:
        if self.sorted_places is not None:
            found = self.sorted_places[index][wanted]
            assert (found != _NOWHERE).all()
            return found
        deleted = self.deleted[index]
        before = np.searchsorted(deleted, wanted)
        assert not len(deleted) or (deleted.take(before, mode="clip") != wanted).all()
        places: Rows = self.firsts[index] + wanted - before
        return places


def row_map(op: Compaction, deleted: Sequence[FrozenBitMap], origin: Rows | None) -> RowMap:
    """Return how a compaction moved rows. `deleted` are the vectors of its inputs.

    Without an `origin`, the outputs have the rows in the order of the inputs. Cost: proportional to
    the deleted rows then, else a few passes over the origin.
    Raises CorruptionError if the compaction does not have the rows that it should.
    """
    live = [each.rows - len(left) for each, left in zip(op.inputs, deleted, strict=True)]
    starts = np.cumsum([0, *(output.rowset.rows for output in op.outputs)])
    firsts = np.cumsum([0, *live])
    if starts[-1] != firsts[-1]:
        raise CorruptionError(
            f"A compaction of table {op.table} has {starts[-1]} rows instead of {firsts[-1]}."
        )
    left_out = tuple(np.asarray(left.to_array(), np.int64) for left in deleted)
    places = None if origin is None else _sorted_places(op, left_out, origin)
    return RowMap(left_out, firsts, starts, places)


def _sorted_places(op: Compaction, deleted: Sequence[Rows], origin: Rows) -> tuple[Rows, ...]:
    """Return the place of each row of each input. Cost: a few passes over the origin, no sort."""
    counts = np.array([each.rows for each in op.inputs])
    ends = np.cumsum([0, *counts])
    inputs, rows = origin >> 32, origin & 0xFFFFFFFF
    whole = bool(((inputs >= 0) & (inputs < len(counts))).all())
    whole = whole and bool((rows < counts[inputs]).all())
    places = np.full(ends[-1], _NOWHERE, np.int64)
    if whole:
        places[ends[inputs] + rows] = np.arange(len(origin))
        # If two output rows name the same input row, there are fewer places than rows.
        whole = int(np.count_nonzero(places != _NOWHERE)) == len(origin)
    found = tuple(np.split(places, ends[1:-1]))
    if not whole or any(
        (of[left] != _NOWHERE).any() for of, left in zip(found, deleted, strict=True)
    ):
        raise CorruptionError(
            f"The origin of a compaction of table {op.table} does not fit its rows."
        )
    return found
