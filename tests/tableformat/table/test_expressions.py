"""Statements and scans compute what expressions say, in every place that takes SQL."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import colonnade
from colonnade import AddConstraint, InvalidInputError

COLUMNS = pa.schema({"id": pa.int64(), "v": pa.int32(), "p": pa.decimal128(9, 2), "s": pa.string()})


def rows_of(count: int) -> pa.Table:
    ids = list(range(count))
    prices = [Decimal(each).scaleb(-1) for each in ids]
    return pa.Table.from_pydict(
        {
            "id": ids,
            "v": [each % 5 for each in ids],
            "p": prices,
            "s": [f"N{each}" for each in ids],
        },
        COLUMNS,
    )


@pytest.fixture
def table(tmp_path: Path) -> Any:
    made = colonnade.create(tmp_path / "t", COLUMNS)
    made.append(rows_of(20))
    return made


def values(table: Any, column: str, where: Any = None) -> list[Any]:
    found: list[Any] = (
        table.scan(["id", column], where).to_arrow().sort_by("id")[column].to_pylist()
    )
    return found


def test_an_update_computes_values_in_the_rows_that_a_computed_condition_finds(table: Any) -> None:
    counts = table.update({"v": "v + 1", "s": "lower(s) || '!'"}, "upper(s) = 'N7' OR id % 10 = 3")
    assert counts.rows_updated == 3
    assert values(table, "s", "id IN (3, 7, 13)") == ["n3!", "n7!", "n13!"]
    assert values(table, "v", "id IN (3, 7, 13)") == [4, 3, 4]
    assert values(table, "v", "id IN (4, 8)") == [4, 3]


def test_replaced_columns_have_computed_values(tmp_path: Path) -> None:
    table = colonnade.create(tmp_path / "t", COLUMNS)
    table.append(rows_of(100_000))
    counts = table.update({"v": "v * 2 + 1"})
    assert counts.rowsets_in_place == 1
    assert set(values(table, "v")) == {1, 3, 5, 7, 9}


def test_a_computed_number_is_rounded_to_its_column_or_refused(table: Any) -> None:
    table.update({"p": "p * 1.15"}, "id = 5")
    assert values(table, "p", "id = 5") == [Decimal("0.58")]
    with pytest.raises(InvalidInputError, match="more digits"):
        table.update({"p": "p * 1e9"}, "id = 5")
    with pytest.raises(InvalidInputError, match="does not fit"):
        table.update({"v": "id * 1000000000"}, "id = 5")
    with pytest.raises(InvalidInputError, match="'v'"):
        table.update({"v": "lower(s)"})


def test_a_function_computes_values_of_the_rows_to_update(table: Any) -> None:
    seen = []

    def negative(batch: pa.RecordBatch) -> pa.Array:
        seen.extend(batch["id"].to_pylist())
        return pc.negate(batch["v"])

    table.update({"v": negative}, "id >= 17")
    assert values(table, "v", "id >= 16") == [1, -2, -3, -4]
    assert sorted(seen) == [17, 18, 19]
    with pytest.raises(InvalidInputError, match="returned 1 values for"):
        table.update({"v": lambda batch: pa.array([1])})


def test_a_column_is_added_and_filled_from_an_expression(table: Any) -> None:
    table.add_column("z", "bigint", "v * 2")
    assert values(table, "z") == [each % 5 * 2 for each in range(20)]
    table.backfill("z", "z + length(s)", "v = 0")
    assert values(table, "z", "id IN (0, 10)") == [2, 3]


def test_a_row_that_is_gone_or_excluded_raises_no_error(table: Any) -> None:
    with pytest.raises(InvalidInputError, match="divided by zero"):
        table.count("10 / v > 4")
    assert table.count("v <> 0 AND 10 / v > 4") == 8
    table.delete("v = 0 AND id < 20")
    assert table.count("10 / v > 4") == 8
    assert table.delete("10 / v > 4").rows_deleted == 8
    with pytest.raises(InvalidInputError, match="divided by zero"):
        table.update({"v": "v / (v - 4)"})


def test_an_expression_without_columns_skips_data_as_a_literal(tmp_path: Path) -> None:
    table = colonnade.create(tmp_path / "t", COLUMNS)
    for first in (0, 100):
        table.append(rows_of(5).set_column(0, "id", pa.array(range(first, first + 5))))
    assert len(table.scan(where="id >= 50 + 50").to_arrow()) == 5
    log = table.scan(where="id < 10 * 10 AND abs(id) >= 0")
    assert log.count() == 5


def test_parameters_are_taken_wherever_a_condition_is(table: Any) -> None:
    assert table.count(("s = ? OR id > ?", ["N3", 17])) == 3
    assert len(table.scan(where=("id < :most", {"most": 4})).to_arrow()) == 4
    assert table.update({"v": "9"}, ("s = :name", {"name": "N1"})).rows_updated == 1
    assert table.delete(("s LIKE 'N1%' AND id > ?", [15])).rows_deleted == 4
    table.overwrite(rows_of(1), ("id = ?", [0]))
    assert table.count(("id = ?", [0])) == 1


def test_constraints_and_generated_columns_compute(tmp_path: Path) -> None:
    table = colonnade.create(
        tmp_path / "t",
        pa.schema([*COLUMNS, pa.field("key", pa.string())]),
        generated={"key": "concat(lower(s), '/', v % 3)"},
        constraints={"short": "length(s) < 4"},
    )
    table.append(rows_of(3))
    assert values(table, "key") == ["n0/0", "n1/1", "n2/2"]
    table.update({"s": "concat(s, 'x')"}, "id = 1")
    assert values(table, "key", "id = 1") == ["n1x/1"]
    with pytest.raises(InvalidInputError, match="'short'"):
        table.update({"s": "concat(s, 'xyz')"}, "id = 1")
    table.alter(AddConstraint("whole", "100 / (v - 4) < 101"))
    with pytest.raises(InvalidInputError, match="'whole'.*cannot be computed.*divided by zero"):
        table.append(rows_of(5).slice(4))


def test_a_constraint_does_not_take_times_apart_in_an_unknown_zone(tmp_path: Path) -> None:
    columns = pa.schema({"at": pa.timestamp("us", "UTC"), "n": pa.timestamp("us")})
    table = colonnade.create(tmp_path / "t", columns)
    table.alter(AddConstraint("local", "hour(n) < 24"))
    with pytest.raises(InvalidInputError, match="time zone of the session"):
        table.alter(AddConstraint("zoned", "hour(at) < 24"))
