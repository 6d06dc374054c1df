"""The result of evaluating a statement on a table.

Spark's row-level plans end here, too: tasks report row numbers by RowSet and the RowSets that they
wrote, and `row_statement` turns them into what `Log.commit` takes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace

import pyarrow as pa
from pyroaring import AbstractBitMap, FrozenBitMap

from colonnade.manifests.arrays.origins import RowOrigins
from colonnade.manifests.commit.change import (
    DeletedRows,
    KeyedRows,
    KeyGuard,
    TableRead,
)
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.entries import RowSetEntry
from colonnade.manifests.model.operations import AddRowSet, Operation, ReplaceColumn, RowKind
from colonnade.manifests.public import public
from colonnade.manifests.state.snapshot import TableState
from colonnade.tableformat.html import html_of
from colonnade.tableformat.progress import Advance, nothing
from colonnade.tableformat.rowset.task_writer import RowSources
from colonnade.tableformat.write.job import target_of
from colonnade.tableformat.write.pipeline import whole_rows, write_through
from colonnade.tableformat.write.run import stamped
from colonnade.tableformat.write.settings import CommitSettings, OnDuplicate, WriteSettings


@public
@dataclass(frozen=True, slots=True)
class RowCounts:
    """What a statement did.

    `rows_deleted` is None if the statement deleted ranges without reading them, `ranges_deleted` of
    them, so that the number of their rows is unknown.
    `rowsets_touched` are the RowSets with deleted rows or replaced columns. `rowsets_in_place` of
    them kept all columns that were not set. Writing their new columns took `bytes_in_place`, which
    `bytes_written` includes. `epoch` is the epoch of the statement. It is the newest known epoch
    when the statement changed nothing, and None in a transaction.
    """

    epoch: int | None = None
    rows_deleted: int | None = 0
    rows_updated: int = 0
    rows_inserted: int = 0
    rowsets_touched: int = 0
    bytes_written: int = 0
    rowsets_in_place: int = 0
    bytes_in_place: int = 0
    ranges_deleted: int = 0

    def _repr_html_(self) -> str:
        known: dict[str, object] = {name: n for name, n in asdict(self).items() if n}
        if self.epoch is not None:
            known["epoch"] = str(self.epoch)
        return html_of(type(self).__name__, known.items())

    def metrics(self) -> dict[str, int]:
        """Return the known counts for the history; those of few statements only if not zero."""
        counts = {name: getattr(self, name) for name in COUNTED}
        return {
            name: int(count)
            for name, count in counts.items()
            if count is not None and (count or name not in _RARE)
        }

    @classmethod
    def _of_metrics(cls, epoch: int, metrics: Mapping[str, int]) -> RowCounts:
        """Return the counts that the history has of a statement."""
        unknown = "ranges_deleted" in metrics and "rows_deleted" not in metrics
        found = cls(epoch, **metrics)
        return replace(found, rows_deleted=None) if unknown else found


LONGEST_TEXT = 2000
"""The most characters of a condition, or of another text of a statement, in the log."""


def shortened(text: str, limit: int = LONGEST_TEXT) -> str:
    """Return a text of at most `limit` characters; one that was longer ends with an ellipsis."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def short_texts(parameters: Mapping[str, str]) -> dict[str, str]:
    """Return the parameters of a statement as the log keeps them."""
    return {name: shortened(text) for name, text in parameters.items()}


COUNTED = (
    *("rows_deleted", "rows_updated", "rows_inserted", "rowsets_touched", "bytes_written"),
    *("rowsets_in_place", "bytes_in_place", "ranges_deleted"),
)
_RARE = ("rowsets_in_place", "bytes_in_place", "ranges_deleted")


