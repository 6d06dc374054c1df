"""Lists and dicts of Python as tables: no column and no row of them is lost."""

from __future__ import annotations

from datetime import datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import colonnade
from colonnade.tableformat.types.input.python_rows import columns_table, rows_table

ROWS = st.lists(
    st.dictionaries(st.sampled_from("abc"), st.none() | st.integers(0, 9), min_size=1), max_size=9
)


@given(ROWS)
def test_every_value_of_every_row_is_in_the_table(rows: list[dict[str, int | None]]) -> None:
    table = rows_table(rows)
    names = {name for row in rows for name in row}
    assert set(table.column_names) == names
    assert table.to_pylist() == [
        {name: row.get(name) for name in table.column_names} for row in rows
    ]


def test_columns_that_were_named_before_come_first_and_are_never_missing() -> None:
    assert rows_table([{"b": 1}], names=["a"]).to_pylist() == [{"a": None, "b": 1}]


AMBIGUOUS = ["byte", "int", "float", "decimal(9,2)", "array<float>", "map<string, int>", "time(3)"]
VALUES: dict[str, Any] = {
    "array<float>": [1.5, -2.0],
    "map<string, int>": {"a": 1},
    "time(3)": time(12, 30),
}


@pytest.mark.parametrize("name", AMBIGUOUS)
def test_values_of_python_are_taken_by_columns_whose_type_they_do_not_tell(
    name: str, tmp_path: Path
) -> None:
    value = VALUES.get(name, 7)
    table = colonnade.create(tmp_path / "t", {"x": name}, data=[{"x": value}, {"x": None}])
    table.append({"x": [value]})
    found = [row["x"] for row in table.to_arrow().to_pylist(maps_as_pydicts="strict")]
    assert found == [value, None, value]


REFUSED: list[tuple[str, Any]] = [
    ("byte", 300),
    ("int", 1.5),
    ("int", "1"),
    ("float", 1e300),
    ("array<float>", [1e300]),
    ("decimal(9,2)", Decimal("1.005")),
    ("array<int>", 5),
    ("array<int>", "ab"),
    ("map<int, int>", 5),
    ("map<int, int>", [5]),
    ("map<int, int>", [(1, 2, 3)]),
    ("int", True),
    ("timestamp", datetime(2026, 1, 1)),
    ("map<int, timestamp>", {1: datetime(2026, 1, 1)}),
    ("struct<n: int, at: timestamp>", {"n": 1, "at": datetime(2026, 1, 1)}),
]


@pytest.mark.parametrize(("name", "value"), REFUSED, ids=str)
def test_a_value_that_its_column_would_change_is_refused(
    name: str, value: Any, tmp_path: Path
) -> None:
    table = colonnade.create(tmp_path / "t", {"x": name})
    with pytest.raises(colonnade.InvalidInputError, match="'x"):
        table.append([{"x": value}])
    assert table.refresh().epoch == 1


def test_a_dict_is_a_map_where_the_table_has_a_map_and_else_a_struct() -> None:
    values = {"m": [{"k": 1}]}
    assert pa.types.is_struct(columns_table(values).schema.field("m").type)
    known = pa.schema([("m", pa.map_(pa.string(), pa.int64()))])
    assert columns_table(values, known).schema.field("m").type == known.field("m").type
