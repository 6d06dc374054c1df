"""Keyed tables at random, and what they must hold: a dictionary of rows by key."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import pyarrow as pa

from colonnade.manifests.model.schema import (
    ArrayType,
    DataType,
    MapType,
    SchemaField,
    TableSchema,
    assign_ids,
)
from colonnade.tableformat.types.arrow_types import arrow_schema
from colonnade.tableformat.write.settings import OnDuplicate
from tests.merge_model import MergeModel, Row

TEXTS = ArrayType(element=SchemaField(name="element", type="string"))
COUNTS = MapType(
    key=SchemaField(name="key", type="string", nullable=False),
    value=SchemaField(name="value", type="int"),
)
MODES: dict[str, tuple[DataType, tuple[str, ...]]] = {
    "plain": ("string", ("replace", "coalesce", "first", "min", "concat:+")),
    "number": ("long", ("replace", "coalesce", "first", "min", "max", "add")),
    "money": ("decimal(12,2)", ("replace", "max", "add")),
    "words": (TEXTS, ("replace", "first", "list", "union")),
    "counts": (COUNTS, ("replace", "map")),
}
"""The columns of a world beside its key, and the modes that each of them may have."""

SCHEMA = assign_ids(
    TableSchema(
        fields=(
            SchemaField(name="a", type="int", nullable=False),
            SchemaField(name="b", type="string", nullable=False),
            SchemaField(name="at", type="long"),
            SchemaField(name="also", type="timestamp_ntz"),
            *(SchemaField(name=name, type=kind) for name, (kind, _) in MODES.items()),
        )
    ),
    1,
)[0]
KEY = ("a", "b")
Key = tuple[Any, ...]


@dataclass
class KeyedWorld:
    """A table's columns, key and properties, and the rows that it must hold by key.

    `deleted` has the newest deletion of each key that is not NULL.
    """

    properties: dict[str, str]
    rows: dict[Key, Row] = field(default_factory=dict)
    deleted: dict[Key, int] = field(default_factory=dict)

    @classmethod
    def chosen(cls, rng: random.Random) -> KeyedWorld:
        """Choose a mode for each column, and perhaps sequences."""
        properties = {f"merge.{name}": rng.choice(modes) for name, (_, modes) in MODES.items()}
        sequences: dict[str, str] = {}
        if rng.random() < 0.4:
            sequences["sequence"] = "at"
        share = rng.choice((0, 0.2))
        for name in MODES:
            if rng.random() < share:
                sequences[f"sequence.{name}"] = "also"
        return cls(properties | sequences)

    @property
    def model(self) -> MergeModel:
        """How rows of one key meet in this world."""
        types = {"number": "long", "money": "decimal(12,2)"}
        return MergeModel.of(self.properties, {"also", *MODES}, types)

    def columns(self, rng: random.Random) -> list[str]:
        """Choose the columns of a batch: the key, and some others with their sequences."""
        others = [name for name in ("at", "also", *MODES) if rng.random() < 0.7]
        sequences = [self.model.sequences[name] for name in others if name in self.model.sequences]
        # A sequence may have one itself.
        more = [self.model.sequences[name] for name in sequences if name in self.model.sequences]
        return list(dict.fromkeys((*KEY, *others, *sequences, *more)))

    def upsert(self, rows: Sequence[Row]) -> tuple[int, int]:
        """Merge a batch into the rows. Returns how many keys were there, and how many are new."""
        by_key: dict[Key, list[Row]] = {}
        for row in rows:
            if not is_older(row.get("at"), self.deleted.get(key_of(row))):
                by_key.setdefault(key_of(row), []).append(row)
        known = len(by_key.keys() & self.rows.keys())
        defaults: Row = dict.fromkeys(field.name for field in SCHEMA.fields)
        new = {
            key: self.model.merge(self.rows.get(key), given, defaults)
            for key, given in by_key.items()
        }
        self.rows.update(new)
        return known, len(by_key) - known

    @property
    def deletes_keys(self) -> bool:
        """Whether keys can be deleted: no column has a sequence of its own."""
        return not any(name.startswith("sequence.") for name in self.properties)

    def delete(self, keys: Sequence[Row]) -> int:
        """Delete keys, with a sequence if the world has one. Returns how many rows died."""
        dead = 0
        for row in keys:
            key, at = key_of(row), row.get("at")
            there = self.rows.get(key)
            if there is not None and not ("at" in row and is_older(at, there["at"])):
                del self.rows[key]
                dead += 1
            if at is not None and is_older(self.deleted.get(key), at):
                self.deleted[key] = at
        return dead

    def erase(self, a: int) -> None:
        """Erase all keys with a first value: their rows, and what is remembered of them."""
        self.rows = {key: row for key, row in self.rows.items() if key[0] != a}
        self.deleted = {key: at for key, at in self.deleted.items() if key[0] != a}

    def insert(self, rows: Sequence[Row], mode: OnDuplicate, lost: Collection[Key] = ()) -> bool:
        """Add the rows of a plain write. Returns whether they are allowed; if not, nothing changes.

        Rows with the keys `lost` stay out, also if these keys are free by now.
        """
        if mode == "merge":
            self.upsert(rows)
            return True
        keys = [key_of(row) for row in rows]
        if mode == "error" and (len({*keys}) < len(keys) or self.rows.keys() & {*keys}):
            return False
        nothing: Row = dict.fromkeys(field.name for field in SCHEMA.fields)
        for key, row in zip(keys, rows, strict=True):
            if key not in self.rows and key not in lost:
                self.rows[key] = {**nothing, **row}
        return True


def is_older(one: int | None, other: int | None) -> bool:
    """Return whether a value of a sequence is older than another one; NULL is the oldest."""
    return other is not None and (one is None or one < other)


def key_of(row: Mapping[str, Any]) -> Key:
    """Return the key of a row."""
    return tuple(row[name] for name in KEY)


def random_rows(rng: random.Random, columns: Iterable[str], count: int, keys: int = 4) -> list[Row]:
    """Make rows whose keys often meet."""
    return [{name: random_cell(name, rng, keys) for name in columns} for _ in range(count)]


def random_cell(name: str, rng: random.Random, keys: int = 4) -> Any:
    """Make a value of a column, often NULL where that is allowed."""
    if name == "a":
        return rng.randrange(keys)
    if name == "b":
        return rng.choice("xy")
    if rng.random() < 0.2:
        return None
    match name:
        case "plain":
            return rng.choice(("", "a", "b", "é"))
        case "money":
            return Decimal(rng.randrange(-500, 500)) / 100
        case "words":
            return [rng.choice(("a", "b", "c", None)) for _ in range(rng.randrange(3))]
        case "counts":
            return [(each, rng.choice((1, 2, None))) for each in rng.sample("xyz", 2)]
    return rng.randrange(-3, 4)


def table_of(rows: Sequence[Row], columns: Sequence[str]) -> pa.Table:
    """Return rows as Arrow data."""
    schema = arrow_schema(SCHEMA)
    arrays = [pa.array([row[name] for row in rows], schema.field(name).type) for name in columns]
    return pa.Table.from_arrays(arrays, schema=pa.schema([schema.field(n) for n in columns]))


def sorted_rows(rows: pa.Table) -> pa.Table:
    """Return rows in the order of their keys."""
    return rows.sort_by([(name, "ascending") for name in KEY]).combine_chunks()


def expected(world: KeyedWorld) -> pa.Table:
    """Return the rows that a world's table must hold, in the order of their keys."""
    return sorted_rows(table_of(list(world.rows.values()), [f.name for f in SCHEMA.fields]))
