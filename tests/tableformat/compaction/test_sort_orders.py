"""Compaction brings RowSets of an earlier sort key over, once each, beside any other change."""

from __future__ import annotations

import random

import pytest

from colonnade import SetSortKey
from colonnade.manifests.errors import ConflictError
from colonnade.tableformat.compaction.commit import commit_job
from colonnade.tableformat.compaction.job import plan_job
from colonnade.tableformat.compaction.run import run_job
from colonnade.tableformat.table.table import ArrowTable
from tests.tableformat.table.alteration.test_sort_key import (
    compact,
    content,
    in_memory,
    is_sound,
    orders,
    some,
)


def made(sort_key: tuple[str, ...], *then: tuple[str, ...]) -> ArrowTable:
    order = random.Random(1)
    table = in_memory(sort_key)
    for key in (*then, None):
        table.append(some(order, 50))
        if key is not None:
            table.alter(SetSortKey(key))
    return table


def test_each_rowset_of_an_earlier_key_is_rewritten_once() -> None:
    table = made(("a",), ("b", "a"))
    plan = table.optimize().plan()
    [group] = plan.groups
    assert (group.kind, group.rowsets, group.sort_order_id) == ("sort", (0,), 1)
    assert group.reason == "1 RowSets of an earlier sort key"
    compact(table)
    assert orders(table) == [1, 1]
    assert table.optimize().plan().groups == ()


def test_rows_that_follow_the_key_already_are_left_alone() -> None:
    table = made(("a", "b"), ("a",), ("b",), ())
    assert table.optimize().plan().groups == ()
    table.alter(SetSortKey(("a",)))
    assert [group.rowsets for group in table.optimize().plan().groups] == [(2, 3)]


def test_a_compaction_that_was_planned_before_the_key_keeps_its_order() -> None:
    table = made(("a",), ("a", "b"), ("a",))
    log, before = table._log, content(table)
    base, plan = table._refresh(), table.optimize().option("min-rowsets", 2).plan()
    [group] = plan.groups
    assert group.kind == "merge"
    job = plan_job(log, base, plan, group)
    outcome = run_job(job, log.store)
    table.alter(SetSortKey(("x",)))
    commit_job(log, base, job, outcome)
    table.refresh()
    assert orders(table) == [0]
    assert is_sound(table)
    compact(table)
    assert orders(table) == [2]
    assert content(table) == before
    assert is_sound(table)


@pytest.mark.parametrize(
    ("first", "then", "kind"),
    [
        (("a",), ("x",), "sort"),
        (("a",), (), "rewrite"),
        ((), ("x",), "sort"),
        (("a", "b"), ("a",), "merge"),
    ],
)
def test_a_group_is_what_the_key_makes_of_it_when_its_turn_comes(
    first: tuple[str, ...], then: tuple[str, ...], kind: str
) -> None:
    table = made(first, first, first)
    before = content(table)
    [group] = (plan := table.optimize().option("min-rowsets", 2).plan()).groups
    table.alter(SetSortKey(then))
    job = plan_job(table._log, table._refresh(), plan, group)
    assert job.group.kind == kind
    commit_job(table._log, table._refresh(), job, run_job(job, table._log.store))
    table.refresh()
    assert set(orders(table)) == {table._state.sort_order_id}
    assert content(table) == before
    assert is_sound(table)


def test_a_z_order_that_meets_a_new_key_is_given_up() -> None:
    table = made((), ())
    optimize = table.optimize()
    plan = optimize.option("min-rowsets", 2).plan()
    [group] = plan.groups
    table.alter(SetSortKey(("a",)))
    with pytest.raises(ConflictError, match="plan the compaction again"):
        plan_job(table._log, table._refresh(), plan, group, order_by=(1, 2))


@pytest.mark.parametrize("layout", [(), ("b",)])
def test_rows_that_are_deleted_while_they_are_sorted_stay_deleted(layout: tuple[str, ...]) -> None:
    table = in_memory(("a",), layout)
    table.append(some(random.Random(2), 200))
    table.alter(SetSortKey(("x desc", "d")))
    log, base = table._log, table._refresh()
    plan = table.optimize().plan()
    assert {group.kind for group in plan.groups} == {"sort"}
    jobs = [plan_job(log, base, plan, group) for group in plan.groups]
    outcomes = [run_job(job, log.store) for job in jobs]
    table.delete("a = 2 OR d IS NULL")
    left = content(table)
    for job, outcome in zip(jobs, outcomes, strict=True):
        commit_job(log, base, job, outcome)
    table.refresh()
    assert content(table) == left
    assert set(orders(table)) == {1}
    assert is_sound(table)
