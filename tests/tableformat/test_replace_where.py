"""A predicate may replace whole RowSets, and only those that it selects for certain."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import colonnade
from manifests.errors import InvalidInputError
from manifests.log import Log
from manifests.snapshot import LiveRowSet
from tableformat.location import locate_existing
from tableformat.predicate import Predicate, parse_predicate
from tableformat.replace_where import plan_replacement
from tableformat.table import ArrowTable

SCHEMA = pa.schema([pa.field("a", pa.int64()), pa.field("b", pa.string())])


def made(folder: Path, rowsets: list[list[tuple[int | None, str | None]]]) -> ArrowTable:
    table = colonnade.create(folder, SCHEMA)
    for rows in rowsets:
        columns = {"a": [row[0] for row in rows], "b": [row[1] for row in rows]}
        table.append(pa.table(columns, SCHEMA))
    return table


def live(table: ArrowTable) -> list[LiveRowSet]:
    return Log(locate_existing(table.path).store).read_rowsets(table.state)


def dropped(table: ArrowTable, where: str) -> list[int]:
    predicate: Predicate = parse_predicate(where)
    ranges = plan_replacement(table.state, live(table), predicate)
    return [rowset for first, last in ranges for rowset in range(first, last + 1)]


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("a < 10", [0]),
        ("a >= 10", [1, 2]),
        ("a BETWEEN 10 AND 19", [1]),
        ("a > 100", []),
        ("b = 'x' AND a < 10", [0]),
        ("a IN (7)", []),
    ],
)
def test_whole_rowsets_are_told_by_their_bounds(
    tmp_path: Path, where: str, expected: list[int]
) -> None:
    table = made(
        tmp_path / "t", [[(1, "x"), (2, "x")], [(10, "y"), (12, "y")], [(20, None), (21, "z")]]
    )
    assert dropped(table, where) == expected


@pytest.mark.parametrize("where", ["a = 1", "a > 1", "b = 'x'", "b IS NULL", "a = 1 OR b = 'x'"])
def test_part_of_a_rowset_is_refused(tmp_path: Path, where: str) -> None:
    table = made(tmp_path / "t", [[(1, "x"), (2, None)]])
    with pytest.raises(InvalidInputError, match="of table 't' to overwrite cannot be told"):
        dropped(table, where)


VALUES = st.tuples(st.none() | st.integers(0, 4), st.none() | st.sampled_from("xy"))
PARTS = st.sampled_from(
    ["a = 1", "a < 3", "a >= 2", "a <> 2", "b = 'x'", "b <> 'y'", "a IS NULL", "b IS NOT NULL"]
)
WHERE = st.one_of(
    PARTS,
    st.builds("({} AND {})".format, PARTS, PARTS),
    st.builds("({} OR {})".format, PARTS, PARTS),
    st.builds("NOT ({} AND {})".format, PARTS, PARTS),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(VALUES, min_size=1, max_size=3), min_size=1, max_size=4), WHERE)
def test_what_is_replaced_is_exactly_what_the_predicate_selects(
    tmp_path_factory: pytest.TempPathFactory,
    rowsets: list[list[tuple[int | None, str | None]]],
    where: str,
) -> None:
    table = made(tmp_path_factory.mktemp("t") / "t", rowsets)
    try:
        gone = dropped(table, where)
    except InvalidInputError:
        return
    selected = sorted(map(str, table.scan(where=where).to_arrow().to_pylist()))
    expected = [{"a": a, "b": b} for each in gone for a, b in rowsets[each]]
    assert selected == sorted(map(str, expected))
