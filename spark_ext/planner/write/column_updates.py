"""Answer the Java source's requests about an UPDATE or MERGE that replaces columns.

Spark plans such a statement as a write of whole rows. The jar knows the columns that the statement
sets. It asks for the RowSets in which it takes fewer bytes to write only these columns. The job is
that of the write of rows, and `commit_rows` commits both.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from colonnade.manifests.arrays.bounds import BoundsFilter
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.ids import TableId
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.columns.generated import generated_from
from colonnade.manifests.model.schema import SchemaField
from colonnade.manifests.sizes import parse_size
from colonnade.manifests.state.snapshot import LiveRowSet, TableState
from colonnade.manifests.state.view import View
from colonnade.manifests.store import open_store
from colonnade.spark_ext.planner.clauses.filters import predicate_of
from colonnade.spark_ext.planner.messages.base import operation
from colonnade.spark_ext.planner.messages.rewrites import (
    ChooseColumns,
    ChosenColumns,
    RowSetIds,
    Update,
    UpdatedRowsets,
)
from colonnade.spark_ext.planner.messages.writes import ReplacedColumns
from colonnade.spark_ext.planner.state.snapshots import SNAPSHOTS
from colonnade.spark_ext.planner.state.storage import job_of
from colonnade.spark_ext.planner.write.fills import asked_rowsets
from colonnade.spark_ext.write_task import columns_task_json
from colonnade.tableformat.scan.plan import rowset_filter
from colonnade.tableformat.statements.columns.fill import FilledRowSet
from colonnade.tableformat.statements.columns.written_columns import (
    decode_columns,
    encode_rowsets,
)
from colonnade.tableformat.statements.update import can_replace, in_place
from colonnade.tableformat.write.job import WriteJob

COUNTED_SHARE = 8
"""Rows are counted if finding them reads at most one of this many columns of the table."""

LEAST_BYTES, LEAST_COUNTED = 2**23, 2**25
"""Columns are replaced if the changed rows take at least this many stored bytes.

The second size is for statements whose changed rows must be counted first. If few rows change, the
time of the count is lost.
"""

LEAST_OF_ROWSET = 2**22
"""Columns of a RowSet are replaced if its changed rows take at least this many stored bytes.

Each replacement is one more file: it is synced now, and each reader opens it until a compaction.
If a user sets a smaller size than `LEAST_BYTES`, that size counts here, too.
"""


class _Update(NamedTuple):
    """An UPDATE or MERGE on the state that it was planned on.

    `least` is the fewest bytes of changed rows for which it replaces columns.
    """

    job: WriteJob
    log: Log
    table: TableState
    fields: tuple[SchemaField, ...]
    may_match: BoundsFilter | None
    now_ms: int | None
    least: int

    @classmethod
    def of(cls, asked: Update) -> _Update | None:
        """Return the statement of a request; None if its columns cannot be replaced.

        Raises InvalidInputError if `least` is not a size.
        """
        job = job_of(asked.job)
        log = SNAPSHOTS.log(open_store(job.address))
        base = SNAPSHOTS.at(job.address, asked.view.database, job.base)
        table = job.columns.preview(log, base).tables[TableId(job.target.table)]
        fields = tuple(table.schema.field(name) for name in asked.columns)
        ids = [field.id for field in fields]
        # Spark passes no values of generated columns to the tasks that write columns.
        decides = generated_from(ids, table.schema) is not None
        if job.base != asked.view.epoch or decides or not can_replace(table, ids):
            return None
        filters = asked.filters
        where = None if filters is None else predicate_of(filters, table.schema)
        may_match = rowset_filter(table, where)
        return cls(job, log, table, fields, may_match, asked.view.now, _least(asked))

    def view(self) -> View:
        """Return a view of the RowSets that may have changed rows."""
        return self.log.rowsets.view(self.table, self.may_match, self.now_ms)

    def pays(self, moved: int) -> bool:
        """Return whether it may be faster to replace columns than to move rows of some bytes."""
        return moved >= self.least

    def is_large(self, moved: int) -> bool:
        """Return whether `pays` counts a RowSet whose changed rows take some bytes."""
        return moved > self.log.limits.in_place_bytes and moved >= min(self.least, LEAST_OF_ROWSET)


@operation
def updated_rowsets(request: UpdatedRowsets) -> RowSetIds:
    """Return no ids if the changed rows cannot be large enough, or if the count costs too much.

    The count reads some columns once more, and the statement itself reads all columns.
    """
    update, none = _Update.of(request.update), RowSetIds(rowsets=())
    if update is None or request.update.reads * COUNTED_SHARE > len(update.table.schema.fields):
        return none
    rowsets = update.view().rowsets
    large = sum(size for each in rowsets if update.is_large(size := _data_bytes(each)))
    if not large or not update.pays(large):
        return none
    return RowSetIds(rowsets=tuple(each.id for each in rowsets))


@operation
def choose_columns(request: ChooseColumns) -> ChosenColumns:
    """Choose no RowSets if the changed rows of all that could be chosen take few bytes."""
    update = _Update.of(request.update)
    if update is None:
        return ChosenColumns()
    counts, view = request.counts, update.view()
    changed = [
        (each, count)
        for each in view.rowsets
        if (count := each.row_count if counts is None else counts.get(each.id, 0))
    ]
    moved = {each.id: _data_bytes(each) * n // each.entry.rows for each, n in changed}
    large = [(each, n) for each, n in changed if update.is_large(moved[each.id])]
    ids = in_place(update.log, update.table, large, [field.id for field in update.fields])
    if not update.pays(sum(moved[each] for each in ids)):
        ids = frozenset()
    chosen = view.of(each for each, _ in changed if each.id in ids)
    return ChosenColumns(
        task=columns_task_json(
            update.job, update.table, update.log.limits, update.fields, len(chosen.rowsets)
        ),
        live_rowsets=(encode_rowsets(chosen.rowsets),),
        rowsets=asked_rowsets(update.log, chosen),
        others=tuple(each.id for each, _ in changed if each.id not in ids),
    )


def replaced_rowsets(
    log: Log, job: WriteJob, table: TableState, columns: ReplacedColumns | None
) -> Sequence[FilledRowSet]:
    """Return the RowSets whose columns tasks have written; none if `columns` is None."""
    if columns is None:
        return ()
    fields = tuple(table.schema.field(name) for name in columns.names)
    return decode_columns(log, job, table, fields, columns.live_rowsets, columns.reports)


def _data_bytes(rowset: LiveRowSet) -> int:
    return rowset.byte_count - rowset.entry.footer.length


def _least(asked: Update) -> int:
    text = asked.least
    if text is None:
        return LEAST_COUNTED if asked.counted else LEAST_BYTES
    try:
        return parse_size(text)
    except ValueError:
        raise InvalidInputError(
            f"spark.colonnade.replaceColumnsBytes is {text!r}, which is not a size;"
            " set it to a number of bytes such as 32m."
        ) from None
