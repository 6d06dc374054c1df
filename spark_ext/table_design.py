"""A table that a statement describes, or that an overwrite with other columns leaves."""

from __future__ import annotations

from dataclasses import dataclass

from colonnade.manifests.errors import AlreadyExistsError, InvalidInputError
from colonnade.manifests.model.columns.generated import generated_fields
from colonnade.manifests.model.columns.identity import identity_columns
from colonnade.manifests.model.columns.statics import static_fields
from colonnade.manifests.model.primary_key import key_fields
from colonnade.manifests.model.schema import TableSchema
from colonnade.manifests.state.partition_layout import field_text
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.spark_ext.options.write import SparkWriteOptions
from colonnade.tableformat.table.design.lifetimes import lifetime_properties
from colonnade.tableformat.table.design.restored_properties import replaced_properties
from colonnade.tableformat.table.design.spec import TableSpec


@dataclass(frozen=True, slots=True)
class TableDesign:
    """A table that a statement describes; with `replace` it may replace an existing table.

    The columns of `spec` are a `TableSchema`.
    """

    spec: TableSpec
    replace: bool = False


def with_columns(
    table: TableState, columns: TableSchema, options: SparkWriteOptions
) -> TableDesign:
    """Describe the table with new columns; `options` may change its sort key and partitions."""
    if table.constraints:
        raise InvalidInputError(
            f"Table {table.name!r} has the constraint {table.constraints[0].name!r}, which other"
            " columns might not have; drop its constraints first, or use"
            " df.writeTo(name).createOrReplace(), which drops them."
        )
    if generated := generated_fields(table.schema):
        raise InvalidInputError(
            f"Table {table.name!r} has the generated column {generated[0].name!r}, which other"
            " columns might not have; drop it first, or use df.writeTo(name).createOrReplace()."
        )
    if identity := identity_columns(table.schema):
        raise InvalidInputError(
            f"Table {table.name!r} has the identity column {identity[0].name!r}, which would no"
            " longer give values; drop it first, or use df.writeTo(name).createOrReplace()."
        )
    if statics := static_fields(table.schema):
        raise InvalidInputError(
            f"Table {table.name!r} has the static column {statics[0].name!r}, which other columns"
            " might not have; drop it first, or use df.writeTo(name).createOrReplace()."
        )
    key, layout = table.sort_key, table.partition_fields
    primary = () if options.primary_key else key_fields(table.primary_key, table.schema)
    kept = [] if options.sort_key else [(field.column, "sortKey") for field in key]
    kept += [] if options.partition_by else [(field.column, "partitionBy") for field in layout]
    kept += [(field.id, "primaryKey") for field in primary]
    names = {name.casefold() for name in columns.names}
    for column, option in kept:
        name = table.schema.by_id(column).name
        if name.casefold() not in names:
            raise InvalidInputError(
                f"Table {table.name!r} is arranged by {name!r}, which the new columns lack; choose"
                f" other columns with the option {option}, or use"
                " df.writeTo(name).createOrReplace()."
            )
    directions = {True: "desc", False: "asc"}
    spec = TableSpec(
        columns,
        primary_key=options.primary_key or tuple(field.name for field in primary),
        sort_key=options.sort_key
        or tuple(
            f"{table.schema.by_id(field.column).name} {directions[field.descending]}"
            for field in key
        ),
        partition_by=options.partition_by
        or tuple(field_text(field, table.schema) for field in layout),
        properties={**replaced_properties(table, columns), **lifetime_properties(table)},
        comment=table.comment,
    )
    return TableDesign(spec, replace=True)


def refuse_other_case(state: Snapshot, new: str, *, renamed: str | None = None) -> None:
    """Raise AlreadyExistsError if a new name differs from that of a table by case alone.

    `renamed` is the name of the table that gets it, if it has one.
    """
    for name in state.own_names().values():
        if name not in (renamed, new) and name.casefold() == new.casefold():
            raise AlreadyExistsError(
                f"Table {name!r} exists already, and {new!r} differs from it by case alone; choose"
                " another name, or set spark.sql.caseSensitive to true."
            )
