"""Compaction keeps partitions apart, and divides what has an earlier layout."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colonnade.manifests.log.log import Log
from colonnade.manifests.state.snapshot import LiveRowSet
from colonnade.manifests.state.view import View
from colonnade.tableformat.compaction.commit import commit_job
from colonnade.tableformat.compaction.job import plan_job
from colonnade.tableformat.compaction.run import run_job
from colonnade.tableformat.partition.divide import divide
from colonnade.tableformat.rowset.reader import RowSetReader
from colonnade.tableformat.table.table import ArrowTable
from colonnade.tableformat.types.storage_form import to_storage
from tests.tableformat.partition.tables import (
    LAYOUTS,
    content,
    in_memory,
    rows,
)

SOON = {"min-rowsets": 2, "deleted-share": 0}


def live(table: ArrowTable) -> list[LiveRowSet]:
    """Return the RowSets; each must hold only rows of its partition."""
    log = Log(table._log.store)
    state = log.reader.read_head().table("t")
    found = log.rowsets.read(state)
    for rowset in found:
        fields = state.partition_layout(rowset.entry.partition_layout_id)
        if not fields:
            continue
        reader = RowSetReader(log.store, View.written(state.prefix), rowset)
        for _, batch in reader.read(state.schema.fields):
            ids = [field.id for field in state.schema.fields]
            columns = dict(zip(ids, to_storage(batch, state.schema), strict=True))
            assert divide(fields, state.schema, columns)[1] == [rowset.entry.partition]
    return found


def compact(table: ArrowTable) -> None:
    optimize = table.optimize()
    for name, value in SOON.items():
        optimize = optimize.option(name, value)
    optimize.executeCompaction()


def test_a_plan_names_the_partition_of_each_group() -> None:
    order = random.Random(7)
    table = in_memory(("region",))
    regions = ["a", "line\n\x1b[2J"]
    for _ in range(2):
        new = rows(order, 2)
        place = new.schema.get_field_index("region")
        table.append(new.set_column(place, "region", pa.array(regions)))
    plan = table.optimize().option("min-rowsets", 2).plan()
    assert {group.partition_text for group in plan.groups} == {f"region={r}" for r in regions}
    _, _, header, *lines = str(plan).splitlines()
    assert header.split()[:2] == ["partition", "kind"]
    assert {line.split("  ")[0] for line in lines} == {"region=a", r"region=line\n\x1b[2J"}
    column = header.index("kind")
    assert {line[column:].split()[0] for line in lines} == {"rewrite"}


@pytest.mark.slow
@settings(max_examples=6, deadline=None)
@given(
    st.integers(0, 10**6),
    st.sampled_from((*LAYOUTS, ())),
    st.sampled_from((*LAYOUTS, ())),
    st.sampled_from(((), ("price", "id desc"))),
)
def test_a_compaction_keeps_the_rows_and_their_partitions(
    seed: int, first: tuple[str, ...], then: tuple[str, ...], sort_key: tuple[str, ...]
) -> None:
    order = random.Random(seed)
    table = in_memory(first, sort_key)
    for _ in range(3):
        table.append(rows(order, 20))
    table.delete("id = 2")
    table.partition_by(*then)
    table.append(rows(order, 20))
    before = content(table)
    compact(table)
    compact(table)
    assert content(table) == before
    live(table)


@pytest.mark.slow
@pytest.mark.parametrize("sort_key", [(), ("id",)])
def test_rows_deleted_beside_a_division_stay_deleted(sort_key: tuple[str, ...]) -> None:
    order = random.Random(5)
    table = in_memory((), sort_key)
    for _ in range(3):
        table.append(rows(order, 40))
    table.partition_by("truncate(3, id)", "region")
    log, base = table._log, table._refresh()
    plan = table.optimize().option("min-rowsets", 2).plan()
    (group,) = plan.groups
    assert group.kind == "repartition"
    job = plan_job(log, base, plan, group)
    outcome = run_job(job, log.store)
    table.delete("id = 4 OR region = 'b'")
    left = content(table)
    commit_job(log, base, job, outcome)
    table.refresh()
    assert content(table) == left
    assert {each.entry.partition_layout_id for each in live(table)} == {1}


def test_a_group_is_what_the_layout_makes_of_it_when_its_turn_comes() -> None:
    order = random.Random(6)
    table = in_memory(("region",))
    for _ in range(3):
        table.append(rows(order, 40))
    log, plan = table._log, table.optimize().option("min-rowsets", 2).plan()
    assert {group.kind for group in plan.groups} == {"rewrite"}
    table.partition_by("bucket(2, id)")
    kinds = {plan_job(log, table._refresh(), plan, group).group.kind for group in plan.groups}
    assert kinds == {"repartition"}
    divided = table.optimize().option("min-rowsets", 2).plan()
    table.partition_by("region")
    kinds = {plan_job(log, table._refresh(), divided, group).group.kind for group in divided.groups}
    assert kinds == {"rewrite"}


def test_a_z_order_stays_within_partitions() -> None:
    order = random.Random(7)
    table = in_memory(("region",))
    for _ in range(2):
        table.append(rows(order, 60))
    before = content(table)
    table.optimize().executeZOrderBy("id", "ts")
    assert content(table) == before
    assert len(live(table)) == len({each.entry.partition for each in live(table)})
