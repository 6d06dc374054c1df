"""Each step of an evolution after a RowSet of each encoding, with columns of every type.

A table has a RowSet for each form of values, and so for each encoding. A step changes all columns
at once, and says which rows the table then has.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

import colonnade
from colonnade import (
    AddColumn,
    ArrowTable,
    CommentColumn,
    DropColumn,
    DropNotNull,
    MoveColumn,
    RenameColumn,
    SchemaField,
    SetDefault,
    SetNotNull,
    SetPartitioning,
    SetSortKey,
    TableSchema,
    WidenColumn,
)
from colonnade.manifests.log.log import Log
from colonnade.tableformat.rowset.encodings import lengths
from colonnade.tableformat.types.arrow_types import arrow_schema
from tests.default_values import TYPES as WITH_DEFAULT
from tests.default_values import values
from tests.evolution.columns import WIDER
from tests.evolution.world import LIMITS
from tests.large_tables import NESTED
from tests.strategies import PRIMITIVES, random_value
from tests.widened import model_of

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
        self.table._log = Log(self.table._log.store, limits=LIMITS, pause=lambda seconds: None)
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
        self.schema = self.table.state.schema
        self.rows = {name: self.rows.get(name, []) for name in self.schema.names}

    def expected(self) -> pa.Table:
        """The rows that the table must have, in the order of `k`."""
        arrow = arrow_schema(self.schema)
        arrays = [pa.array(self.rows[f.name], f.type) for f in arrow]
        return pa.Table.from_arrays(arrays, schema=arrow)


def _add(before: Before) -> None:
    """Columns of every type between the existing ones, with a default where the type can have
    one."""
    count, changes = len(before.rows["k"]), []
    for field in before.others:
        new = SchemaField(name=f"new {field.name}", type=field.type)
        stated, before.rows[new.name] = None, [None] * count
        if field.type in WITH_DEFAULT:
            stated, array = next(values(str(field.type)))
            before.rows[new.name] = pa.concat_arrays([array] * count)
        changes.append(AddColumn(new, after=field.name, default=stated))
    before.alter(*changes)


def _drop(before: Before) -> None:
    before.alter(*(DropColumn((field.name,)) for field in before.others[::2]))


def _drop_and_add(before: Before) -> None:
    """Columns of the same names and types, which are NULL in rows from before."""
    fields = before.others
    before.table.alter(*(DropColumn((field.name,)) for field in fields))
    before.alter(*(AddColumn(SchemaField(name=f.name, type=f.type)) for f in fields))
    for field in fields:
        before.rows[field.name] = [None] * len(before.rows["k"])


def _rename(before: Before) -> None:
    """Each column gets the name of the next one."""
    names = [field.name for field in before.others]
    rows = {f"{name}!": before.rows[name] for name in names}
    before.rows |= rows
    before.alter(*(RenameColumn((name,), f"{name}!") for name in names))
    turned = [*names[1:], names[0]]
    before.rows |= {new: rows[f"{old}!"] for old, new in zip(names, turned, strict=True)}
    before.alter(*(RenameColumn((f"{old}!",), new) for old, new in zip(names, turned, strict=True)))


def _move(before: Before) -> None:
    before.alter(*(MoveColumn((field.name,), first=True) for field in before.others))


def _comment(before: Before) -> None:
    before.alter(*(CommentColumn((field.name,), f"it is {field.name}") for field in before.others))


def _set_default(before: Before) -> None:
    """Existing rows do not change, and a later RowSet has the defaults."""
    found = {f.name: next(values(str(f.type))) for f in before.others if f.type in WITH_DEFAULT}
    before.alter(*(SetDefault((name,), stated) for name, (stated, _) in found.items()))
    before.append({"k": [len(before.rows["k"])]})
    for name, (_, array) in found.items():
        known = pa.array(before.rows[name][:-1], array.type)
        before.rows[name] = pa.concat_arrays([known, array])


def _allow_null(before: Before) -> None:
    before.alter(*(DropNotNull((field.name,)) for field in before.others))
    before.append({"k": [len(before.rows["k"])]})


def _forbid_null(before: Before) -> None:
    before.table.delete(f"k >= {4 * ROWS}")
    before.rows = {name: known[: 4 * ROWS] for name, known in before.rows.items()}
    before.alter(*(SetNotNull((field.name,)) for field in before.others))


def _widen(before: Before) -> None:
    fields = [field for field in before.others if field.type in WIDER]
    wider = {field.name: WIDER[str(field.type)][-1] for field in fields}
    for name, new in wider.items():
        before.rows[name] = [None if v is None else model_of(v, new) for v in before.rows[name]]
    before.alter(*(WidenColumn((name,), new) for name, new in wider.items()))


def _replace(before: Before) -> None:
    """Each column is written again, with the values of other rows."""
    count = len(before.rows["k"])
    for field in before.others:
        known = before.rows[field.name]
        new = [known[(key * 7 + 3) % count] for key in range(count)]
        kind = arrow_schema(before.schema).field(field.name).type

        def of(batch: pa.RecordBatch, new: Any = new, kind: Any = kind) -> pa.Array:
            return pa.array([new[key] for key in batch["k"].to_pylist()], kind)

        before.table.backfill(field.name, of, columns=["k"])
        before.rows[field.name] = new


def _place(before: Before) -> None:
    """Rows are sorted and partitioned, by a compaction."""
    before.alter(SetSortKey(("k desc",)), SetPartitioning(("bucket(3, k)",)))


def _restore(before: Before) -> None:
    then = before.table.refresh().epoch
    before.table.alter(*(DropColumn((field.name,)) for field in before.others))
    before.table.restore(epoch=then)


def _evolve(before: Before) -> None:
    """A batch brings a column for each one that is there."""
    fields = tuple(
        SchemaField(name=f"{f.name}+", type=f.type) for f in before.others if f.type != "variant"
    )
    count = len(before.rows["k"])
    key = SchemaField(name="k", type="long", nullable=False)
    arrow = arrow_schema(TableSchema(fields=(key, *fields)))
    arrays = [pa.array([count]), *(pa.nulls(1, f.type) for f in [*arrow][1:])]
    before.table.append(pa.Table.from_arrays(arrays, schema=arrow), evolve=True)
    before.rows["k"].append(count)
    before.schema = before.table.state.schema
    before.rows = {
        name: [*before.rows.get(name, ()), *[None] * (count + 1)][: count + 1]
        for name in before.schema.names
    }


STEPS: dict[str, Callable[[Before], None]] = {
    "add columns": _add,
    "drop columns": _drop,
    "drop and add again": _drop_and_add,
    "exchange names": _rename,
    "move columns": _move,
    "comment on columns": _comment,
    "set defaults": _set_default,
    "allow NULL": _allow_null,
    "forbid NULL": _forbid_null,
    "widen": _widen,
    "replace columns": _replace,
    "sort and partition": _place,
    "restore": _restore,
    "evolve": _evolve,
}
"""What changes columns, by name."""


def after(path: Path, step: str, types: Sequence[str] = PRIMITIVES) -> tuple[ArrowTable, pa.Table]:
    """Return a table after a step, and the rows that it must have, in the order of `k`."""
    before = Before(path, types, nulls=step != "allow NULL")
    STEPS[step](before)
    return ArrowTable.open(path), before.expected()
