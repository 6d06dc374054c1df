"""Evolution by writing: a table gets the new columns and the wider types that rows bring along.

The columns change in an epoch of their own, before the first row is written. So two writers that
bring the same new column agree on it: the second one finds the column of the first. A column is
never dropped or made narrower. Spec: docs/spec/types.md#evolution-by-writing
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import pyarrow as pa

from colonnade.manifests.commit.change import Change
from colonnade.manifests.errors import InvalidInputError, NotFoundError
from colonnade.manifests.ids import new_transaction_id
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.operations import AlterSchema
from colonnade.manifests.model.schema import DataType, SchemaField, TableSchema, type_text
from colonnade.manifests.model.widening import common_type, evolved_type, widens
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.tableformat.location import Location
from colonnade.tableformat.statements.rerun import commit_statement
from colonnade.tableformat.table.alteration import (
    AddColumn,
    Alteration,
    WidenColumn,
    plan_alterations,
)
from colonnade.tableformat.table.alteration.paths import Names, dotted, find, names_of
from colonnade.tableformat.types.arrow_types import arrow_type, schema_from_arrow
from colonnade.tableformat.types.conform import conform
from colonnade.tableformat.types.conversion import accepts


@dataclass(frozen=True, slots=True)
class UnknownColumns:
    """What a write does with columns that its table does not have; without either it refuses them.

    `evolve` adds them, and widens types. `ignore` leaves them out.
    """

    evolve: bool = False
    ignore: bool = False

    def __post_init__(self) -> None:
        for name in ("evolve", "ignore"):
            if not isinstance(getattr(self, name), bool):
                option = "evolve" if name == "evolve" else "ignore_unknown_columns"
                raise InvalidInputError(
                    f"{option} must be True or False, not {getattr(self, name)!r}."
                )
        if self.evolve and self.ignore:
            raise InvalidInputError(
                "evolve and ignore_unknown_columns exclude each other: new columns are either added"
                " or left out."
            )


def fit_rows(
    log: Log,
    location: Location,
    base: Snapshot,
    batches: Iterable[pa.RecordBatch],
    unknown: UnknownColumns,
    expect_epoch: int | None = None,
) -> tuple[Snapshot, Iterator[pa.RecordBatch]]:
    """Make rows and the columns of their table fit each other, as `unknown` says.

    Returns the state to write on, and the rows. The rows must come in at least one batch. An
    evolution commits an epoch, unless the table can hold the rows already. Raises InvalidInputError
    that names the column when the rows cannot fit; the table is unchanged then. Raises
    ConflictError when concurrent writers change the columns ten times in a row, or when the newest
    epoch is not `expect_epoch`.
    """
    rest = iter(batches)
    first = next(rest)
    rows = chain((first,), rest)
    if unknown.evolve:
        return evolve(log, location, base, first.slice(0, 0), expect_epoch), rows
    schema = location.require(base).schema
    extra = unknown_columns(schema, first.schema)
    if not extra:
        return base, rows
    if not unknown.ignore:
        _refuse(schema, first.slice(0, 0))
    known = [index for index in range(first.num_columns) if index not in extra]
    return base, (batch.select(known) for batch in rows)


def evolve(
    log: Log,
    location: Location,
    base: Snapshot,
    sample: pa.RecordBatch,
    expect_epoch: int | None = None,
) -> Snapshot:
    """Commit the changes that let a table hold rows like `sample`, which has no rows itself.

    Returns the state after them. Commits nothing if the table can hold such rows. Plans again after
    a concurrent change of columns. Raises the errors of `fit_rows`.
    """

    def changes(table: TableState) -> tuple[Alteration, ...]:
        return evolving_changes(table.schema, sample.schema)

    def check(schema: TableSchema) -> None:
        conform(sample, schema)

    return commit_evolution(log, location, base, changes, check, expect_epoch)


def commit_evolution(
    log: Log,
    location: Location,
    base: Snapshot,
    changes: Callable[[TableState], Sequence[Alteration]],
    check: Callable[[TableSchema], None] = lambda schema: None,
    expect_epoch: int | None = None,
) -> Snapshot:
    """Commit the changes that a table needs, and return the state after them.

    `changes` plans them on a state of the table, again after a concurrent change of its columns.
    `check` gets the columns after them, and may refuse them. Commits nothing without changes.
    Raises the errors of both, of `plan_alterations` and of `commit_statement`.
    """

    def planned(state: Snapshot) -> Change | None:
        table = location.require(state)
        wanted = changes(table)
        operations = plan_alterations(table, wanted)
        altered = [op.table_schema for op in operations if isinstance(op, AlterSchema)]
        check(altered[0] if altered else table.schema)
        if not operations:
            return None
        return Change(
            new_transaction_id(),
            "alter_table",
            operations,
            {"name": table.name, "changes": "; ".join(map(str, wanted))},
            expect_epoch=expect_epoch,
            fresh=True,
        )

    return commit_statement(log, base, planned)[0]


def evolving_changes(schema: TableSchema, given: pa.Schema) -> tuple[Alteration, ...]:
    """Return the changes that let columns hold the values of given ones; none if they can already.

    A new column comes last, and is nullable. Raises InvalidInputError for a new column whose type
    no table can have.
    """
    changes: list[Alteration] = []
    known = {field.name.casefold(): field for field in schema.fields}
    for field in given:
        own = known.get(field.name.casefold())
        if own is None:
            changes.append(AddColumn(_new_column(field)))
        elif (wider := _wider(own, field)) is not None:
            changes.append(WidenColumn((own.name,), wider))
    return tuple(changes)


def asked_changes(
    schema: TableSchema, asked: Iterable[Alteration], *, exact: bool
) -> tuple[Alteration, ...]:
    """Return what is left to do of new columns and types that a statement asks for.

    A concurrent writer may have added the column, or widened the type further. With `exact` each
    column must get the very type that is asked for, because the statement insists on it. Raises
    InvalidInputError that names the column.
    """
    left: list[Alteration] = []
    for change in asked:
        path, wanted = _asked(change)
        own = _found(schema, path)
        if own is None or wanted is None:
            left.append(change)
        elif own.type != wanted:
            wider = evolved_type(own.type, wanted)
            if (exact and wider != wanted) or not _has_common_type(own.type, wanted):
                raise InvalidInputError(
                    f"Column {dotted(path)!r} is {type_text(own.type)} and cannot become"
                    f" {type_text(wanted)}; cast the column of the source to the type of the table."
                )
            if wider is not None:
                left.append(WidenColumn(path, wider))
    return tuple(left)


def _found(schema: TableSchema, path: Names) -> SchemaField | None:
    try:
        return find(schema, path)
    except NotFoundError:
        return None


def _has_common_type(own: DataType, wanted: DataType) -> bool:
    return isinstance(own, str) and isinstance(wanted, str) and bool(common_type(own, wanted))


def _asked(change: Alteration) -> tuple[Names, DataType | None]:
    """Return the names that lead to what a change is about, and the type that it shall have."""
    match change:
        case AddColumn():
            parent = names_of(change.parent) if change.parent else ()
            return (*parent, change.column.name), change.column.type
        case WidenColumn():
            return names_of(change.path), change.type
        case _:
            raise AssertionError(f"no schema evolution asks to {change}")


def unknown_columns(schema: TableSchema, given: pa.Schema) -> list[int]:
    """Return the positions of the given columns that a table does not have."""
    known = {name.casefold() for name in schema.names}
    return [index for index, name in enumerate(given.names) if name.casefold() not in known]


def _new_column(field: pa.Field) -> SchemaField:
    if pa.types.is_null(field.type):
        raise InvalidInputError(
            f"Column {field.name!r} is new and has no type, because all its values are NULL; cast"
            " it to a type, or leave it out."
        )
    [column] = schema_from_arrow(pa.schema([field])).fields
    return column.model_copy(update={"nullable": True})


def _wider(own: SchemaField, given: pa.Field) -> str | None:
    """Return the type that a column must widen to for given values, or None.

    None also means that no type can take the values of both. Then the conversion of the rows
    decides: it accepts, for example, any text that is not too long for a varchar.
    """
    if not isinstance(own.type, str) or pa.types.is_null(given.type):
        return None
    if pa.types.is_uint64(given.type):
        # A long takes all values below 2 to the power of 63, and few tables hold larger ones.
        return "long" if widens(own.type, "long") else None
    [column] = schema_from_arrow(pa.schema([given])).fields
    wider = evolved_type(own.type, column.type)
    if wider is None:
        return None
    new = own.model_copy(update={"type": wider})
    return wider if accepts(new, arrow_type(column)) else None


def _refuse(schema: TableSchema, sample: pa.RecordBatch) -> None:
    try:
        conform(sample, schema)
    except InvalidInputError as error:
        raise InvalidInputError(
            f"{error.message} To add new columns to the table, append with evolve=True; to leave"
            " them out, with ignore_unknown_columns=True."
        ) from error
