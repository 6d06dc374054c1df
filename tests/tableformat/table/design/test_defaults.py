"""A column with a default: what rows have in it that were written before it, and without it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import colonnade
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.limits import Limits
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.schema import ColumnDefault
from colonnade.manifests.state.view import View
from colonnade.tableformat.predicate import bind, parse_predicate, prune
from colonnade.tableformat.predicate.literals import Kind, Literal
from colonnade.tableformat.rowset.reader import RowSetReader
from colonnade.tableformat.table.alteration import (
    DropColumn,
    DropDefault,
    DropNotNull,
    RenameColumn,
    SetDefault,
    WidenColumn,
)
from colonnade.tableformat.table.design.defaults import SqlDefault
from colonnade.tableformat.table.table import ArrowTable
from tests.default_values import TYPES, add_column, first, older_rowsets, values
from tests.strategies import identical


def column(table: ArrowTable, **scan: Any) -> list[Any]:
    """The column `c` in the order of `k`."""
    table.refresh()
    return list(table.scan(**scan).to_arrow().sort_by("k")["c"].to_pylist())


@pytest.mark.parametrize("name", TYPES)
def test_rows_from_before_have_the_default_at_once_and_for_ever(tmp_path: Path, name: str) -> None:
    for number, (stated, array) in enumerate(values(name, 3)):
        table = older_rowsets(tmp_path / str(number), rows=2)
        add_column(table, name, stated, nullable=False)
        wanted = pa.concat_arrays([array] * 4)
        assert identical(table.scan(["c"]).to_arrow()["c"].combine_chunks(), wanted)
        assert table.scan(where="c IS NULL").to_arrow().num_rows == 0
        table.optimize().option("min-rowsets", 2).executeCompaction()
        table.alter(DropDefault(("c",)))
        assert identical(table.scan(["c"]).to_arrow()["c"].combine_chunks(), wanted)
        assert table.verify(4).is_sound


def test_an_epoch_before_the_column_does_not_have_it_and_a_restore_brings_it_back(
    tmp_path: Path,
) -> None:
    table = older_rowsets(tmp_path / "t")
    before = table.epoch
    after = add_column(table, "int", 5)
    assert table.scan(epoch=before).to_arrow().column_names == ["k"]
    table.alter(DropColumn(("c",)))
    assert table.scan(epoch=after).to_arrow()["c"].to_pylist() == [5] * 20
    table.append(pa.table({"k": [20]}))
    table.restore(epoch=after)
    assert column(table) == [5] * 20
    table.append(pa.table({"k": [20]}))
    assert column(table) == [5] * 21
    table.restore(epoch=before)
    add_column(table, "int", 6)
    assert column(table) == [6] * 20


def test_later_rows_take_the_current_default_and_earlier_ones_keep_the_first(
    tmp_path: Path,
) -> None:
    table = older_rowsets(tmp_path / "t", 1, 2)
    add_column(table, "int", 5)
    table.append(pa.table({"k": [2]}))
    table.alter(SetDefault(("C",), "7"))
    table.append(pa.table({"k": [3]}))
    table.alter(DropDefault(("c",)))
    table.append(pa.table({"k": [4]}))
    table.append(pa.table({"k": [5], "c": pa.array([9], pa.int32())}))
    assert column(table) == [5, 5, 5, 7, None, 9]
    table.alter(SetDefault(("c",), 8), RenameColumn(("c",), "d"))
    table.append(pa.table({"k": [6]}))
    assert table.scan(["d"]).to_arrow()["d"].to_pylist()[-1] == 8


def test_a_default_of_a_column_that_was_there_before_changes_no_earlier_row(tmp_path: Path) -> None:
    table = colonnade.create(tmp_path / "t", pa.schema({"k": pa.int64(), "c": pa.string()}))
    table.append(pa.table({"k": [1]}))
    table.alter(SetDefault(("c",), "'it''s'"))
    table.append(pa.table({"k": [2]}))
    assert column(table) == [None, "it's"]


STATEMENTS: dict[str, Callable[[ArrowTable], object]] = {
    "delete": lambda t: t.delete("c = 5 AND k < 5"),
    "update of the column": lambda t: t.update({"c": 6}, "c = 5 AND k < 5"),
    "update of another": lambda t: t.update({"k": 100}, "c = 5 AND k = 0"),
    "upsert": lambda t: t.upsert(
        pa.table({"k": pa.array([0, 50], pa.int64()), "c": pa.array([1, 2], pa.int32())}), on="k"
    ),
    "overwrite": lambda t: t.overwrite(
        pa.table({"k": [3], "c": pa.array([5], pa.int32())}), "c = 5 AND k < 5"
    ),
    "z-order": lambda t: t.optimize().executeZOrderBy("c", "k"),
    "partition": lambda t: (
        t.partition_by("c"),
        t.optimize().option("min-rowsets", 2).executeCompaction(),
    ),
    "widen": lambda t: t.alter(WidenColumn(("c",), "decimal(12,2)")),
}


@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("statement", STATEMENTS)
def test_statements_treat_the_value_as_if_it_had_been_written(
    tmp_path: Path, statement: str, in_place: bool
) -> None:
    limits = Limits(in_place_bytes=-(2**20) if in_place else 2**20)
    tables = [older_rowsets(tmp_path / "absent"), older_rowsets(tmp_path / "written", 0)]
    add_column(tables[0], "int", 5)
    add_column(tables[1], "int", 5)
    for start in (0, 10):
        five = pa.array([5] * 10, pa.int32())
        tables[1].append(pa.table({"k": range(start, start + 10), "c": five}))
    found = []
    for table in tables:
        table._open.log = Log(table._log.store, limits=limits, pause=lambda seconds: None)
        table.append(pa.table({"k": [20, 21], "c": pa.array([None, 4], pa.int32())}))
        STATEMENTS[statement](table)
        table.refresh()
        assert table.verify(4).is_sound
        rows = table.scan().to_arrow().sort_by("k")
        found.append(rows)
        for where in ("c = 5", "c > 4", "c IS NULL", "c IN (1, 6)", "c IS NOT NULL AND k > 8"):
            assert table.scan(where=where).to_arrow().num_rows == len(
                [1 for row in rows.to_pylist() if _met(row, where)]
            ), where
    assert found[0].equals(found[1])


def _met(row: dict[str, Any], where: str) -> bool:
    c = row["c"]
    return {
        "c = 5": c == 5,
        "c > 4": c is not None and c > 4,
        "c IS NULL": c is None,
        "c IN (1, 6)": c in (1, 6),
        "c IS NOT NULL AND k > 8": c is not None and row["k"] > 8,
    }[where]


def test_a_condition_that_the_value_does_not_meet_reads_no_block(tmp_path: Path) -> None:
    table = older_rowsets(tmp_path / "t")
    add_column(table, "string", "'here'")
    schema = table._state.schema
    [rowset, _] = table._log.rowsets.read(table._state)
    reader = RowSetReader(table._log.store, View.written(table._state.prefix), rowset)
    for text, ranges in (("here", ((0, 10),)), ("there", ())):
        may_match = partial(prune, bind(parse_predicate(f"c = '{text}'"), schema))
        assert reader.matching_ranges(schema.fields, [(0, 10)], may_match) == ranges


def test_rows_that_were_written_before_the_column_and_committed_after_it_have_its_initial_value(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, other = older_rowsets(tmp_path / "t", 1, 1), ArrowTable.open(tmp_path / "t")

    def meanwhile() -> None:
        add_column(other, "int", 5, nullable=False)
        other.alter(SetDefault(("c",), 7))

    first(meanwhile, monkeypatch)
    table.append(pa.table({"k": [1]}))
    assert column(table) == [5, 5]
    table.append(pa.table({"k": [2]}))
    assert column(table) == [5, 5, 7]


def test_rows_that_were_filled_before_a_new_default_keep_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, other = older_rowsets(tmp_path / "t", 0), ArrowTable.open(tmp_path / "t")
    add_column(table, "int", 5)
    other.refresh()
    first(lambda: other.alter(SetDefault(("c",), 7)), monkeypatch)
    table.append(pa.table({"k": [1]}))
    assert column(table) == [5]


def test_a_value_widens_with_its_column(tmp_path: Path) -> None:
    table = older_rowsets(tmp_path / "t", 1, 2)
    add_column(table, "int", 5)
    table.alter(WidenColumn(("c",), "decimal(12,2)"))
    table.append(pa.table({"k": [2]}))
    assert column(table) == [Decimal("5.00")] * 3
    assert column(table, where="c = 5") == [Decimal("5.00")] * 3
    table.alter(SetDefault(("c",), Decimal("0.25")), DropNotNull(("c",)))
    table.append(pa.table({"k": [3]}))
    assert column(table, where="c < 5") == [Decimal("0.25")]


@pytest.mark.parametrize(
    ("name", "stated", "wider", "sql"),
    [
        ("char(4)", "'ab'", "string", "'ab  '"),
        ("varchar(2)", "'ab   '", "varchar(9)", "'ab'"),
        ("float", "0.1", "double", "CAST('0.10000000149011612' AS FLOAT)"),
        ("float", "0.1F", "double", "0.1F"),
        ("decimal(9,2)", "1.5", "decimal(12,4)", "1.5"),
    ],
)
def test_the_text_of_a_default_has_the_same_value_after_its_column_has_widened(
    tmp_path: Path, name: str, stated: str, wider: str, sql: str
) -> None:
    """Spark evaluates the text for each statement, and Python takes the stored value."""
    table = older_rowsets(tmp_path / "t", 1, 1)
    add_column(table, name, stated)
    table.alter(WidenColumn(("c",), wider))
    default = table._state.schema.field("c").default
    assert default is not None
    assert default.sql == sql


def test_a_default_that_spark_evaluates_anew_is_kept_as_text_and_fixed_for_earlier_rows(
    tmp_path: Path,
) -> None:
    table = older_rowsets(tmp_path / "t", 1, 1)
    add_column(table, "date", SqlDefault("current_date()", Literal(Kind.DATE, 20000)))
    [_, field] = table._state.schema.fields
    assert field.default == ColumnDefault(sql="current_date()")
    assert column(table) == [date(2024, 10, 4)]
    before = table.epoch
    with pytest.raises(InvalidInputError, match="'c' has the default 'current_date"):
        table.append(pa.table({"k": [1]}))
    assert table.refresh().epoch == before
    table.append(pa.table({"k": [1], "c": pa.array([None], pa.date32())}))
    assert column(table) == [date(2024, 10, 4), None]


def test_defaults_of_a_large_table_in_several_rowsets_are_read_beside_written_values(
    tmp_path: Path,
) -> None:
    table = older_rowsets(tmp_path / "t", 3, 25_000)
    add_column(table, "string", "'initial'")
    written = [None if k % 3 else f"v{k % 50}" for k in range(30_000)]
    table.append(pa.table({"k": range(75_000, 105_000), "c": written}))
    table.delete("k >= 74990 AND k < 75010")
    table.refresh()
    rows = table.scan().to_arrow()
    counts = pc.value_counts(rows["c"].fill_null("NULL")).to_pylist()
    found = {each["values"]: each["counts"] for each in counts}
    assert found["initial"] == 74_990
    assert rows.num_rows == 104_980
    assert table.scan(["k"], "c = 'initial' AND k > 74000").to_arrow().num_rows == 989
