"""The properties of a table that gets other columns by a restore, or by an overwrite. Pure.

Spec: docs/spec/operations.md#properties-that-name-a-column
"""

from __future__ import annotations

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.columns.bloom import has_filters
from colonnade.manifests.model.columns.properties import (
    BLOOM,
    by_name,
    check_columns_stay,
    column_of,
    divided,
)
from colonnade.manifests.model.primary_key import key_fields
from colonnade.manifests.model.schema import TableSchema
from colonnade.manifests.state.snapshot import TableState
from colonnade.tableformat.keys.static_parts import check_policies
from colonnade.tableformat.table.design.lifetimes import check_restored


def restored_properties(last: TableState, then: TableState) -> dict[str, str]:
    """Return the properties of a table in its `last` state with the columns of `then`.

    They are as the log states them. Properties stay, except those for a column that `then` lacks. A
    column that is restored gets the properties that it had in `then`.

    Raises InvalidInputError that names the property if another property or a lifetime names a
    column that `then` lacks, and if the properties do not fit the columns and the key of `then`.
    """
    check_restored(last, then)
    _, gone = divided(last.stored_properties, then.schema.fields)
    there = {field.id for field in last.schema.fields}
    back = [field for field in then.schema.fields if field.id not in there]
    earlier, _ = divided(then.stored_properties, back)
    kept = {name: text for name, text in last.stored_properties.items() if name not in gone}
    properties = {**kept, **earlier}
    check_columns_stay(properties, last.schema, then.schema, "left out by a restore")
    _check_policies(properties, then)
    return properties


def replaced_properties(table: TableState, columns: TableSchema) -> dict[str, str]:
    """Return the properties that users see of a table, for new columns that take its place.

    The new columns take the properties of those with their names. The others are left out, and so
    are Bloom filters of a column whose new type has none.
    """
    new = {field.name.casefold(): field for field in columns.fields}

    def fits(name: str) -> bool:
        if (column := column_of(name)) is None:
            return True
        field = new.get(column.casefold())
        return field is not None and (not name.startswith(BLOOM) or has_filters(field))

    return {name: text for name, text in table.properties.items() if fits(name)}


def _check_policies(properties: dict[str, str], then: TableState) -> None:
    if not then.primary_key:
        return
    schema = then.schema
    key, partitions = (key_fields(each, schema) for each in (then.primary_key, then.partition_key))
    try:
        check_policies(by_name(properties, schema), schema, key, partitions)
    except InvalidInputError as error:
        raise InvalidInputError(
            f"Table {then.name!r} cannot be restored, because its properties do not fit its former"
            f" columns and key: {error.message}"
        ) from error
