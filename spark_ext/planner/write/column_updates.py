"""Answer the Java source's requests about an UPDATE or MERGE that replaces columns.

Spark plans such a statement as a write of whole rows. The jar knows the columns that the statement
sets. It asks for the RowSets in which it takes fewer bytes to write only these columns. The job is
that of the write of rows, and `commit_rows` commits both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from colonnade.manifests.arrays.bounds import Keep
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.ids import TableId
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.generated import generated_fields, sources_of
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.sizes import parse_size
from colonnade.manifests.state.replaced_columns import replaceable
from colonnade.manifests.state.snapshot import LiveRowSet, TableState
from colonnade.manifests.state.view import View
from colonnade.manifests.store import open_store
from colonnade.spark_ext.planner.clauses.filters import predicate_of
from colonnade.spark_ext.planner.state.snapshots import SNAPSHOTS
from colonnade.spark_ext.planner.state.storage import job_of
from colonnade.spark_ext.write_task import columns_task_json
from colonnade.tableformat.scan.plan import rowset_filter
from colonnade.tableformat.statements.fill import FilledRowSet
from colonnade.tableformat.statements.update import in_place
from colonnade.tableformat.statements.written_columns import (
    decode_columns,
    encode_rowsets,
    task_rowsets,
)
from colonnade.tableformat.write.constraints import are_decided_by
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

Args = Mapping[str, Any]


class _Update(NamedTuple):
    """An UPDATE or MERGE as the requests describe it.

    The request has the `job` and `database` of the planned write, the `epoch` that the statement
    reads, the time `now` that it sees the table at, whether its changed rows are `counted`, the
    names of the `columns` that it sets, and the `filters` of its scan, or None. `least` is the text
    of a size that takes the place of `LEAST_BYTES` and `LEAST_COUNTED`, or None.
    """

    job: WriteJob
    log: Log
    table: TableState
    fields: tuple[SchemaField, ...]
    keep: Keep | None
    now_ms: int | None
    least: int

    @classmethod
    def of(cls, args: Args) -> _Update | None:
        """Return the statement of a request; None if its columns cannot be replaced.

        Raises InvalidInputError if `least` is not a size.
        """
        job = job_of(args)
        log = SNAPSHOTS.log(open_store(job.address))
        base = SNAPSHOTS.at(job.address, args["database"], job.base)
        table = job.columns.preview(log, base).tables[TableId(job.target.table)]
        fields = tuple(table.schema.field(name) for name in args["columns"])
        if job.base != args["epoch"] or not _can_replace(table, fields):
            return None
        filters = args["filters"]
        where = None if filters is None else predicate_of(filters, table.schema)
        keep = rowset_filter(table, where)
        return cls(job, log, table, fields, keep, args.get("now"), _least(args))

    def view(self) -> View:
        """Return a view of the RowSets that may have changed rows."""
        return self.log.rowsets.view(self.table, self.keep, self.now_ms)

    def pays(self, moved: int) -> bool:
        """Return whether it may be faster to replace columns than to move rows of some bytes."""
        return moved >= self.least

    def is_large(self, moved: int) -> bool:
        """Return whether `pays` counts a RowSet whose changed rows take some bytes."""
        return moved > self.log.limits.in_place_bytes and moved >= min(self.least, LEAST_OF_ROWSET)


def updated_rowsets(args: Args) -> dict[str, Any]:
    """Return the ids of the RowSets whose changed rows are to be counted, or no ids.

    Returns no ids if the changed rows cannot be large enough, or if the count costs too much: it
    reads `reads` columns once more, and the statement itself reads all columns.
    """
    update = _Update.of(args)
    if update is None or args["reads"] * COUNTED_SHARE > len(update.table.schema.fields):
        return {"rowsets": []}
    rowsets = update.view().rowsets
    large = sum(size for each in rowsets if update.is_large(size := _data_bytes(each)))
    if not large or not update.pays(large):
        return {"rowsets": []}
    return {"rowsets": [each.id for each in rowsets]}


def choose_columns(args: Args) -> dict[str, Any]:
    """Choose the RowSets in which to replace columns.

    `counts` has the number of changed rows by RowSet id, among the RowSets that `updated_rowsets`
    returned; None means that all rows change. The reply has the `task` of each of Spark's tasks,
    the chosen `rowsets`, and the ids of the `others` that have changed rows. `rowsets` is empty if
    the changed rows of all RowSets that could be chosen take few bytes.
    """
    update = _Update.of(args)
    if update is None:
        return {"rowsets": [], "others": [], "asked": []}
    counts, view = args["counts"], update.view()
    changed = [
        (each, count)
        for each in view.rowsets
        if (count := each.row_count if counts is None else counts.get(str(each.id), 0))
    ]
    moved = {each.id: _data_bytes(each) * n // each.entry.rows for each, n in changed}
    large = [(each, n) for each, n in changed if update.is_large(moved[each.id])]
    ids = in_place(update.log, update.table, large, TableSchema(fields=update.fields))
    if not update.pays(sum(moved[each] for each in ids)):
        ids = frozenset()
    chosen = view.of(each for each, _ in changed if each.id in ids)
    return {
        "task": columns_task_json(
            update.job, update.table, update.log.limits, update.fields, len(chosen.rowsets)
        ),
        "asked": [encode_rowsets(chosen.rowsets)],
        "rowsets": task_rowsets(update.log.store, chosen),
        "others": [each.id for each, _ in changed if each.id not in ids],
    }


def replaced_rowsets(
    log: Log, job: WriteJob, table: TableState, columns: Args | None
) -> Sequence[FilledRowSet]:
    """Return the RowSets whose columns tasks have written; none if `columns` is None.

    `columns` has the `names` of the columns, what tasks were `asked` for, and their `reports`.
    """
    if columns is None:
        return ()
    fields = tuple(table.schema.field(name) for name in columns["names"])
    return decode_columns(log, job, table, fields, columns["asked"], columns["reports"])


def _data_bytes(rowset: LiveRowSet) -> int:
    return rowset.byte_count - rowset.entry.footer.length


def _least(args: Args) -> int:
    text = args["least"]
    if text is None:
        return LEAST_COUNTED if args["counted"] else LEAST_BYTES
    try:
        return parse_size(text)
    except ValueError:
        raise InvalidInputError(
            f"spark.colonnade.replaceColumnsBytes is {text!r}, which is not a size;"
            " set it to a number of bytes such as 32m."
        ) from None


def _can_replace(table: TableState, fields: Sequence[SchemaField]) -> bool:
    """Return whether new values of some columns decide nothing else about their rows."""
    ids = {field.id for field in fields}
    generated = generated_fields(table.schema)
    sources = {source.id for each in generated for source in sources_of(each, table.schema)}
    return (
        replaceable(table).issuperset(ids)
        and ids.isdisjoint(sources.union(each.id for each in generated))
        and are_decided_by(table.constraints, table.schema, ids)
    )


OPS = {"updated_rowsets": updated_rowsets, "choose_columns": choose_columns}
