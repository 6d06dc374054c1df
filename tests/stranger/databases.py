"""Random databases on disk, with all types and many kinds of statements, made by the product.

`python -m tests.stranger.databases SEED FOLDER` makes one.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa

import colonnade
from colonnade.manifests.errors import ColonnadeError
from colonnade.manifests.model.schema import (
    ArrayType,
    DataType,
    MapType,
    SchemaField,
    StructType,
    TableSchema,
    assign_ids,
)
from colonnade.tableformat.types.arrow_types import arrow_schema
from tests.strategies import PRIMITIVES, make_batch

KEY = SchemaField(id=1, name="k", type="long", nullable=False)
WIDER = {
    "byte": "long",
    "short": "int",
    "int": "long",
    "float": "double",
    "decimal(9,2)": "decimal(20,4)",
}
MOST_STATEMENTS = 14


def make_database(folder: Path, seed: int) -> colonnade.ArrowDatabase:
    """Make a database with two tables and a random history."""
    rng = random.Random(seed)
    db = colonnade.create_database(folder)
    keyed = rng.random() < 0.5
    _Table(db, "keyed" if keyed else "plain", rng, keyed=keyed).live()
    if rng.random() < 0.5:
        _Table(db, "other", rng, keyed=not keyed).live()
    db = db.refresh()
    if rng.random() < 0.3:
        db.tag("a tag", rng.randint(1, db.epoch))
    if rng.random() < 0.4:
        db.vacuum(0, force=True)
        for name in db.tables():
            db.table(name).delete("k IN (0, 5, 10)")
    return db.refresh()


def _type(rng: random.Random, depth: int) -> DataType:
    kind = rng.choice(("array", "map", "struct", *[""] * (3 + 4 * depth)))
    if kind == "array":
        return ArrayType(element=_field("element", rng, depth + 1))
    if kind == "map":
        key = SchemaField(id=1, name="key", type=rng.choice(("int", "string")), nullable=False)
        return MapType(key=key, value=_field("value", rng, depth + 1))
    if kind == "struct":
        count = rng.randint(1, 3)
        return StructType(fields=tuple(_field(f"f{at}", rng, depth + 1) for at in range(count)))
    return rng.choice(PRIMITIVES)


def _field(name: str, rng: random.Random, depth: int = 0) -> SchemaField:
    return SchemaField(id=1, name=name, type=_type(rng, depth), nullable=rng.random() < 0.8)


class _Table:
    """A table with a key column `k` and random other columns."""

    def __init__(
        self, db: colonnade.ArrowDatabase, name: str, rng: random.Random, *, keyed: bool
    ) -> None:
        self._rng, self._next, self._name = rng, 0, name
        narrow = SchemaField(id=1, name="narrow", type=rng.choice([*WIDER]))
        other = [_field(f"c{at}", rng) for at in range(rng.randint(1, 5))]
        self._narrow = str(narrow.type)
        schema, _ = assign_ids(TableSchema(fields=(KEY, narrow, *other)), 1)
        given: dict[str, Any] = {"primary_key": ["k"]} if keyed else {}
        if rng.random() < 0.5:
            given["sort_key"] = ["k"]
        if rng.random() < 0.3:
            given["partition_by"] = ["bucket(3, k)"]
        self.keyed = keyed
        self.table = db.create_table(name, arrow_schema(schema), **given)
        self._added = 0
        self.refused: list[str] = []

    def live(self) -> None:
        statements = [
            *(self._append, self._append, self._delete, self._update, self._upsert, self._widen),
            *(self._delete_range, self._optimize, self._add, self._drop, self._rename),
            *(self._overwrite, self._restore),
        ]
        self._append()
        for _ in range(self._rng.randint(3, MOST_STATEMENTS)):
            try:
                self._rng.choice(statements)()
            except ColonnadeError as error:
                # A random statement may be one that the table refuses, such as another dropped key.
                self.refused.append(error.message)

    def _rows(self, keys: range) -> pa.Table:
        schema = self.table._state.schema
        batch = make_batch(schema, len(keys), self._rng.randrange(2**32))
        columns = [pa.array(keys, pa.int64()), *batch.columns[1:]]
        return pa.Table.from_batches([pa.RecordBatch.from_arrays(columns, schema=batch.schema)])

    def _append(self) -> None:
        count = self._rng.choice((1, 7, 60, 3_000))
        first, self._next = self._next, self._next + count
        self.table.append(self._rows(range(first, first + count)))

    def _where(self) -> str:
        low = self._rng.randrange(-1, max(1, self._next))
        return self._rng.choice(
            (f"k = {low}", f"k >= {low} AND k < {low + 40}", f"k IN ({low}, {low + 3}, {low + 9})")
        )

    def _delete(self) -> None:
        self.table.delete(self._where())

    def _delete_range(self) -> None:
        low = self._rng.randrange(max(1, self._next))
        self.table.delete_range(f"k >= {low} AND k < {low + self._rng.choice((1, 30))}")

    def _update(self) -> None:
        self.table.update({"narrow": "NULL"}, where=self._where())

    def _upsert(self) -> None:
        low = self._rng.randrange(max(1, self._next))
        self.table.upsert(self._rows(range(low, low + 20)), on="k")
        self._next = max(self._next, low + 20)

    def _overwrite(self) -> None:
        if self._rng.random() < 0.3:
            self.table.overwrite(self._rows(range(25)))

    def _optimize(self) -> None:
        self.table.optimize()

    def _widen(self) -> None:
        self.table.alter(colonnade.WidenColumn("narrow", WIDER[self._narrow]))

    def _add(self) -> None:
        self._added += 1
        self.table.add_column(f"added{self._added}", pa.int32(), self._rng.choice((None, 7)))

    def _drop(self) -> None:
        self.table.drop_column(self._rng.choice(self.table.columns[1:]))

    def _rename(self) -> None:
        name = self._rng.choice(self.table.columns[1:])
        self.table.rename_column(name, f"{name}_")

    def _restore(self) -> None:
        self.table.restore(self._rng.randint(1, self.table.epoch))


if __name__ == "__main__":
    make_database(Path(sys.argv[2]), int(sys.argv[1]))
