"""The two parts of a table with static columns: its own columns, and its static values. Pure.

Statements write to either part as to any other table. The properties of the table decide how the
values of both merge.
Spec: docs/spec/static-columns.md
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.columns.properties import (
    MERGE,
    SEQUENCE_OF,
    column_of,
    divided,
    is_sequence,
)
from colonnade.manifests.model.columns.statics import static_fields, statics_schema, stored_schema
from colonnade.manifests.model.primary_key import key_of
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.state.snapshot import TableState
from colonnade.tableformat.keys.modes import REPLACE, Mode
from colonnade.tableformat.keys.policy import key_policy, policy_of


def stored_table(table: TableState) -> TableState:
    """Return a table without static columns, and without the properties that name one."""
    if not static_fields(table.schema):
        return table
    return replace(table, schema=stored_schema(table.schema), statics=None, partition_key=())


def statics_table(table: TableState, *, sets: bool) -> TableState:
    """Return the table of static values, as a statement on a table merges values into it.

    NULL leaves the value that is there, unless the statement `sets` columns or a property says
    otherwise. Requires: the table has static columns.
    """
    assert table.statics is not None, "A table with static columns has a table of their values."
    properties: Mapping[str, str] = {}
    if not sets:
        columns = static_fields(table.schema)
        modes = {f"{MERGE}{each.id}": "coalesce" for each in columns}
        stated, _ = divided(table.stored_properties, columns)
        properties = _without_sequences({**modes, **stated})
    return replace(table.statics, stored_properties=properties)


def refuse_static(table: TableState, columns: Iterable[int], what: str) -> None:
    """Refuse static columns where only stored columns can be read or written.

    `what` begins the sentence. Raises InvalidInputError that names the table and the column.
    """
    ids = set(columns)
    for each in static_fields(table.schema):
        if each.id in ids:
            raise InvalidInputError(
                f"{what} column {each.name!r} of table {table.name!r}, which is static; use columns"
                " that each row has itself."
            )


def check_policies(
    properties: Mapping[str, str],
    schema: TableSchema,
    key: Sequence[SchemaField],
    partition_key: Sequence[SchemaField],
) -> None:
    """Check what properties say of keys, for the own columns and the static values of a table.

    Raises InvalidInputError that names the property: also one that gives a static column a sequence
    that is not static, or the reverse.
    """
    names = {each.name.casefold() for each in static_fields(schema)}
    _check_sequences(properties, schema, names)
    own = {name: text for name, text in properties.items() if not _names_one(name, names)}
    statics = {name: text for name, text in properties.items() if _names_one(name, names)}
    key_policy(own, stored_schema(schema), key)
    if statics:
        key_policy(statics, statics_schema(schema, key_of(partition_key)), partition_key)


def _check_sequences(properties: Mapping[str, str], schema: TableSchema, static: Set[str]) -> None:
    there = {name.casefold() for name in schema.names}
    for key, text in properties.items():
        name = text.casefold()
        if not is_sequence(key) or name not in there:
            continue
        if (name in static) != _names_one(key, static):
            raise InvalidInputError(
                f"Property {key!r} names column {text!r} as a sequence, but"
                f" {'static columns alone' if name in static else 'a static column cannot'}"
                f" have {'a static sequence' if name in static else 'one that is not static'};"
                " name another column."
            )


def keeps_last(statics: TableState, columns: Iterable[SchemaField]) -> bool:
    """Return whether the last value that arrives for a key is the result in all these columns.

    `statics` is a table of static values as `statics_table` returns it.
    """
    policy = policy_of(statics)
    simple = (REPLACE, Mode("coalesce"))
    return not policy.sequences and all(policy.mode(each) in simple for each in columns)


def _names_one(key: str, names: Set[str]) -> bool:
    """Return whether a property is about how a column of some (folded) names merges."""
    if not key.startswith((MERGE, SEQUENCE_OF)):
        return False
    return (column_of(key) or "").casefold() in names


def _without_sequences(properties: Mapping[str, str]) -> dict[str, str]:
    """Return properties of the log without the merge modes of columns that are sequences."""
    modes = {f"{MERGE}{text}" for name, text in properties.items() if is_sequence(name)}
    return {name: text for name, text in properties.items() if name not in modes}
