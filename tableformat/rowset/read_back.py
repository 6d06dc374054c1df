"""Read rewritten RowSets back and compare them with their inputs, before a commit names them.

Spec: docs/spec/rowset.md#writer-requirements
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.model.entries import RowSetEntry
from colonnade.manifests.model.schema import SchemaField
from colonnade.manifests.state.snapshot import as_written
from colonnade.manifests.state.view import View
from colonnade.manifests.store import ObjectStore
from colonnade.tableformat.rowset.block_statistics import Statistics, contradiction, merge
from colonnade.tableformat.rowset.reader import RowSetReader

_WINDOW_BYTES = 2**21


@dataclass(slots=True)
class Contents:
    """What is known of the rows of some RowSets: their number, and statistics of columns.

    `parts` holds by object id the rows of each RowSet, and the footer's statistics by column id.
    """

    parts: dict[str, tuple[int, Mapping[int, Statistics]]] = field(default_factory=dict)

    def add(self, entry: RowSetEntry, statistics: Mapping[int, Statistics]) -> None:
        """Add a RowSet. Adding it again changes nothing."""
        self.parts[entry.object] = (entry.rows, statistics)

    @property
    def rows(self) -> int:
        """The rows of all RowSets."""
        return sum(rows for rows, _ in self.parts.values())

    def of(self, column: int) -> Statistics:
        """Return the statistics of a column over all RowSets."""
        counts = [rows for rows, _ in self.parts.values()]
        return merge([statistics[column] for _, statistics in self.parts.values()], counts)


def read_back(
    store: ObjectStore,
    prefix: str,
    fields: Sequence[SchemaField],
    entries: Sequence[RowSetEntry],
) -> Contents:
    """Read RowSets that were just written, and verify footers, indexes and block checksums.

    Decodes nothing, and holds a read-ahead of 2 MiB. Raises CorruptionError that names file, column
    and block, and StoreError.
    """
    found, view = Contents(), View.written(prefix, fields)
    for entry in entries:
        reader = RowSetReader(store, view, as_written(entry))
        rows = 0
        for stretch in reader.read_stored(fields, window_bytes=_WINDOW_BYTES):
            reader.verify(fields, stretch)
            rows += stretch.rows
        if rows != entry.rows:
            raise CorruptionError(
                f"RowSet {entry.object} was written with {rows} rows instead of {entry.rows};"
                " nothing was committed. Run the statement again."
            )
        found.add(entry, reader.statistics(fields))
    return found


def check_rows(after: Contents, left: int) -> None:
    """Raise CorruptionError unless exactly `left` rows were written."""
    if after.rows != left:
        raise CorruptionError(
            f"{after.rows} rows were written instead of {left}; nothing was committed. Run the"
            " statement again."
        )


def check_kept(
    before: Contents,
    after: Contents,
    left: int,
    fields: Sequence[SchemaField],
    what: str,
    masked: Collection[int] = (),
) -> None:
    """Compare rewritten RowSets with their inputs. Exactly `left` rows of the inputs are kept.

    Compares row counts and the counts of NULL and NaN, and checks that no bound of a column became
    wider. Any value of the columns `masked` may have become NULL. `what` names the inputs in
    errors. Raises CorruptionError that names the column; the caller must not commit then.
    """
    check_rows(after, left)
    deleted = before.rows - left
    for column in fields:
        old, new = before.of(column.id), after.of(column.id)
        problem = _loss(old, new, deleted, masked=column.id in masked)
        if problem is not None:
            raise CorruptionError(
                f"{what} were not rewritten correctly: in column {column.name!r}, {problem}."
                " Nothing was committed."
            )


def _loss(old: Statistics, new: Statistics, deleted: int, *, masked: bool = False) -> str | None:
    """Return how the statistics contradict that exactly `deleted` rows were deleted, or None."""
    if not deleted and not masked:
        return contradiction(old, new)
    for name, more, fewer in (("NULL", old.nulls, new.nulls), ("NaN", old.nans, new.nans)):
        # A masked value has become NULL. So a masked NaN is not counted as NaN.
        least = 0 if masked and name == "NaN" else more - deleted
        most = fewer if masked and name == "NULL" else more
        if not least <= fewer <= most:
            return f"{fewer} of {more} {name} are left, though only {deleted} rows were deleted"
    counts = replace(old, nulls=new.nulls, nans=new.nans, exact=False)
    return contradiction(counts, new)
