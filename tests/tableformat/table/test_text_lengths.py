"""No write without Spark stores text that is too long for its char or varchar, wherever it is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import colonnade
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.schema import (
    ArrayType,
    DataType,
    MapType,
    SchemaField,
    StructType,
    TableSchema,
)
from colonnade.tableformat.table.table import ArrowTable
from colonnade.tableformat.types.arrow_types import arrow_type


def field(name: str, data_type: DataType, nullable: bool = True) -> SchemaField:
    return SchemaField(name=name, type=data_type, nullable=nullable)


INNER = StructType(fields=(field("v", "varchar(3)"), field("n", "int")))
COLUMNS: dict[str, tuple[DataType, str, Callable[[str], Any]]] = {
    "v": ("varchar(3)", "v", lambda text: text),
    "c": ("char(3)", "c", lambda text: text),
    "s": (INNER, "s.v", lambda text: {"v": text, "n": 1}),
    "l": (
        ArrayType(element=field("element", "varchar(3)")),
        "l.element",
        lambda text: ["a", None, text],
    ),
    "k": (
        MapType(key=field("key", "char(3)", nullable=False), value=field("value", "int")),
        "k.key",
        lambda text: [(text, 1)],
    ),
    "m": (
        MapType(key=field("key", "int", nullable=False), value=field("value", INNER)),
        "m.value.v",
        lambda text: [(1, {"v": "ok", "n": 1}), (2, {"v": text, "n": 1})],
    ),
    "d": (
        ArrayType(element=field("element", INNER)),
        "d.element.v",
        lambda text: [None, {"v": text, "n": None}],
    ),
}
"""A type, the path of the text in it, and a value with a text at this path, by column."""


def row(id_: int, name: str, text: str) -> pa.Table:
    """Return a row with a value in one column. Its Arrow types state no lengths."""
    kind, _, value = COLUMNS[name]
    plain = arrow_type(field(name, kind))
    return pa.table({"id": pa.array([id_], pa.int64()), name: pa.array([value(text)], plain)})


def new(name: str, text: str) -> Callable[[ArrowTable], object]:
    """Add a column of the same type, with a value for all rows."""
    kind, _, value = COLUMNS[name]
    array = pa.array([value(text)], arrow_type(field(name, kind)))
    return lambda table: table.add_column(
        "new", kind, lambda batch: array.take([0] * len(batch)), columns=["id"]
    )


def filled(name: str, text: str) -> Callable[[ArrowTable], object]:
    kind, _, value = COLUMNS[name]
    array = pa.array([value(text)], arrow_type(field(name, kind)))
    return lambda table: table.backfill(
        name, lambda batch: array.take([0] * len(batch)), columns=["id"]
    )


def evolved(name: str, text: str) -> Callable[[ArrowTable], object]:
    more = row(3, name, text).append_column("more", pa.array([1], pa.int32()))
    return lambda table: table.append(more, evolve=True)


def upserted(id_: int, name: str, text: str) -> Callable[[ArrowTable], object]:
    given = row(id_, name, text)
    for other, (kind, _, _) in COLUMNS.items():
        if other != name:
            given = given.append_column(other, pa.nulls(1, arrow_type(field(other, kind))))
    return lambda table: table.upsert(given, "id")


def updated(name: str, text: str) -> Callable[[ArrowTable], object]:
    value = COLUMNS[name][2](text)
    sql = f"'{value}'" if isinstance(value, str) else value
    return lambda table: table.update({name: sql}, "id = 1")


Road = Callable[[str, str], Callable[[ArrowTable], object]]
ROADS: dict[str, Road] = {
    "append": lambda name, text: lambda table: table.append(row(3, name, text)),
    "append and evolve": evolved,
    "overwrite": lambda name, text: lambda table: table.overwrite(row(3, name, text)),
    "overwrite some": lambda name, text: (
        lambda table: table.overwrite(row(2, name, text), "id = 2")
    ),
    "update": updated,
    "upsert a known row": lambda name, text: upserted(1, name, text),
    "upsert a new row": lambda name, text: upserted(3, name, text),
    "add a column": new,
    "backfill": filled,
}


@pytest.fixture
def table(tmp_path: Path) -> ArrowTable:
    columns = (field(name, kind) for name, (kind, _, _) in COLUMNS.items())
    made = colonnade.create(tmp_path / "t", TableSchema(fields=(field("id", "long"), *columns)))
    made.append(pa.table({"id": [1, 2]}))
    return made


@pytest.mark.parametrize("road", ROADS)
@pytest.mark.parametrize("name", COLUMNS)
def test_text_that_is_too_long_is_refused_by_its_path_and_other_text_lands(
    table: ArrowTable, road: str, name: str
) -> None:
    before = table.epoch
    path = COLUMNS[name][1] if road != "add a column" else COLUMNS[name][1].replace(name, "new", 1)
    said = rf"Column '{path}' is (var)?char\(3\), but the data has a value of 4 characters"
    with pytest.raises(InvalidInputError, match=said):
        ROADS[road](name, "four")(table)
    table.refresh()
    assert len(table.scan().to_arrow()) == 2
    if road != "append and evolve":  # whose columns are an epoch of their own
        assert table.epoch == before
    ROADS[road](name, "äöü")(table)
    table.refresh()
    assert "äöü" in str(table.scan().to_arrow().to_pylist())
    if name == "d":
        assert table.verify(4).is_sound