@dataclass(frozen=True, slots=True)
class StaticValues:
    """Static values that a statement gives: rows of a partition key and some static columns.

    NULL leaves the value that is there, unless the statement `sets` it. New RowSets get ids of
    `job_id`.
    """

    rows: pa.Table
    job_id: str
    sets: bool = False


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement that was evaluated on one table and is not committed yet.

    With `overwrites_all`, every row of the table is deleted in addition to `rows`. The
    `static_values` become `statics`, a statement on the table of static values in the same epoch.
    `reads` are the rows that it has read. They have no default, so that no statement can leave them
    out by accident. A statement states none if it has the result of a plan on the state right
    before its slot.

    The other fields are for tables with a primary key. A statement `inserts` if its new rows are
    not forms of other rows, and `on_duplicate` may then replace the property of the table.
    `incoming_columns` are the ids of those in which the new rows have values; None means all. In
    the rows of a MERGE (`is_merge`), which merge with those of the table, no two may share a key.
    `keyed` compares the new rows at the slot. `lost` are rows of new RowSets that are not added, by
    the id of the RowSet's object. `compared` says that no row is left whose key is taken at the
    state of the statement. With `rows_at_slot`, `keyed` finds all deleted rows and keys, and
    `rows`, `reads` and `keys` are for transactions alone. `origins` say which rows of the state the
    rows of new RowSets replace, by the id of the RowSet's object; all other new rows are inserted.
    """

    operation: str
    ops: tuple[Operation, ...] = ()
    rows: tuple[DeletedRows, ...] = ()
    reads: tuple[TableRead, ...] = field(kw_only=True)
    keys: tuple[KeyGuard, ...] = ()
    counts: RowCounts = RowCounts()
    parameters: Mapping[str, str] = field(default_factory=dict)
    overwrites_all: bool = False
    inserts: bool = False
    on_duplicate: OnDuplicate | None = None
    incoming_columns: frozenset[int] | None = None
    is_merge: bool = False
    keyed: KeyedRows | None = None
    lost: Mapping[str, FrozenBitMap] = field(default_factory=dict)
    compared: bool = False
    rows_at_slot: bool = False
    origins: Mapping[str, RowOrigins] = field(default_factory=dict)
    static_values: StaticValues | None = None
    statics: Statement | None = None

    @property
    def is_empty(self) -> bool:
        """Whether the statement changes nothing."""
        statics = self.statics is not None and not self.statics.is_empty
        return not (self.ops or self.rows or self.overwrites_all or statics)

    @property
    def is_plain(self) -> bool:
        """Whether it only adds rows and reads none, so that history already shows its counts."""
        did = self.counts
        counted = did.rows_updated or did.ranges_deleted or self.statics
        return not (self.rows or self.reads or self.keys or counted)


def row_statement(
    operation: str,
    table: TableState,
    deleted: Iterable[DeletedRows],
    added: Iterable[RowSetEntry] = (),
    *,
    reads: tuple[TableRead, ...],
    replaced: Iterable[ReplaceColumn] = (),
    replaced_rows: int = 0,
    keys: tuple[KeyGuard, ...] = (),
    origins: Mapping[str, RowOrigins] | None = None,
    inserted: int = 0,
    parameters: Mapping[str, str] | None = None,
) -> Statement:
    """Return a statement that deletes rows of RowSets, adds RowSets, and replaces columns.

    Of the added rows, `inserted` are new; the rest are new versions of rows in `deleted`, and
    `origins` says of which.
    `replaced_rows` rows got other values in place.
    """
    rows, entries = tuple(deleted), tuple(added)
    rows_deleted = _count(each for each in rows if each.kind == "delete")
    columns = tuple(replaced)
    in_place = sum(
        op.replacement.bytes + (op.changed.check.length if op.changed else 0) for op in columns
    )
    return Statement(
        operation,
        (*columns, *(AddRowSet(table=table.id, rowset=stamped(each, table)) for each in entries)),
        rows,
        keys,
        RowCounts(
            rows_deleted=rows_deleted,
            rows_updated=_count(rows) - rows_deleted + replaced_rows,
            rows_inserted=inserted,
            rowsets_touched=len({each.rowset.id for each in rows} | {op.rowset for op in columns}),
            bytes_written=sum(entry.bytes for entry in entries) + in_place,
            rowsets_in_place=len(columns),
            bytes_in_place=in_place,
        ),
        parameters or {},
        reads=reads,
        origins=origins or {},
    )


def inserting(
    statement: Statement,
    settings: WriteSettings | None,
    columns: frozenset[int] | None = None,
    static_values: StaticValues | None = None,
) -> Statement:
    """Return a statement whose new rows are those that a user gives, with the user's settings.

    `columns` are the ids of those in which the rows have values; None means all. The rows have the
    `static_values`.
    """
    return replace(
        statement,
        inserts=True,
        on_duplicate=None if settings is None else settings.on_duplicate,
        incoming_columns=columns,
        static_values=static_values,
    )


def _count(deleted: Iterable[DeletedRows]) -> int:
    return sum(each.rowset.row_count if each.rows is None else len(each.rows) for each in deleted)


def find_deleted_rows(
    log: Log, table: TableState, kind: RowKind, rows: Mapping[int, AbstractBitMap]
) -> tuple[DeletedRows, ...]:
    """Turn reported row numbers by RowSet id into deleted or moved rows of a table.

    Raises InvalidInputError for a RowSet that the table does not have, and for a row beyond its
    end.
    """
    live = log.rowsets.find(table, rows.keys())
    for number, each in rows.items():
        if number not in live or (each and each.max() >= live[number].entry.rows):
            raise InvalidInputError(
                f"Table {table.name!r} has no RowSet {number} with the rows to {kind}; the"
                " statement was planned on another state of it, so run it again."
            )
    return tuple(DeletedRows(table.id, live[n], kind, each) for n, each in rows.items() if each)


def has_batch(settings: CommitSettings | None, table: TableState | None) -> bool:
    """Return whether the batch of a commit was committed to a table before.

    Then nothing is left to do, and its rows need not fit any more: the table has them already.
    """
    if table is None or settings is None or settings.batch is None:
        return False
    return table.has_batch(*settings.batch)


def write_batches(
    log: Log,
    table: TableState,
    job_id: str,
    batches: Iterable[pa.RecordBatch],
    settings: WriteSettings | None = None,
    advance: Advance = nothing,
    sources: RowSources | None = None,
) -> tuple[RowSetEntry, ...]:
    """Write rows that have exactly the table's columns. No reader sees them before a commit.

    They take the steps of `whole_rows`. All else is as `write_through` says.
    """
    steps = whole_rows(target_of(table, log.limits))
    return write_through(steps, batches, log.store, job_id, settings, advance, sources)
