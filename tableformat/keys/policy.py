"""What happens to rows whose key a table has: the properties that say so, as one value.

    onDuplicate          what a plain write does with a key that is there: error, ignore or merge
    merge.<column>       the merge mode of a column; concat:, for a separator
    sequence             the column that says how new a row is
    sequence.<column>    the column that says how new the value of one column is
    tombstone.hours      how long a table with a sequence remembers deleted keys

Spec: docs/spec/keys.md
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast, get_args

from colonnade.manifests.errors import InvalidInputError, NotFoundError
from colonnade.manifests.model.columns.properties import MERGE, SEQUENCE, SEQUENCE_OF
from colonnade.manifests.model.primary_key import key_fields
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.state.snapshot import TableState
from colonnade.manifests.vacuum.retention import HOURS, retention_of
from colonnade.tableformat.keys.modes import NAMES, REPLACE, Mode, fits, is_ordered
from colonnade.tableformat.types.arrow_types import type_name
from colonnade.tableformat.write.settings import OnDuplicate

ON_DUPLICATE = "onDuplicate"
TOMBSTONE_HOURS = "tombstone.hours"

_NEWEST, _KEPT = Mode("max"), Mode("coalesce")


@dataclass(frozen=True, slots=True)
class KeyPolicy:
    """How a table treats rows that share a key. Columns are given by their ids.

    `sequences` has the sequence column of each column that has one. `row_sequence` is that of all
    columns without one of their own.
    """

    on_duplicate: OnDuplicate = "error"
    modes: Mapping[int, Mode] = field(default_factory=dict)
    sequences: Mapping[int, int] = field(default_factory=dict)
    row_sequence: int | None = None

    def mode(self, column: SchemaField) -> Mode:
        """Return the mode of a column. A sequence column keeps its newest value."""
        if column.id in (self.row_sequence, *self.sequences.values()):
            return _NEWEST
        if column.identity is not None:
            return _KEPT
        return self.modes.get(column.id, REPLACE)

    def needs_existing(self, column: SchemaField) -> bool:
        """Return whether a merged value depends on the value of the existing row."""
        return self.mode(column) != REPLACE or column.id in self.sequences

    @property
    def remembers_deletions(self) -> bool:
        """Whether one sequence says of whole rows how new they are."""
        return self.row_sequence is not None and {*self.sequences.values()} <= {self.row_sequence}

    def replaces(self, columns: Sequence[SchemaField]) -> bool:
        """Return whether the row that arrives last is the result in all columns."""
        return not self.sequences and all(self.mode(each) == REPLACE for each in columns)


def key_policy(
    properties: Mapping[str, str], schema: TableSchema, key: Sequence[SchemaField]
) -> KeyPolicy:
    """Return what the properties of a table with these columns and this primary key say.

    Raises InvalidInputError that names the property: its value or column is unknown, its column has
    no such mode, or two columns are each other's sequence.
    """
    columns = _Columns(schema, frozenset(each.id for each in key))
    modes = {
        columns.merged(name, MERGE).id: _mode(name, text, columns)
        for name, text in properties.items()
        if name.startswith(MERGE)
    }
    sequences, row_sequence = _sequences(properties, columns)
    tombstone_hours(properties)
    for name in properties:
        if name.startswith(MERGE) and columns.merged(name, MERGE).id in sequences.values():
            raise InvalidInputError(
                f"Property {name!r} gives a merge mode to a column that is a sequence, which always"
                " keeps its newest value; remove the property."
            )
    return KeyPolicy(
        on_duplicate(properties),
        modes,
        sequences,
        row_sequence,
    )


def policy_of(table: TableState) -> KeyPolicy:
    """Return what the properties of a table with a primary key say. Raises as `key_policy` does."""
    return key_policy(table.properties, table.schema, key_fields(table.primary_key, table.schema))


def tombstone_hours(properties: Mapping[str, str]) -> float:
    """Return how many hours a table remembers a deleted key: by default, as long as its history.

    Raises InvalidInputError for a value that is not a number from 0, or is longer than the
    retention: the log tells the time of a deletion only while it keeps its epoch.
    """
    history = retention_of(properties).hours
    text = properties.get(TOMBSTONE_HOURS)
    try:
        hours = history if text is None else float(text)
    except ValueError:
        hours = -1.0
    if not 0 <= hours <= history:
        raise InvalidInputError(
            f"Property {TOMBSTONE_HOURS!r} must be a number from 0 to {history:g}, which is"
            f" {HOURS!r} of the table, not {text!r}."
        )
    return hours


def merges(table: TableState, chosen: OnDuplicate | None) -> bool:
    """Return whether rows that are added merge with the rows of a table that have their keys.

    `chosen` replaces the property of the table. Raises InvalidInputError for a wrong property, and
    for a choice in a table without a primary key.
    """
    require_key(chosen, table.primary_key, table.name)
    return bool(table.primary_key) and on_duplicate(table.properties, chosen) == "merge"


def require_key(chosen: OnDuplicate | None, primary_key: Sequence[int], table: str) -> None:
    """Refuse a choice of `onDuplicate` in a table without a primary key, which would ignore it.

    Raises InvalidInputError.
    """
    if chosen is not None and not primary_key:
        raise InvalidInputError(
            f"Table {table!r} has no primary key, by which {ON_DUPLICATE} tells rows apart; give"
            f" the table a primary key, or leave {ON_DUPLICATE} out."
        )


def taken_key(table: TableState, key: str, other: str) -> InvalidInputError:
    """Return the refusal of a key, given as text. `other` begins the words on its other row."""
    columns = key_fields(table.primary_key, table.schema)
    return InvalidInputError(
        f"The primary key ({', '.join(each.name for each in columns)}) of table {table.name!r}"
        f" allows a key once, but {other} the key {key}; write other keys, or choose what"
        f" {ON_DUPLICATE} does with such rows."
    )


def on_duplicate(properties: Mapping[str, str], chosen: OnDuplicate | None = None) -> OnDuplicate:
    """Return what a plain write does with a row whose key is there.

    `chosen` replaces the property of the table. Raises InvalidInputError for a wrong property.
    """
    return chosen or parse_on_duplicate(properties.get(ON_DUPLICATE, "error"))


def parse_on_duplicate(text: str) -> OnDuplicate:
    """Return a value of the property or option `onDuplicate`.

    Raises InvalidInputError for any other text.
    """
    *first, last = every = get_args(OnDuplicate)
    if text in every:
        return cast("OnDuplicate", text)
    raise InvalidInputError(f"{ON_DUPLICATE} must be {', '.join(first)} or {last}, not {text!r}.")


@dataclass(frozen=True, slots=True)
class _Columns:
    """The columns that properties name; `keys` are the ids of those of the primary key."""

    schema: TableSchema
    keys: frozenset[int]

    def named(self, name: str, property_name: str) -> SchemaField:
        try:
            found = self.schema.field(name)
        except NotFoundError as error:
            raise InvalidInputError(
                f"Property {property_name!r} names a column that is not there. {error.message}"
            ) from error
        why = None
        if found.id in self.keys:
            why = "is part of the primary key"
        elif found.generated is not None or found.identity is not None:
            why = "gets its values from the table"
        if why is not None:
            raise InvalidInputError(
                f"Property {property_name!r} names column {found.name!r}, which {why} and does not"
                " merge; name another column."
            )
        return found

    def merged(self, property_name: str, prefix: str) -> SchemaField:
        """Return the column that a property such as `merge.a` is for."""
        return self.named(property_name[len(prefix) :], property_name)

    def sequence(self, name: str, property_name: str) -> SchemaField:
        found = self.named(name, property_name)
        if not is_ordered(found) or found.type in ("float", "double"):
            raise InvalidInputError(
                f"Property {property_name!r} names column {found.name!r} of type"
                f" {type_name(found.type)}, which cannot be a sequence; use a column of whole"
                " numbers, decimals, text, dates or times."
            )
        return found


def _mode(name: str, text: str, columns: _Columns) -> Mode:
    column = columns.merged(name, MERGE)
    word, colon, separator = text.partition(":")
    if word not in NAMES or (colon and word != "concat"):
        raise InvalidInputError(
            f"Property {name!r} must be one of {', '.join(NAMES)}, or concat: and a separator, not"
            f" {text!r}."
        )
    if not fits(word, column):
        raise InvalidInputError(
            f"Property {name!r} gives the merge mode {word} to a column of type"
            f" {type_name(column.type)}, which does not have it; choose another mode."
        )
    return Mode(word, separator)


def _sequences(
    properties: Mapping[str, str], columns: _Columns
) -> tuple[dict[int, int], int | None]:
    """Return the sequence of each column, and that of rows."""
    found: dict[int, int] = {}
    for name, text in properties.items():
        if name.startswith(SEQUENCE_OF):
            column, sequence = columns.merged(name, SEQUENCE_OF), columns.sequence(text, name)
            found[column.id] = sequence.id
    row = properties.get(SEQUENCE)
    row_sequence = None if row is None else columns.sequence(row, SEQUENCE)
    of_rows = set() if row_sequence is None else {row_sequence.id}
    for name in properties:
        if name.startswith(SEQUENCE_OF):
            column = columns.merged(name, SEQUENCE_OF)
            if column.id in {*found.values(), *of_rows}:
                raise InvalidInputError(
                    f"Property {name!r} gives a sequence to column {column.name!r}, which is a"
                    " sequence itself; a sequence decides about itself, so remove the property."
                )
    if row_sequence is not None:
        taken = {*found, *found.values(), row_sequence.id, *columns.keys}
        rest = (each for each in columns.schema.fields if each.id not in taken)
        found |= {each.id: row_sequence.id for each in rest if each.generated is None}
    return found, None if row_sequence is None else row_sequence.id
