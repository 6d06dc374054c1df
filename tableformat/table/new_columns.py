"""Evolution by writing: a table gets the new columns and the wider types that rows bring along.

The columns change in an epoch of their own, before the first row is written. So two writers that
bring the same new column agree on it: the second one finds the column of the first. A column is
never dropped or made narrower. Spec: docs/spec/types.md#evolution-by-writing
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

import pyarrow as pa

from colonnade.manifests.commit.change import Change
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.ids import new_transaction_id
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.operations import AlterSchema
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.model.widening import common_type, text_length, widens
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.tableformat.location import Location
from colonnade.tableformat.statements.rerun import commit_statement
from colonnade.tableformat.table.alteration import (
    AddColumn,
    Alteration,
    WidenColumn,
    plan_alterations,
)
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

    def planned(state: Snapshot) -> Change | None:
        table = location.require(state)
        changes = evolving_changes(table.schema, sample.schema)
        operations = plan_alterations(table, changes)
        altered = [op.table_schema for op in operations if isinstance(op, AlterSchema)]
        conform(sample, altered[0] if altered else table.schema)
        if not operations:
            return None
        return Change(
            new_transaction_id(),
            "alter_table",
            operations,
            {"name": table.name, "changes": "; ".join(map(str, changes))},
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
    [column] = schema_from_arrow(pa.schema([given])).fields
    if not isinstance(column.type, str):
        return None
    if pa.types.is_uint64(given.type):
        # A long takes all values below 2 to the power of 63, and few tables hold larger ones.
        return "long" if widens(own.type, "long") else None
    length = text_length(own.type)
    if length is not None and (text_length(column.type) or 0) <= length:
        return None  # text without a length, or a shorter one
    common = common_type(own.type, column.type)
    if common is None or common == own.type:
        return None
    wider = own.model_copy(update={"type": common})
    return common if accepts(wider, arrow_type(column)) else None


def _refuse(schema: TableSchema, sample: pa.RecordBatch) -> None:
    try:
        conform(sample, schema)
    except InvalidInputError as error:
        raise InvalidInputError(
            f"{error.message} To add new columns to the table, append with evolve=True; to leave"
            " them out, with ignore_unknown_columns=True."
        ) from error
