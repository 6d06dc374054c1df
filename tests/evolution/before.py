"""A table with a RowSet for each form of values, and columns of every type: what steps change."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

import colonnade
from colonnade import SchemaField, TableSchema
from colonnade.manifests.log.log import Log
from colonnade.tableformat.rowset.encodings import lengths
from colonnade.tableformat.types.arrow_types import arrow_schema
from tests.evolution.world import LIMITS
from tests.large_tables import NESTED
from tests.strategies import PRIMITIVES, random_value

ROWS = lengths.FROM_ROWS
"""The rows of a RowSet. Some encodings are not possible with fewer rows."""

Row = dict[str, Any]
Values = Callable[[SchemaField, random.Random], list[Any]]


def _any(column: SchemaField, rng: random.Random) -> list[Any]:
    return [random_value(column, rng) for _ in range(ROWS)]


def _near(column: SchemaField, rng: random.Random) -> list[Any]:
    """Whole numbers that lie close together, texts that all differ, and any other values."""
    if column.type == "string":
        return [f"{at} {rng.random()}" for at in range(ROWS)]
    if column.type in ("short", "int", "long", "date", "timestamp", "timestamp_ntz"):
        return [20_000 + rng.randrange(100) for _ in range(ROWS)]
    return _any(column, rng)


def _few(column: SchemaField, rng: random.Random) -> list[Any]:
    few = [random_value(column, rng) for _ in range(3)]
    return [rng.choice(few) for _ in range(ROWS)]


def _some(column: SchemaField, rng: random.Random) -> list[Any]:
    return [value if rng.random() < 0.7 else None for value in _any(column, rng)]


FORMS: dict[str, Values] = {
    "any values": _any,
    "near values": _near,
    "few values": _few,
    "one value": lambda column, rng: [random_value(column, rng)] * ROWS,
    "some NULL": _some,
    "all NULL": lambda column, rng: [None] * ROWS,
}
"""The forms of values, which decide how a block is encoded. The last two have NULL."""


def columns(types: Sequence[str] = PRIMITIVES) -> tuple[SchemaField, ...]:
    """A column of each type, and structs, lists and maps that nest every type."""
    flat = (SchemaField(name=f"c{at}", type=each) for at, each in enumerate(types))
    inside = [field for field in NESTED.fields if field.name != "every"]
    every = NESTED.field("every")
    kept = tuple(each for each in every.children() if each.type in types)
    return (*flat, *inside, every.with_children(kept))


class Before:
    """A table with a RowSet of each form, and its rows by column."""

    def __init__(self, path: Path, types: Sequence[str] = PRIMITIVES, nulls: bool = True) -> None:
        rng = random.Random(7)
        fields = (f.model_copy(update={"nullable": nulls}) for f in columns(types))
        key = SchemaField(name="k", type="long", nullable=False)
        self.path, self.schema = path, TableSchema(fields=(key, *fields))
        self.table = colonnade.create(path, self.schema)
        self.table._open.log = Log(self.table._log.store, limits=LIMITS, pause=lambda seconds: None)
        self.rows: dict[str, Any] = {name: [] for name in self.schema.names}
        for form in FORMS if nulls else [*FORMS][:-2]:
            first = len(self.rows["k"])
            found = {f.name: FORMS[form](f, rng) for f in self.schema.fields[1:]}
            self.append({"k": [*range(first, first + ROWS)], **found})

    def append(self, rows: dict[str, list[Any]]) -> None:
        """Append rows with values in some columns; all other columns are NULL."""
        arrow = arrow_schema(TableSchema(fields=self.fields(*rows)))
        self.table.append(pa.table([pa.array(rows[f.name], f.type) for f in arrow], arrow))
        count = len(rows["k"])
        for name, known in self.rows.items():
            known += rows.get(name, [None] * count)

    def fields(self, *names: str) -> tuple[SchemaField, ...]:
        """The columns of these names."""
        return tuple(self.schema.field(name) for name in names)

    @property
    def others(self) -> tuple[SchemaField, ...]:
        """All columns but `k`."""
        return tuple(field for field in self.schema.fields if field.name != "k")

    def alter(self, *changes: Any) -> None:
        """Change the columns in one epoch, and take the schema that the table then has."""
        self.table.alter(*changes)
        self.schema = self.table._state.schema
        self.rows = {name: self.rows.get(name, []) for name in self.schema.names}

    def expected(self) -> pa.Table:
        """The rows that the table must have, in the order of `k`."""
        arrow = arrow_schema(self.schema)
        arrays = [pa.array(self.rows[f.name], f.type) for f in arrow]
        return pa.Table.from_arrays(arrays, schema=arrow)
