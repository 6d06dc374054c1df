"""Create a table of columns, or of rows that tell the columns, in one epoch."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa
from typing_extensions import Unpack

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.later import later
from colonnade.manifests.log.log import Log
from colonnade.manifests.log.statement_log import StatementLog
from colonnade.manifests.model.operations import CreateTable
from colonnade.manifests.model.schema import TableSchema
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.manifests.store import StorePath
from colonnade.tableformat.location import Location, locate, read_base
from colonnade.tableformat.scan.user_rows import batches_of
from colonnade.tableformat.statements.commit import commit_reported, commit_written
from colonnade.tableformat.statements.statement import Statement
from colonnade.tableformat.table.design.new_table import new_table
from colonnade.tableformat.table.design.spec import SpecKeywords, TableSpec, spec_of
from colonnade.tableformat.types.arrow_types import arrow_schema
from colonnade.tableformat.types.input.arrow_input import has_rows
from colonnade.tableformat.types.input.changed_types import changed_types
from colonnade.tableformat.types.input.column_types import (
    GivenSchema,
    as_table_schema,
    states_columns,
)
from colonnade.tableformat.write.job import plan_write

if TYPE_CHECKING:
    from colonnade.tableformat.statements import append
else:
    append = later("colonnade.tableformat.statements.append")

ChangedTypes = Literal["warn", "refuse", "accept"]
"""What happens if a table cannot keep types of Arrow that it is created with."""

NewRows = Iterator[pa.RecordBatch] | None
"""The rows that a table is created with, if any."""


def new_place(path: StorePath) -> tuple[Location, Log, Snapshot | None]:
    """Return the location of a new table, its log, and the newest state of its database, if any.

    Raises AlreadyExistsError when there is a table, and the errors of `locate` and `read_base`.
    """
    location = locate(path)
    log = Log(location.store)
    base = read_base(location, log)
    location.require_absent(base)
    return location, log, base


def designed(
    name: str,
    given: TableSpec | GivenSchema | Any,
    data: Any,
    on_change: ChangedTypes,
    **keywords: Unpack[SpecKeywords],
) -> tuple[CreateTable, NewRows]:
    """Design a table as `ArrowTable.create` has it described, and return the rows it begins with.

    Raises the errors of `columns_and_rows` and of `new_table`.
    """
    spec = spec_of(name, given, **keywords)
    schema, rows = columns_and_rows(name, spec.columns, data, on_change)
    return new_table(name, replace(spec, columns=schema)), rows


def columns_and_rows(
    name: str, given: Any, data: Any = None, on_change: ChangedTypes = "warn"
) -> tuple[TableSchema, NewRows]:
    """Return the columns and rows that a table is created with.

    `given` states the columns, and then `data` may have rows. Or `given` has rows, which tell the
    columns. Types of Arrow that the table cannot keep are announced by one UserWarning, unless
    `on_change` says otherwise. Raises InvalidInputError that names the column for a type that
    cannot be stored, for rows that are given twice, and for such types with "refuse".
    """
    if on_change not in ("warn", "refuse", "accept"):
        raise InvalidInputError(
            f"changed_types must be 'warn', 'refuse' or 'accept', not {on_change!r:.100}."
        )
    states = states_columns(given) or not has_rows(given) or not _tells_anything(given)
    if not states and data is not None:
        raise InvalidInputError(
            f"Table {name!r} is created with rows in place of columns, and with data; give a schema"
            " beside the data, or leave the data out."
        )
    if states:
        schema = as_table_schema(given)
        _announce(name, _arrow_fields(given), on_change)
        return schema, None if data is None else batches_of(data, arrow_schema(schema))
    batches = batches_of(given)
    first = next(batches)
    _announce(name, first.schema, on_change)
    return as_table_schema(first.schema), chain((first,), batches)


def commit_created(
    log: Log, location: Location, base: Snapshot | None, design: CreateTable, rows: NewRows
) -> Snapshot:
    """Create a table with rows in one epoch, and return the state after it.

    If its database does not exist, it is created, too, unless a row is refused. Raises the errors
    of `plan_write`, `evaluate_append` and `commit_reported`.
    """
    agreed = log.agreement.statement_time
    job = plan_write(location, base, "append", create=design, limits=log.limits, agreed=agreed)
    if rows is None:
        return commit_written(job, (), log, base, fresh=True)

    def reported(log: StatementLog, table: TableState) -> Statement:
        return append.evaluate_append(log, table, rows, job.job_id)

    return commit_reported(job, reported, log, base, fresh=True)


def _tells_anything(given: Any) -> bool:
    return not isinstance(given, dict | list) or bool(given)


def _arrow_fields(given: Any) -> list[pa.Field]:
    """Return the columns that are stated by types of Arrow."""
    if isinstance(given, Mapping):
        given = [(name, each) for name, each in given.items()]
    if not isinstance(given, pa.Schema | list | tuple):
        return []
    fields = []
    for each in given:
        name, found = each if isinstance(each, tuple) else (None, each)
        if isinstance(found, pa.DataType):
            fields.append(pa.field(name, found))
        elif isinstance(found, pa.Field):
            fields.append(found if name is None else found.with_name(name))
    return fields


def _announce(name: str, fields: pa.Schema | list[pa.Field], on_change: ChangedTypes) -> None:
    if on_change == "accept" or not (changed := changed_types(fields)):
        return
    listed = ", ".join(f"{path!r} ({given}) as {own}" for path, given, own in changed)
    said = f"Table {name!r} stores columns with other types than they are given with: {listed}"
    if on_change == "refuse":
        raise InvalidInputError(f"{said}; cast them, or leave out changed_types='refuse'.")
    warnings.warn(
        f"{said}. A value that such a type cannot hold exactly is refused. Pass"
        " changed_types='accept' to be told no more, or 'refuse' to create no such table.",
        UserWarning,
        stacklevel=5,
    )
