"""Say which row each new version of a row replaces, at the slot of a change.

A change knows replaced rows by their RowSets and numbers. These change where a compaction has moved
the rows. The epoch names a replaced row by its place among the rows of its RowSet that it deletes,
so that rows in order cost next to nothing.
Spec: docs/spec/operations.md#replaced-rows
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from pyroaring import FrozenBitMap

from colonnade.manifests.arrays.origins import (
    NEW,
    RowOrigins,
    Rows,
    by_rowset,
    encode_origins,
    origins_of,
)
from colonnade.manifests.commit.rebase.origin import write_origin
from colonnade.manifests.commit.rebase.row_map import RowMap
from colonnade.manifests.commit.rebase.targets import TargetRowSet
from colonnade.manifests.ids import new_job_id
from colonnade.manifests.limits import LIMITS, Limits
from colonnade.manifests.model.entries import OriginEntry
from colonnade.manifests.model.operations import Compaction, ReplaceRows
from colonnade.manifests.object_names import table_prefix
from colonnade.manifests.store.object_store import ObjectStore

Origins = Sequence[RowOrigins]
"""Where the rows of the RowSets that a change adds to a table come from, in their order."""

_NO_ROW = np.uint32(2**32 - 1)
_NO_ROWS = np.zeros(0, np.uint32)
_PART = 1 << 20


def carried_origins(op: Compaction, first_id: int, origins: Origins, moves: RowMap) -> Origins:
    """Return origins after a compaction, whose first output has the id `first_id`.

    Decodes the origins of one RowSet at a time.
    """
    inputs = {each.rowset: index for index, each in enumerate(op.inputs)}
    return tuple(_carried(each, inputs, first_id, moves) for each in origins)


def _carried(
    origins: RowOrigins, inputs: Mapping[int, int], first_id: int, moves: RowMap
) -> RowOrigins:
    if origins.data is None:
        return origins
    numbers, moved = origins.array(), False
    for rowset, at, rows in by_rowset(numbers):
        if rowset in inputs:
            outputs, places = moves.places(inputs[rowset], rows)
            numbers[at] = origins_of(first_id + outputs, places)
            moved = True
    return RowOrigins.of(numbers) if moved else origins


def replaced_places(origins: Origins, deleted: Mapping[int, FrozenBitMap]) -> Iterator[Rows]:
    """Yield in parts which of the deleted rows each row replaces; `NEW` for none.

    `deleted` has the deleted rows by RowSet. The number of one is the index of its RowSet among
    these, ascending, * 2**32 + its place among the deleted rows of the RowSet. Requires that
    replaced rows are among them.
    """
    known = {
        rowset: (index, np.asarray(deleted[rowset].to_array()))
        for index, rowset in enumerate(sorted(deleted))
    }
    for each in origins:
        if each.data is None:
            for first in range(0, each.rows, _PART):
                yield np.full(min(_PART, each.rows - first), NEW, np.int64)
            continue
        numbers = each.array()
        for rowset, at, rows in by_rowset(numbers):
            index, among = known.get(rowset, (0, _NO_ROWS))
            numbers[at] = (index << 32) + _places(rows, among)
        yield numbers


def _places(rows: Rows, among: NDArray[np.uint32]) -> Rows:
    if len(rows) == len(among) and (rows == among).all():
        return np.arange(len(rows))
    found = np.searchsorted(among, rows.astype(among.dtype))
    assert (np.append(among, _NO_ROW)[found] == rows).all(), "A replaced row stays."
    return found


class OriginWriter:
    """Writes which rows a change replaces, once for all slots that it tries.

    It is written again only if the change has other deleted rows by then. Without a `job_id`, each
    object gets a job id of its own. An object must be used by one thread at a time.
    """

    def __init__(self, store: ObjectStore, job_id: str | None, limits: Limits = LIMITS) -> None:
        self._store, self._job_id, self._limits = store, job_id, limits
        self._written: dict[str, tuple[Mapping[int, FrozenBitMap], Origins, OriginEntry]] = {}

    def forget(self, removed: Collection[str]) -> None:
        """Forget objects that a vacuum has removed, so that they are written again if needed."""
        self._written = {
            table: each for table, each in self._written.items() if each[2].object not in removed
        }

    def write(
        self, table: str, origins: Origins, targets: Mapping[int, TargetRowSet]
    ) -> ReplaceRows:
        """Return the operation for rows that replace rows of `targets`. Raises StoreError."""
        deleted = {rowset: rows for rowset, each in targets.items() if (rows := each.rows)}
        known = self._written.get(table)
        if known is None or known[:2] != (deleted, origins):
            data = encode_origins(replaced_places(origins, deleted))
            entry = write_origin(
                self._store,
                table_prefix(table),
                self._job_id or new_job_id(),
                data,
                inline_bytes=self._limits.inline_bytes,
            )
            known = self._written[table] = deleted, origins, entry
        return ReplaceRows(table=table, origin=known[2])
