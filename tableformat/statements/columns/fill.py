"""Give a column a value in every row of a table, beside running writers.

Only the segments of this column are written, and one epoch makes them visible. Concurrent writers
may add, delete, move and compact rows meanwhile. So the values are written for the RowSets of one
state first, and then for the RowSets that are new, until the commit has its slot.
Spec: docs/spec/conflicts.md#filled-columns
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from colonnade.manifests.arrays.bounds import BoundsFilter
from colonnade.manifests.commit.change import Change, ColumnFill
from colonnade.manifests.errors import ConflictError, InvalidInputError, NotFoundError
from colonnade.manifests.ids import TableId
from colonnade.manifests.limits import Limits
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.columns.generated import generated_from
from colonnade.manifests.model.columns.void import VOID
from colonnade.manifests.model.operations import AlterSchema, Operation, ReplaceColumn
from colonnade.manifests.model.schema import SchemaField, type_text
from colonnade.manifests.state.replaced_columns import replaceable
from colonnade.manifests.state.snapshot import LiveRowSet, Snapshot, TableState
from colonnade.manifests.state.view import View
from colonnade.tableformat.keys.static_parts import refuse_static
from colonnade.tableformat.progress import step
from colonnade.tableformat.statements.statement import row_statement, short_texts
from colonnade.tableformat.write.job import WriteJob

ROUNDS = 5
"""The most rounds before the commit. Each writes the values of RowSets that are new since."""

_OPERATION_BYTES = 768
"""About the most bytes that the values of one RowSet take in the epoch."""


@dataclass(frozen=True, slots=True)
class FilledRowSet:
    """The values of a column in a RowSet, as written.

    `rows` is the number of rows that get a value; None means all live rows. `operation` is None if
    no row does.
    """

    rowset: LiveRowSet
    operation: ReplaceColumn | None
    rows: int | None = None


Write = Callable[[Snapshot, View], Iterable[FilledRowSet]]
"""Writes the values of a column in some RowSets of a state."""


@dataclass(frozen=True, slots=True)
class FillPlan:
    """Which values a fill gives to a table.

    `table` is the state that the fill was planned on, with the column `target`. `is_new` means that
    the fill adds this column. The values are computed from the columns `reads`. Only rows of the
    RowSets that `may_match` selects can get a value; None means all RowSets. `of_all_rows` is False
    if a condition decides which rows get one.
    """

    operation: str
    table: TableState
    target: SchemaField
    is_new: bool
    reads: tuple[SchemaField, ...]
    may_match: BoundsFilter | None = None
    of_all_rows: bool = True

    def fits(self, head: Snapshot) -> bool:
        """Return whether a state still has the table, with columns that fit."""
        table = head.tables.get(TableId(self.table.id))
        if table is None:
            return False
        found = {field.id: field for field in table.schema.fields}
        needed = self.reads if self.is_new else (*self.reads, self.target)
        same = all(field.id in found and _is_same(found[field.id], field) for field in needed)
        return same and (self.is_new or self.target.id in replaceable(table))

    def require_table(self, head: Snapshot) -> TableState:
        """Return the table in a state. Raises ConflictError if its columns do not fit any more."""
        if not self.fits(head):
            raise ConflictError(
                f"Table {self.table.name!r} was dropped, or its columns changed, while"
                f" {self.operation!r} ran; read the table again and repeat it."
            )
        return head.tables[TableId(self.table.id)]

    def check_room(self, limits: Limits, rowsets: int) -> None:
        """Raise InvalidInputError if one epoch cannot list the values of `rowsets` RowSets."""
        most = limits.epoch_bytes // _OPERATION_BYTES
        if rowsets > most:
            raise InvalidInputError(
                f"{self.operation!r} of table {self.table.name!r} would write column"
                f" {self.target.name!r} of {rowsets} RowSets, and one epoch lists at most {most};"
                " compact the table first, or fill the column by several backfills, each with a"
                " condition that meets fewer RowSets."
            )


class Fill:
    """The written values of a column, by the objects that they were computed from.

    Grows until the commit.
    """

    def __init__(self, log: Log, plan: FillPlan, write: Write) -> None:
        self._log = log
        self._plan = plan
        self._write = write
        self._filled: dict[tuple[str, ...], FilledRowSet] = {}
        self._sources = frozenset((*(field.id for field in plan.reads), plan.target.id))

    def catch_up(self, base: Snapshot) -> Snapshot:
        """Write the values of all RowSets of the newest state, and return that state.

        RowSets that concurrent writers add during the last round are left to `fill`, and so is a
        state whose columns do not fit. Raises the errors of `write` and of `LogReader.refresh`.
        """
        head = base
        for _ in range(ROUNDS):
            if not self._plan.fits(head) or not self._write_missing(head):
                break
            head = self._log.reader.refresh(head)
        return head

    def change(
        self, job: WriteJob, altered: Sequence[Operation], parameters: Mapping[str, str]
    ) -> Change:
        """Return the change that makes the values visible, after the operations `altered`."""
        table, commit = self._plan.table.id, job.commit
        return Change(
            job.transaction,
            self._plan.operation,
            (*altered, *commit._operations(table), *job.end_of_lease()),
            {**short_texts(parameters), **commit._parameters()},
            expect_epoch=commit.expect_epoch,
            job_id=job.job_id,
            fresh=True,
            fill=ColumnFill(table, self.fill),
        )

    def missing(self, head: Snapshot) -> View:
        """Return the RowSets of a state whose values are not written yet. Raises ConflictError."""
        view = self._view(head)
        return view.of(each for each in view.rowsets if self._key(each) not in self._filled)

    def changes(self, head: Snapshot) -> bool:
        """Return whether a row of a state gets a value, or may get one."""
        if not self._plan.fits(head):
            return True
        filled = map(self._filled.get, map(self._key, self._view(head).rowsets))
        return any(each is None or each.operation is not None for each in filled)

    def add(self, filled: Iterable[FilledRowSet]) -> None:
        """Add written values."""
        for each in filled:
            self._filled[self._key(each.rowset)] = each

    def fill(self, head: Snapshot) -> tuple[Sequence[ReplaceColumn], Mapping[str, int]]:
        """Return the operations for the slot after a state, and their counts.

        Raises ConflictError as `FillPlan.require_table`, else as `catch_up`.
        """
        self._write_missing(head)
        operations: list[ReplaceColumn] = []
        rows = 0
        for rowset in self._view(head).rowsets:
            filled = self._filled[self._key(rowset)]
            if filled.operation is not None:
                # A restore may have given the RowSet another id.
                own = {"rowset": rowset.id, "fill": True}
                operations.append(filled.operation.model_copy(update=own))
                rows += rowset.row_count if filled.rows is None else filled.rows
        done = row_statement(
            self._plan.operation,
            self._plan.table,
            (),
            reads=(),
            replaced=operations,
            replaced_rows=rows,
        )
        return operations, done.counts.metrics()

    def _write_missing(self, head: Snapshot) -> bool:
        missing = self.missing(head)
        if missing.rowsets:
            self._plan.check_room(self._log.limits, self._count(head))
            plan = self._plan
            with step(plan.operation, plan.table.name, "RowSets", len(missing.rowsets)) as advance:
                for each in self._write(head, missing):
                    self.add((each,))
                    advance(1)
        return bool(missing.rowsets)

    def _count(self, head: Snapshot) -> int:
        """Return how many RowSets of a state are known to get values."""
        filled = map(self._filled.get, map(self._key, self._view(head).rowsets))
        unknown = self._plan.of_all_rows
        return sum(unknown if each is None else each.operation is not None for each in filled)

    def _view(self, head: Snapshot) -> View:
        return self._log.rowsets.view(self._plan.require_table(head), self._plan.may_match, None)

    def _key(self, rowset: LiveRowSet) -> tuple[str, ...]:
        """Return the objects that decide the values. Deleted rows do not matter."""
        return (rowset.entry.object, *rowset.holders(self._sources))


def with_columns(table: TableState, operations: Sequence[Operation]) -> TableState:
    """Return the table after operations that alter its columns."""
    for op in operations:
        if isinstance(op, AlterSchema):
            table = replace(
                table,
                schema=op.table_schema,
                schema_id=op.schema_id,
                next_column_id=op.next_column_id,
            )
    return table


def fill_target(table: TableState, name: str, *, is_new: bool) -> SchemaField:
    """Return the column to fill.

    Raises NotFoundError, and InvalidInputError for a column of the sort key or the partitions, for
    a void or generated column, and for one that a generated column reads.
    """
    try:
        target = table.schema.field(name)
    except NotFoundError as error:
        raise NotFoundError(
            f"{error.message} Only whole columns can be filled, not fields inside them."
        ) from error
    refuse_static(table, (target.id,), "A job cannot fill")
    if target.identity is not None:
        raise InvalidInputError(
            f"Column {target.name!r} cannot be filled, because it is an identity column, whose"
            " values the table gives."
        )
    if target.type == VOID:
        raise InvalidInputError(
            f"Column {target.name!r} cannot be filled, because it is void; give it a type first."
        )
    if not (is_new or target.id in replaceable(table)):
        raise InvalidInputError(
            f"Column {target.name!r} cannot be filled, because {_why_kept(table, target)}; use"
            " update."
        )
    if (generated := generated_from((target.id,), table.schema)) is not None:
        what = "is" if generated.id == target.id else "decides"
        raise InvalidInputError(
            f"Column {target.name!r} cannot be filled, because it {what} the generated column"
            f" {generated.name!r}; use update."
        )
    return target


def _why_kept(table: TableState, column: SchemaField) -> str:
    """Say why a column of a table may not be replaced, which `replaceable` has found."""
    lives = table.lifetimes
    if lives is not None and lives.counts_from_write:
        return "the rows or values of the table expire some time after their write"
    if lives is not None and any(each.column == column.id for each in lives.columns):
        return "its values expire"
    if column.id in table.primary_key:
        return "it is part of the primary key"
    return "the table is sorted or partitioned by it"


def fill_parameters(target: SchemaField, where: object = None) -> dict[str, str]:
    """Return what the history shows of a fill."""
    more = {} if where is None else {"where": str(where)}
    return {"column": target.name, "type": type_text(target.type), **more}


def _is_same(one: SchemaField, other: SchemaField) -> bool:
    """Return whether a column still means what it meant: by its name, and by what it can hold."""
    return (one.name, one.type, one.nullable) == (other.name, other.type, other.nullable)
