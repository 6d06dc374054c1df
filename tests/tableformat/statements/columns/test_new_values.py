"""An update in place and a backfill write the same columns, whatever rows are deleted or chosen."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colonnade import ArrowTable
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.limits import LIMITS
from colonnade.manifests.log.log import Log
from colonnade.tableformat.statements.columns.assignments import parse_assignments
from colonnade.tableformat.statements.columns.new_values import assigned
from tests.tableformat.statements.tables import made, rows

COUNT = 12
IDS = st.sets(st.integers(0, COUNT - 1))


def among(ids: set[int]) -> str:
    return f"id IN ({', '.join(map(str, ids))})"


def table_without(deleted: set[int], **more: str) -> ArrowTable:
    """A table of one RowSet in which an update always replaces columns."""
    made_table = made(constraints=more)
    log = Log(made_table._log.store, limits=replace(LIMITS, in_place_bytes=-(2**20)))
    table = ArrowTable(made_table._location, log, made_table._snapshot)
    table.append(rows(*range(COUNT)))
    if deleted:
        table.delete(among(deleted))
    return table


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(IDS, IDS.filter(bool) | st.none())
def test_an_update_and_a_backfill_give_the_same_rows(
    deleted: set[int], chosen: set[int] | None
) -> None:
    where = None if chosen is None else among(chosen)
    live = set(range(COUNT)) - deleted
    changed = live if chosen is None else live & chosen
    updated, filled = table_without(deleted), table_without(deleted)
    counts = updated.update({"flag": "price > 5"}, where)
    assert counts.rowsets_in_place == bool(changed)
    filled.backfill("flag", "price > 5", where)
    for table in (updated, filled):
        found = table.scan(["id", "flag", "text"]).to_arrow().to_pylist()
        assert {row["id"]: row["flag"] for row in found} == {
            number: number > 5 if number in changed else number % 2 == 0 for number in live
        }
        assert all(row["text"] == f"t{row['id']}" for row in found)
        assert table.verify(4).is_sound


def test_both_check_the_rules_that_read_the_column() -> None:
    table = table_without({0, 5}, small="price < 90")
    with pytest.raises(InvalidInputError, match="Constraint 'small'"):
        table.update({"price": 91}, "id = 3")
    with pytest.raises(InvalidInputError, match="Constraint 'small'"):
        table.backfill("price", 91, "id = 3")


def test_what_an_update_assigns_reads_the_columns_of_its_values_alone() -> None:
    schema = made()._state.schema
    values = assigned(parse_assignments({"flag": "price > 5", "text": "'x'"}, schema), schema)
    assert values.targets.names == ("text", "flag")
    assert [each.name for each in values.reads] == ["price"]
