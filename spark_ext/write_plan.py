"""Planning a write of Spark's, whichever source carries it out. Writes nothing.

The driver checks columns by name and fixes the epoch that the write is based on, before any task
runs.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from colonnade.manifests.errors import AlreadyExistsError, InvalidInputError
from colonnade.manifests.model.bloom_columns import without_missing
from colonnade.manifests.model.operations import CreateTable
from colonnade.manifests.model.schema import SchemaField, TableSchema, type_text
from colonnade.manifests.state.partition_layout import field_text, parse_layout
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.spark_ext.options import SparkWriteOptions
from colonnade.spark_ext.types import same_values
from colonnade.tableformat.location import Location
from colonnade.tableformat.predicate import Predicate, bind, parse_predicate
from colonnade.tableformat.table.design import new_table, parse_sort_key
from colonnade.tableformat.types.conversion import given_fields, match_fields
from colonnade.tableformat.write.job import WriteJob, WriteMode, plan_write


@dataclass(frozen=True, slots=True)
class TableDesign:
    """A table that a statement describes; with `replace` one that may be there is replaced."""

    schema: TableSchema
    sort_key: tuple[str, ...] = ()
    properties: dict[str, str] = field(default_factory=dict)
    comment: str | None = None
    replace: bool = False
    partition_by: tuple[str, ...] = ()


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
) -> WriteJob:
    """Plan a write of rows with the columns `given` to `location`, as of `base`.

    A table that does not exist will be created by the same epoch: as `design` says, else with the
    columns of the rows, nullable like those of any file that Spark writes, since what a DataFrame
    happens to guarantee today is no promise for later appends. An overwrite with `where`, or the
    option replaceWhere, replaces the rows that it selects; a `dynamic` one, which the option
    partitionOverwriteMode asks for too, the partitions that its rows are of. With the option
    overwriteSchema an overwrite of all rows makes the table anew, with the columns of its rows.

    Raises InvalidInputError naming the column that does not fit the table, or the option that does
    not fit the statement, AlreadyExistsError where `design` is for a new table.
    """
    where = _replaced(options, overwrite and design is None, where)
    mode = _mode(options, overwrite, dynamic, where)
    table = None if base is None else location.find(base)
    if options.overwrite_schema:
        _check_overwrites_all(mode, design, where)
        design = None if table is None else _with_columns(table, nullable(given), options)
    create = _creation(options, given, design, location, table)
    if table is not None and create is None:
        check_columns(given, table.schema, location.url)
        _check_sort_key(options, table, location)
        _check_layout(options, table, location)
        if where is not None:
            bind(where, table.schema)
    return plan_write(
        location,
        base,
        mode,
        create=create,
        replace=design is not None and design.replace,
        where=None if table is None or create is not None else where,
        settings=options.settings,
        commit=options.commit,
        parameters=_parameters(options, mode),
    )


def _check_overwrites_all(
    mode: WriteMode, design: TableDesign | None, where: Predicate | None
) -> None:
    if mode != "overwrite" or design is not None or where is not None:
        raise InvalidInputError(
            "Option overwriteSchema is for writes of mode overwrite that replace all rows of a"
            " table; leave it out."
        )


def _with_columns(
    table: TableState, columns: TableSchema, options: SparkWriteOptions
) -> TableDesign:
    """The table as it is but for its columns; `options` may arrange its rows otherwise."""
    key, layout = table.sort_key, table.partition_fields
    kept = [] if options.sort_key else [(field.column, "sortKey") for field in key]
    kept += [] if options.partition_by else [(field.column, "partitionBy") for field in layout]
    names = {name.casefold() for name in columns.names}
    for column, option in kept:
        name = table.schema.by_id(column).name
        if name.casefold() not in names:
            raise InvalidInputError(
                f"Table {table.name!r} is arranged by {name!r}, which the new columns lack; say"
                f" by what instead with the option {option}, or use"
                " df.writeTo(name).createOrReplace()."
            )
    directions = {True: "desc", False: "asc"}
    return TableDesign(
        columns,
        options.sort_key
        or tuple(
            f"{table.schema.by_id(field.column).name} {directions[field.descending]}"
            for field in key
        ),
        without_missing(table.properties, columns),
        table.comment,
        True,
        options.partition_by or tuple(field_text(field, table.schema) for field in layout),
    )


def _replaced(
    options: SparkWriteOptions, overwrites: bool, where: Predicate | None
) -> Predicate | None:
    """The condition whose rows are replaced, as the statement or the option says."""
    if options.replace_where is None:
        return where
    if not overwrites or where is not None:
        raise InvalidInputError(
            "Option replaceWhere is for writes of mode overwrite to a table that stays, without"
            " another condition."
        )
    return parse_predicate(options.replace_where)


def _mode(
    options: SparkWriteOptions, overwrites: bool, dynamic: bool, where: Predicate | None
) -> WriteMode:
    """What is replaced, as the statement or the option says; the option of a write comes first."""
    chosen = options.partition_overwrite_mode
    if chosen is not None and not overwrites:
        raise InvalidInputError("Option partitionOverwriteMode is for writes of mode overwrite.")
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
    """The table to create, or None where rows go to the one that is there."""
    name = location.new_table_name
    if design is None:
        if table:
            return None
        by = options.partition_by
        return new_table(name, nullable(given), options.sort_key, partition_by=by)
    if table is not None and not design.replace:
        raise AlreadyExistsError(f"{location.url} is a Colonnade table already.")
    check_columns(given, design.schema, location.url)
    sort_key = design.sort_key or options.sort_key
    by = design.partition_by or options.partition_by
    return new_table(name, design.schema, sort_key, design.properties, design.comment, by)


def _check_sort_key(options: SparkWriteOptions, table: TableState, location: Location) -> None:
    """Refuse an option that would silently do nothing."""
    if options.sort_key and parse_sort_key(table.schema, options.sort_key) != table.sort_key:
        raise InvalidInputError(
            f"Table {location.url} exists and is sorted otherwise; leave out the option sortKey."
        )


def _check_layout(options: SparkWriteOptions, table: TableState, location: Location) -> None:
    """Refuse an option that would silently do nothing."""
    asked = options.partition_by
    if asked and parse_layout(asked, table.schema) != table.partition_fields:
        raise InvalidInputError(
            f"Table {location.url} exists and is partitioned otherwise; leave out the option"
            " partitionBy."
        )


def _parameters(options: SparkWriteOptions, mode: WriteMode) -> dict[str, str]:
    parameters = {"mode": "Append" if mode == "append" else "Overwrite"}
    if mode == "overwrite_partitions":
        parameters["partitionOverwriteMode"] = "dynamic"
    if options.overwrite_schema:
        parameters["overwriteSchema"] = "true"
    if options.replace_where is not None:
        parameters["where"] = options.replace_where
    return parameters


def check_columns(given: TableSchema, table: TableSchema, path: str) -> None:
    """Refuse rows whose columns are not those of the table, in whatever order.

    Columns that may be NULL may be missing. NULL is not looked at otherwise: that a DataFrame's
    column may be NULL does not mean that it is.
    Raises InvalidInputError that names the columns at fault.
    """
    wanted = given_fields(given.names, table.fields)
    names = [field.name for field in wanted]
    order = match_fields(given.names, names, f"The DataFrame for table {path}")
    for index, column in zip(order, wanted, strict=True):
        if not same_values(given.fields[index].type, column.type):
            raise InvalidInputError(
                f"Column {column.name!r} of table {path} has the type {type_text(column.type)},"
                f" but the DataFrame's has {type_text(given.fields[index].type)}; cast it."
            )


def nullable(schema: TableSchema) -> TableSchema:
    """The same columns, every one of them and of their fields nullable, but for map keys."""
    return TableSchema(fields=tuple(_nullable(field) for field in schema.fields))


def _nullable(field: SchemaField) -> SchemaField:
    children = [_nullable(child) for child in field.children()]
    if len(children) == 2 and children[0].name == "key" and not isinstance(field.type, str):
        children[0] = children[0].model_copy(update={"nullable": field.children()[0].nullable})
    return field.with_children(children).model_copy(update={"nullable": True})
