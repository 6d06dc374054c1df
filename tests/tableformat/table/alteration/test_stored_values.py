"""A change that demands something of existing values looks at them, whoever adds them, and when."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pyarrow as pa
import pytest

import colonnade
from colonnade.manifests.errors import ColonnadeError, ConflictError, InvalidInputError
from colonnade.manifests.model.columns.widening import LAST_DAY
from colonnade.manifests.model.schema import SchemaField
from colonnade.tableformat.predicate.literals import Kind, Literal
from colonnade.tableformat.table.alteration import AddColumn, SetPartitioning, WidenColumn
from colonnade.tableformat.table.design.defaults import SqlDefault
from colonnade.tableformat.table.table import ArrowTable
from tests.tableformat.table.alteration.test_fields import before_next_commit

INSIDE = {
    "d": pa.date32(),
    "s.d": pa.struct([("d", pa.date32())]),
    "l.element": pa.list_(pa.date32()),
    "m.value.d": pa.map_(pa.string(), pa.struct([("d", pa.date32())])),
}
"""Columns with a date at a path."""

FINE = (-LAST_DAY, LAST_DAY, 0, 20_000)
BEYOND = [-LAST_DAY - 1, LAST_DAY + 1, 2**31 - 1, -(2**31)]


def rows(path: str, *days: int | None) -> pa.Table:
    """A row with each day at a path; none of them is one that Python has."""
    dates = pa.array(days, pa.int32()).cast(pa.date32())
    column = path.partition(".")[0]
    array = dates
    if "d" in path.split(".")[1:]:
        array = pa.StructArray.from_arrays([dates], fields=[pa.field("d", pa.date32())])
    offsets = pa.array(range(len(days) + 1), pa.int32())
    if column == "l":
        array = pa.ListArray.from_arrays(offsets, dates)
    if column == "m":
        array = pa.MapArray.from_arrays(offsets, ["a"] * len(days), array)
    numbers = pa.array(range(len(days)), pa.int64())
    return pa.table({"k": numbers, column: array.cast(INSIDE[path])})


def made(folder: Path, path: str, *days: int | None) -> ArrowTable:
    table = colonnade.create(folder, rows(path).schema)
    table.append(rows(path, *days))
    return table


@pytest.mark.parametrize("path", INSIDE)
@pytest.mark.parametrize("day", BEYOND)
def test_a_date_that_no_timestamp_can_hold_keeps_a_column_a_date(
    tmp_path: Path, path: str, day: int
) -> None:
    table = made(tmp_path / "t", path, *FINE, None, day)
    change = WidenColumn(tuple(path.split(".")), "timestamp_ntz")
    said = f"Column '{path}' of table 't' cannot become timestamp_ntz, because an existing row"
    with pytest.raises(InvalidInputError, match=said):
        table.alter(change)
    assert table.refresh().epoch == 2
    table.delete(f"k = {len(FINE) + 1}")
    table.alter(change)
    table.append(rows(path, 1))
    found = table.scan().to_arrow()
    assert found.num_rows == len(FINE) + 2
    assert found.schema.field(1).type != INSIDE[path]
    assert table.verify(4).is_sound


def days_of(table: ArrowTable, where: str | None = None) -> list[int | None]:
    """The microseconds of `d`, as days."""
    micros = table.scan(["d"], where).to_arrow()["d"].cast(pa.int64()).to_pylist()
    assert all(each is None or each % 86_400_000_000 == 0 for each in micros)
    return [None if each is None else each // 86_400_000_000 for each in micros]


def test_dates_are_midnights_to_every_reader_and_in_every_partition(tmp_path: Path) -> None:
    table = colonnade.create(tmp_path / "t", rows("d").schema, sort_key=["d"])
    table.alter(SetPartitioning(("months(d)",)))
    table.append(rows("d", *FINE, None))
    table.alter(WidenColumn(("d",), "timestamp_ntz"))
    table.append(pa.table({"k": [9], "d": [dt.datetime(2024, 10, 4, 12)]}))
    assert set(days_of(table, "d <= TIMESTAMP_NTZ'2024-10-04 00:00:00'")) == {-LAST_DAY, 0, 20_000}
    assert days_of(table, "d = TIMESTAMP_NTZ'1970-01-01 00:00:00'") == [0]
    assert days_of(table, "d IS NULL") == [None]
    assert table.scan(["k"], "d > TIMESTAMP_NTZ'2024-10-04 11:00:00'").to_arrow().num_rows == 2
    assert table.verify(4).is_sound
    table.optimize().option("min-rowsets", 2).executeCompaction()
    assert table.verify(4).is_sound
    table.delete("d = TIMESTAMP_NTZ'2024-10-04 12:00:00'")
    table.delete("k = 1")
    assert sorted(d for d in days_of(table) if d is not None) == [-LAST_DAY, 0, 20_000]


@pytest.mark.parametrize(
    ("partition", "said"),
    [("d", "by identity of it"), ("bucket(4, d)", "by bucket of it")],
)
def test_a_date_whose_partitions_would_change_stays_a_date(
    tmp_path: Path, partition: str, said: str
) -> None:
    table = colonnade.create(tmp_path / "t", rows("d").schema, partition_by=[partition])
    with pytest.raises(InvalidInputError, match=f"{said}.*it has no wider type that keeps them"):
        table.alter(WidenColumn(("d",), "timestamp_ntz"))


def test_no_concurrent_writer_adds_a_date_that_no_timestamp_can_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, change = made(tmp_path / "t", "d", *FINE), WidenColumn(("d",), "timestamp_ntz")
    other = ArrowTable.open(tmp_path / "t")
    before_next_commit(lambda: other.append(rows("d", BEYOND[1])), monkeypatch)
    with pytest.raises(InvalidInputError, match="cannot become timestamp_ntz"):
        table.alter(change)
    table.refresh()
    table.delete("d > DATE'9999-12-31' AND k = 0")
    other.refresh()
    before_next_commit(lambda: other.append(rows("d", 5)), monkeypatch)
    table.alter(change)
    table.restore(epoch=table.epoch - 1)
    other.refresh()
    before_next_commit(lambda: other.alter(change), monkeypatch)
    with pytest.raises(ConflictError):
        table.append(rows("d", BEYOND[1]))
    table.refresh()
    with pytest.raises(ColonnadeError):
        table.append(rows("d", BEYOND[1]))
    table.append(rows("d", FINE[0]))
    table.update({"d": dt.datetime(2000, 1, 1)}, "k = 3")
    assert sorted(map(str, days_of(table))) == sorted(map(str, (*FINE[:3], FINE[0], 5, 10957)))
    assert table.verify(4).is_sound


def test_rows_that_are_written_never_make_a_date_a_timestamp_by_themselves(tmp_path: Path) -> None:
    table = made(tmp_path / "t", "d", *FINE)
    with pytest.raises(InvalidInputError, match="'d' is date"):
        table.append(pa.table({"k": [9], "d": [dt.datetime(2024, 10, 4, 12)]}), evolve=True)


def test_a_default_that_no_timestamp_can_hold_keeps_a_column_a_date(tmp_path: Path) -> None:
    table = made(tmp_path / "t", "d", *FINE)
    default = SqlDefault("DATE'+294248-01-01'", Literal(Kind.DATE, BEYOND[1]))
    table.alter(AddColumn(SchemaField(name="e", type="date"), default=default))
    with pytest.raises(InvalidInputError, match="'e' cannot be changed.* its default is, or was"):
        table.alter(WidenColumn(("e",), "timestamp_ntz"))
