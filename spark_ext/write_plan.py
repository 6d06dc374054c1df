"""Plan a write for both Spark sources, in Java and in Python. Writes nothing.

Before any task runs, the driver checks the columns by name and fixes the base epoch of the write.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from colonnade.manifests.errors import AlreadyExistsError, InvalidInputError
from colonnade.manifests.model.columns.statics import static_fields
from colonnade.manifests.model.columns.void import VOID
from colonnade.manifests.model.operations import CreateTable
from colonnade.manifests.model.primary_key import key_of
from colonnade.manifests.model.schema import (
    SchemaField,
    TableSchema,
    type_text,
)
from colonnade.manifests.state.partition_layout import parse_layout
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.spark_ext.options.write import SparkWriteOptions
from colonnade.spark_ext.table_design import TableDesign, with_columns
from colonnade.spark_ext.types import same_values
from colonnade.tableformat.keys.policy import merges, require_key
from colonnade.tableformat.keys.static_parts import stored_table
from colonnade.tableformat.location import Location
from colonnade.tableformat.predicate import Predicate, bind, parse_predicate
from colonnade.tableformat.statements.keyed.incoming import (
    ColumnIds,
    incoming_columns,
    merging_job,
    open_columns,
)
from colonnade.tableformat.statements.statement import shortened
from colonnade.tableformat.table.design.new_table import new_table, parse_sort_key
from colonnade.tableformat.table.design.primary_key import parse_primary_key
from colonnade.tableformat.types.conversion import given_fields, match_fields
from colonnade.tableformat.types.input.column_types import as_table_schema
from colonnade.tableformat.write.job import StatementTime, WriteJob, WriteMode, plan_write


def plan_spark_write(
    location: Location,
    base: Snapshot | None,
    options: SparkWriteOptions,
    given: TableSchema,
    overwrite: bool,
    *,
    design: TableDesign | None = None,
    where: Predicate | None = None,
    dynamic: bool = False,
    named: Collection[str] | None = None,
    agreed: StatementTime | None = None,
) -> WriteJob:
    """Plan a write of rows with the columns `given` to `location`, based on the state `base`.

    If the table does not exist, the epoch of the write creates it: as `design` describes it, or
    else with the columns of the rows. These columns are nullable, since a DataFrame without NULLs
    says nothing about later appends. `agreed` is as in `plan_write`.

    An overwrite deletes all rows. With `where`, or the option replaceWhere, it deletes the rows
    that the condition selects. With `dynamic`, or the option partitionOverwriteMode, it overwrites
    the partitions that get new rows. With overwriteSchema, one of all rows also replaces the
    columns, as a `design` does anyway. These options have nothing to do for a new table.

    `named` are the names of the columns that the user gave, if they are known: where added rows
    merge with those of the table by their keys, `given` has also columns that Spark has filled.

    Raises InvalidInputError that names a column that does not fit the table, or an option that does
    not fit the statement. Raises AlreadyExistsError if `design` is for a table that exists.
    """
    table = None if base is None else location.find(base)
    if table is None:
        options = _of_new_table(options)
    where = _overwritten(options, overwrite and design is None, where)
    mode = _mode(options, overwrite, dynamic, where)
    if options.overwrite_schema and design is None and table is not None:
        _check_overwrites_all(mode, where)
        design = with_columns(table, nullable(given), options)
    create = _creation(options, given, design, location, table)
    merged = None
    if table is not None and create is None:
        own, chosen = stored_table(table), options.settings.on_duplicate
        if mode == "append" and named is not None and merges(own, chosen):
            merged = incoming_columns(own, named)
        _check_fit(options, given, table, location, merged)
        _check_where(where, table)
    job = plan_write(
        location,
        base,
        mode,
        create=create,
        replace=design is not None and design.replace,
        where=None if table is None or create is not None else where,
        settings=options.settings,
        commit=options.commit,
        parameters=_parameters(options, mode, where if create is None else None),
        agreed=agreed,
    )
    require_key(options.settings.on_duplicate, job.target.primary_key, job.target.name)
    return job if table is None or merged is None else merging_job(job, stored_table(table), merged)


def _of_new_table(options: SparkWriteOptions) -> SparkWriteOptions:
    """Leave out the options that say what to do with the rows and columns of an existing table.

    A job may give them whenever it runs. Raises InvalidInputError for a condition that is not
    valid.
    """
    if options.replace_where is not None:
        parse_predicate(options.replace_where)
    return replace(
        options, replace_where=None, partition_overwrite_mode=None, overwrite_schema=False
    )


def _check_where(where: Predicate | None, table: TableState) -> None:
    """Check the condition of an overwrite. Raises InvalidInputError."""
    if where is None:
        return
    named = bind(where, table.schema).column_ids
    for column in static_fields(table.schema):
        if column.id in named:
            raise InvalidInputError(
                f"Option replaceWhere names {column.name!r}, a static column of table"
                f" {table.name!r}, which new rows do not store; use INSERT INTO ... REPLACE WHERE"
                " in SQL."
            )


def _check_fit(
    options: SparkWriteOptions,
    given: TableSchema,
    table: TableState,
    location: Location,
    merged: ColumnIds | None,
) -> None:
    """Check that rows and options fit an existing table. `merged` are the columns that rows bring.

    Raises InvalidInputError that names the column or option.
    """
    shape = table.schema if merged is None else open_columns(table.schema, merged)
    check_columns(given, shape, location.url)
    _check_sort_key(options, table, location)
    _check_layout(options, table, location)
    _check_primary_key(options, table, location)


def _check_overwrites_all(mode: WriteMode, where: Predicate | None) -> None:
    if mode != "overwrite" or where is not None:
        raise InvalidInputError(
            "Option overwriteSchema needs a write of mode overwrite that replaces all rows of a"
            " table; leave it out."
        )


def _overwritten(
    options: SparkWriteOptions, overwrites: bool, where: Predicate | None
) -> Predicate | None:
    """Return the condition whose rows are overwritten, from the statement or the option."""
    if options.replace_where is None:
        return where
    if not overwrites or where is not None:
        raise InvalidInputError(
            "Option replaceWhere is for writes of mode overwrite that keep the table and have no"
            " other condition; leave it out."
        )
    return parse_predicate(options.replace_where)


def _mode(
    options: SparkWriteOptions, overwrites: bool, dynamic: bool, where: Predicate | None
) -> WriteMode:
    """Return what the write overwrites; the option partitionOverwriteMode overrides `dynamic`."""
    chosen = options.partition_overwrite_mode
    if chosen is not None and not overwrites:
        raise InvalidInputError(
            "Option partitionOverwriteMode is for writes of mode overwrite; leave it out."
        )
    if where is not None and chosen == "dynamic":
        raise InvalidInputError("A condition excludes partitionOverwriteMode dynamic; choose one.")
    if not overwrites:
        return "append"
    by_partition = dynamic if chosen is None else chosen == "dynamic"
    return "overwrite_partitions" if by_partition and where is None else "overwrite"


def _creation(
    options: SparkWriteOptions,
    given: TableSchema,
    design: TableDesign | None,
    location: Location,
    table: TableState | None,
) -> CreateTable | None:
    """Return the table to create, or None to write to the existing table."""
    name = location.new_table_name
    if design is None:
        if table:
            return None
        by = options.partition_by
        return new_table(
            name,
            nullable(given),
            sort_key=options.sort_key,
            partition_by=by,
            primary_key=options.primary_key,
        )
    if table is not None and not design.replace:
        raise AlreadyExistsError(
            f"Colonnade table {location.url} already exists; choose another name, or write with"
            " mode append or overwrite."
        )
    spec = design.spec
    check_columns(given, as_table_schema(spec.columns), location.url)
    return new_table(
        name,
        replace(
            spec,
            sort_key=spec.sort_key or options.sort_key,
            partition_by=spec.partition_by or options.partition_by,
            primary_key=spec.primary_key or options.primary_key,
        ),
    )


def _check_sort_key(options: SparkWriteOptions, table: TableState, location: Location) -> None:
    """Raise InvalidInputError for a sortKey option that the existing table would ignore."""
    if options.sort_key and parse_sort_key(table.schema, options.sort_key) != table.sort_key:
        raise InvalidInputError(
            f"Table {location.url} exists and is sorted differently; leave out the option sortKey."
        )


def _check_layout(options: SparkWriteOptions, table: TableState, location: Location) -> None:
    """Raise InvalidInputError for a partitionBy option that the existing table would ignore."""
    asked = options.partition_by
    if asked and parse_layout(asked, table.schema) != table.partition_fields:
        raise InvalidInputError(
            f"Table {location.url} exists and is partitioned differently; leave out the option"
            " partitionBy."
        )


def _check_primary_key(options: SparkWriteOptions, table: TableState, location: Location) -> None:
    """Raise InvalidInputError for a primaryKey option that the existing table would ignore."""
    asked = options.primary_key
    if asked and key_of(parse_primary_key(table.schema, asked)) != table.primary_key:
        raise InvalidInputError(
            f"Table {location.url} exists and has another primary key; leave out the option"
            " primaryKey."
        )


def _parameters(
    options: SparkWriteOptions, mode: WriteMode, where: Predicate | None
) -> dict[str, str]:
    parameters = {"mode": "Append" if mode == "append" else "Overwrite"}
    if mode == "overwrite_partitions":
        parameters["partitionOverwriteMode"] = "dynamic"
    if options.overwrite_schema:
        parameters["overwriteSchema"] = "true"
    if where is not None:
        parameters["where"] = shortened(options.replace_where or str(where))
    return parameters


def check_columns(given: TableSchema, table: TableSchema, path: str) -> None:
    """Check that rows have the columns of the table, in any order.

    Nullable columns may be missing. Otherwise nullability is not checked: a nullable column of a
    DataFrame may still hold no NULL. Raises InvalidInputError that names the wrong columns.
    """
    wanted = given_fields(given.names, table.fields)
    names = [field.name for field in wanted]
    order = match_fields(given.names, names, f"The DataFrame for table {path}")
    for index, column in zip(order, wanted, strict=True):
        if not same_values(given.fields[index].type, column.type):
            hint = "give the column a type first" if column.type == VOID else "cast it"
            raise InvalidInputError(
                f"Column {column.name!r} of table {path} has the type {type_text(column.type)},"
                f" but the DataFrame's has {type_text(given.fields[index].type)}; {hint}."
            )


def nullable(schema: TableSchema) -> TableSchema:
    """Make all columns and their nested fields nullable, except map keys."""
    return TableSchema(fields=tuple(_nullable(field) for field in schema.fields))


def _nullable(field: SchemaField) -> SchemaField:
    children = [_nullable(child) for child in field.children()]
    if len(children) == 2 and children[0].name == "key" and not isinstance(field.type, str):
        children[0] = children[0].model_copy(update={"nullable": field.children()[0].nullable})
    return field.with_children(children).model_copy(update={"nullable": True})
