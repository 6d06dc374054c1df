"""Static columns among the properties of a table, where SQL states and shows them."""

from __future__ import annotations

from collections.abc import Iterable

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.columns.statics import static_fields
from colonnade.manifests.model.primary_key import key_fields
from colonnade.manifests.state.snapshot import TableState
from colonnade.tableformat.predicate import Predicate, bind

STATIC = "static"
"""The property with the names of the static columns, where a table is created or shown."""

PARTITION_KEY = "partitionKey"
"""The property with the columns of the partition key."""


def static_properties(table: TableState) -> dict[str, str]:
    """Return the static columns and the partition key of a table as properties that Spark shows."""
    statics = static_fields(table.schema)
    if not statics:
        return {}
    key = key_fields(table.partition_key, table.schema)
    listed = {STATIC: statics, PARTITION_KEY: key}
    return {name: ", ".join(each.name for each in fields) for name, fields in listed.items()}


def static_column_of(where: Predicate, table: TableState) -> str | None:
    """Return the name of a static column that a predicate names, or None. Raises as `bind`."""
    statics = static_fields(table.schema)
    found = bind(where, table.schema).column_ids if statics else frozenset[int]()
    return next((each.name for each in statics if each.id in found), None)


def refuse_change(names: Iterable[str]) -> None:
    """Raise InvalidInputError if properties that a statement changes are about static columns."""
    for name in names:
        if name in (STATIC, PARTITION_KEY):
            raise InvalidInputError(
                f"Property {name!r} cannot be changed; a new static column is added by"
                " CALL colonnade.system.add_static_column(table, name, type), and ALTER TABLE drops"
                " and renames static columns."
            )
