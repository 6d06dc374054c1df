"""What was rewritten, read again and compared with what it was made from, before a commit names it.

Spec: docs/spec/rowset.md#writer-requirements
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.model.entries import RowSetEntry
from colonnade.manifests.model.schema import SchemaField
from colonnade.manifests.store import ObjectStore
from colonnade.tableformat.rowset.block_statistics import Statistics, contradiction, merge
from colonnade.tableformat.rowset.reader import RowSetReader

_WINDOW_BYTES = 2**21


@dataclass(slots=True)
class Contents:
    """What is known of the rows of some RowSets: how many they are, and the values of columns.

    `parts` has the rows of each RowSet, and by column id what its footer says of their values.
    """

    parts: dict[str, tuple[int, Mapping[int, Statistics]]] = field(default_factory=dict)

    def add(self, entry: RowSetEntry, statistics: Mapping[int, Statistics]) -> None:
        """Note a RowSet; again changes nothing."""
        self.parts[entry.object] = (entry.rows, statistics)

    @property
    def rows(self) -> int:
        """Rows of all RowSets."""
        return sum(rows for rows, _ in self.parts.values())

    def of(self, column: int) -> Statistics:
        """What is known of the values of a column in all RowSets."""
        counts = [rows for rows, _ in self.parts.values()]
        return merge([statistics[column] for _, statistics in self.parts.values()], counts)


def read_back(
    store: ObjectStore,
    prefix: str,
    fields: Sequence[SchemaField],
    entries: Sequence[RowSetEntry],
) -> Contents:
    """Read RowSets that were just written: footers, indexes, and each block against its checksum.

    Decodes nothing, and holds a read-ahead of 2 MiB. Raises CorruptionError naming file, column and
    block; StoreError.
    """
    found = Contents()
    for entry in entries:
        reader = RowSetReader(store, prefix, entry)
        rows = 0
        for stretch in reader.read_stored(fields, window_bytes=_WINDOW_BYTES):
            reader.verify(fields, stretch)
            rows += stretch.rows
        if rows != entry.rows:
            raise CorruptionError(f"RowSet {entry.object} was written with {rows} rows.")
        found.add(entry, reader.statistics(fields))
    return found


def check_rows(after: Contents, left: int) -> None:
    """Compare how many rows were written with how many there should be. Raises CorruptionError."""
    if after.rows != left:
        raise CorruptionError(
            f"{after.rows} rows were written where {left} were to be kept. Nothing was committed."
        )


def check_kept(
    before: Contents, after: Contents, left: int, fields: Sequence[SchemaField], what: str
) -> None:
    """Compare what was rewritten with what it was made from, of which `left` rows should be left.

    Compares rows, NULLs, NaNs, and that no bound of a column grew. `what` names the inputs in
    errors. Raises CorruptionError naming the column; then nothing should be committed.
    """
    check_rows(after, left)
    gone = before.rows - left
    for column in fields:
        old, new = before.of(column.id), after.of(column.id)
        problem = _loss(old, new, gone)
        if problem is not None:
            raise CorruptionError(
                f"{what} were not written as they were: of column {column.name!r}, {problem}."
                " Nothing was committed."
            )


def _loss(old: Statistics, new: Statistics, gone: int) -> str | None:
    """How values differ of which `gone` rows were left out."""
    if not gone:
        return contradiction(old, new)
    for name, more, fewer in (("NULL", old.nulls, new.nulls), ("NaN", old.nans, new.nans)):
        if not more - gone <= fewer <= more:
            return f"{fewer} of {more} {name} are left, though {gone} rows are gone"
    counts = replace(old, nulls=new.nulls, nans=new.nans, exact=False)
    return contradiction(counts, new)
