"""A table that grows by the rows that are appended to it, beside a plain model of every epoch."""

from __future__ import annotations

import random
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa

import colonnade
from colonnade.manifests.model.schema import SchemaField
from colonnade.tableformat.table.table import ArrowTable
from colonnade.tableformat.types.arrow_types import arrow_schema, arrow_type
from tests.widened import model_of

STEPS = {
    "byte": ("short", "int", "long"),
    "short": ("int", "double"),
    "int": ("long", "double", "decimal(12,2)"),
    "float": ("double",),
    "decimal(5,2)": ("decimal(9,2)", "decimal(7,4)"),
    "decimal(9,2)": ("decimal(20,2)",),
}
"""Types that rows bring after a type."""

FLAT = (*STEPS, "long", "double", "string", "boolean", "date")
NESTED: dict[str, pa.DataType] = {
    "list": pa.list_(pa.int16()),
    "struct": pa.struct([("a", pa.int8()), ("b", pa.list_(pa.string()))]),
    "map": pa.map_(pa.string(), pa.float32()),
    "records": pa.list_(pa.struct([("a", pa.float32())])),
    "wide list": pa.list_(pa.int64()),
    "wide struct": pa.struct([("a", pa.int32()), ("b", pa.list_(pa.string())), ("c", pa.int8())]),
    "wide map": pa.map_(pa.string(), pa.float64()),
    "wide records": pa.list_(pa.struct([("a", pa.float64()), ("c", pa.string())])),
}
NARROW = tuple(kind for kind in NESTED if not kind.startswith("wide "))


class Growing:
    """Appends random batches with `evolve`; `epochs` has the rows of each epoch by their key."""

    def __init__(self, path: Path, seed: int) -> None:
        self.rng = random.Random(seed)
        self.table = colonnade.create(path, pa.schema({"k": pa.int64()}))
        self.other = ArrowTable.open(path)
        self.types: dict[str, str] = {}
        self.rows: list[dict[str, Any]] = []
        self.epochs: dict[int, pa.Table] = {}

    def step(self) -> None:
        """Append one batch by one of two handles. Each handle may have an old state."""
        rng = self.rng
        chosen = [name for name in self.types if rng.random() < 0.6]
        given = {name: self._brings(self.types[name]) for name in chosen}
        for _ in range(rng.choice((0, 0, 1, 2))):
            kind = rng.choice((*FLAT, *NARROW))
            given[f"c{len(self.types) + len(given)}_{rng.randrange(10**6)}"] = kind
        rows = [
            {"k": len(self.rows) + n, **{name: self._value(kind) for name, kind in given.items()}}
            for n in range(rng.choice((1, 4, 30)))
        ]
        columns = [("k", "long"), *given.items()]
        rng.shuffle(columns)
        batch = pa.table({name: _array(rows, name, kind) for name, kind in columns})
        epoch = rng.choice((self.table, self.other)).append(batch, evolve=True)
        self.types.update({name: kind for name, kind in columns if name in given})
        self._land(epoch, rows)

    def _brings(self, kind: str) -> str:
        """The type that rows bring for a column of a type: the same one or a wider one."""
        wider = (f"wide {kind}",) if kind in NARROW else STEPS.get(kind, ())
        return self.rng.choice((kind, kind, *wider))

    def _land(self, epoch: int, rows: list[dict[str, Any]]) -> None:
        self.rows += rows
        # The order of new columns is that of the batch.
        state = ArrowTable.open(self.table.path)._state
        names = [name for name in state.schema.names if name != "k"]
        assert sorted(names) == sorted(self.types)
        arrays = {"k": pa.array([row["k"] for row in self.rows], pa.int64())}
        arrays |= {name: _array(self.rows, name, self.types[name]) for name in names}
        expected = pa.table(arrays)
        if any(kind in NESTED for kind in self.types.values()):
            expected = pa.Table.from_arrays(expected.columns, schema=arrow_schema(state.schema))
        self.epochs[epoch] = expected

    def _value(self, kind: str) -> Any:
        rng, small = self.rng, self.rng.randrange(-99, 100)
        if rng.random() < 0.2:
            return None
        match kind.removeprefix("wide "):
            case "string":
                return f"s{small}"
            case "boolean":
                return small > 0
            case "date":
                return small
            case "list":
                return [rng.choice((None, small)) for _ in range(rng.randrange(3))]
            case "struct":
                more = {"c": small} if kind.startswith("wide ") else {}
                return {"a": small, "b": rng.choice((None, ["x", None])), **more}
            case "records":
                text = {"c": f"s{small}"} if kind.startswith("wide ") else {}
                return [{"a": small / 4, **text}, None]
            case "map":
                return [(f"k{n}", small / 4) for n in range(rng.randrange(3))]
        if kind.startswith("decimal"):
            return Decimal(small) / 4
        return small / 4 if kind in ("float", "double") else small


def _array(rows: list[dict[str, Any]], name: str, kind: str) -> pa.Array:
    values = [row.get(name) for row in rows]
    if kind in NESTED:
        return pa.array(values, NESTED[kind])
    wanted = arrow_type(SchemaField(name=name, type=kind))
    if kind.startswith("decimal") or kind == "double":
        values = [None if each is None else model_of(each, kind) for each in values]
    return pa.array(values, wanted)
