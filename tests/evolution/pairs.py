"""Each step of an evolution after a RowSet of each encoding, with columns of every type.

A step changes all columns at once, and says which rows the table then has.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from colonnade import (
    AddColumn,
    AddConstraint,
    ArrowTable,
    CommentColumn,
    DropColumn,
    DropDefault,
    DropNotNull,
    MoveColumn,
    RenameColumn,
    ReplaceColumns,
    SchemaField,
    SetDefault,
    SetNotNull,
    SetPartitioning,
    SetSortKey,
    TableSchema,
    WidenColumn,
)
from colonnade.tableformat.types.arrow_types import arrow_schema
from tests.default_values import TYPES as WITH_DEFAULT
from tests.default_values import values
from tests.evolution import inside
from tests.evolution.before import ROWS, Before
from tests.strategies import PRIMITIVES
from tests.widened import model_of


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


def _add_not_null(before: Before) -> None:
    """NOT NULL columns of every type that can have a default. Earlier rows have their defaults."""
    count, changes = len(before.rows["k"]), []
    for field in before.others:
        if field.type in WITH_DEFAULT:
            stated, array = next(values(str(field.type)))
            new = SchemaField(name=f"new {field.name}", type=field.type, nullable=False)
            before.rows[new.name] = pa.concat_arrays([array] * count)
            changes.append(AddColumn(new, first=True, default=stated))
    before.alter(*changes)


def _give_types(before: Before) -> None:
    """Void columns become columns of every type. Rows from before are NULL in them."""
    fields = [(f"void {field.name}", field) for field in before.others]
    before.alter(*(AddColumn(SchemaField(name=name, type="void")) for name, _ in fields))
    before.rows |= {name: [None] * len(before.rows["k"]) for name, _ in fields}
    before.append({"k": [len(before.rows["k"])]})
    before.alter(*(WidenColumn((name,), field.type) for name, field in fields))


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


def _drop_default(before: Before) -> None:
    """Columns keep what earlier rows have of a default, and later rows are NULL."""
    found = [f for f in before.others if f.type in WITH_DEFAULT]
    _add(before)
    before.alter(*(DropDefault((f"new {field.name}",)) for field in found))
    known = {f"new {field.name}": before.rows[f"new {field.name}"] for field in found}
    before.rows |= {name: [] for name in known}
    before.append({"k": [len(before.rows["k"])]})
    before.rows |= {n: pa.concat_arrays([v, pa.nulls(1, v.type)]) for n, v in known.items()}


def _allow_null(before: Before) -> None:
    before.alter(*(DropNotNull((field.name,)) for field in before.others))
    before.append({"k": [len(before.rows["k"])]})


def _forbid_null(before: Before) -> None:
    before.table.delete(f"k >= {4 * ROWS}")
    before.rows = {name: known[: 4 * ROWS] for name, known in before.rows.items()}
    before.alter(*(SetNotNull((field.name,)) for field in before.others))


def _widen(before: Before) -> None:
    wider = {f.name: inside.WIDEST[str(f.type)] for f in before.others if f.type in inside.WIDEST}
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


def _replace_some(before: Before) -> None:
    """Each column is written again in the RowSets that have one of some rows."""
    some = range(ROWS // 2, 2 * ROWS)
    for field in before.others:
        known = before.rows[field.name]
        kind = arrow_schema(before.schema).field(field.name).type

        def of(batch: pa.RecordBatch, known: Any = known, kind: Any = kind) -> pa.Array:
            return pa.array([known[3 * ROWS - key] for key in batch["k"].to_pylist()], kind)

        met = f"k >= {some.start} AND k < {some.stop}"
        before.table.backfill(field.name, of, met, columns=["k"])
        new = [known[3 * ROWS - key] if key in some else each for key, each in enumerate(known)]
        before.rows[field.name] = new


def _compute(before: Before) -> None:
    """A computed column for each column, with its values in other rows."""
    count = len(before.rows["k"])
    for field in before.others:
        known = before.rows[field.name]
        kind = arrow_schema(before.schema).field(field.name).type

        def of(batch: pa.RecordBatch, known: Any = known, kind: Any = kind) -> pa.Array:
            return pa.array([known[count - 1 - key] for key in batch["k"].to_pylist()], kind)

        new = SchemaField(name=f"{field.name} computed", type=field.type)
        before.table.add_column(new.name, new.type, of, columns=["k"])
        before.rows[new.name] = known[::-1]
    before.schema = before.table._state.schema


def _list(before: Before) -> None:
    """A list keeps every second column in another order, and has a new one for each other."""
    key, *fields = before.schema.fields
    count = len(before.rows["k"])
    new = {f"{field.name}+": field for field in fields[1::2]}
    plain = (SchemaField(name=name, type=field.type) for name, field in new.items())
    before.rows |= {name: [None] * count for name in new}
    before.alter(ReplaceColumns((*plain, *fields[::2][::-1], key)))


def _constrain(before: Before) -> None:
    """Each column gets a constraint that all rows meet."""
    met = ((f.name, f"{f.name} IS NULL OR {f.name} IS NOT NULL") for f in before.others)
    before.alter(*(AddConstraint(f"known {name}", text) for name, text in met))
    before.append({"k": [len(before.rows["k"])]})


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
    before.schema = before.table._state.schema
    before.rows = {
        name: [*before.rows.get(name, ()), *[None] * (count + 1)][: count + 1]
        for name in before.schema.names
    }


STEPS: dict[str, Callable[[Before], None]] = {
    "add columns": _add,
    "add NOT NULL columns": _add_not_null,
    "drop columns": _drop,
    "drop and add again": _drop_and_add,
    "exchange names": _rename,
    "move columns": _move,
    "comment on columns": _comment,
    "set defaults": _set_default,
    "drop defaults": _drop_default,
    "allow NULL": _allow_null,
    "forbid NULL": _forbid_null,
    "widen": _widen,
    "give types": _give_types,
    "add fields": inside.add,
    "drop fields": inside.drop,
    "drop fields and add them again": inside.drop_and_add,
    "exchange names of fields": inside.rename,
    "move fields": inside.move,
    "widen fields": inside.widen,
    "constrain": _constrain,
    "replace columns": _replace,
    "replace columns of some RowSets": _replace_some,
    "compute columns": _compute,
    "list columns": _list,
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
