"""The picker's plans alone decide what a round does."""

from __future__ import annotations

from colonnade.maintain.plan import (
    CHECKPOINT_TAIL,
    Distance,
    Planned,
    checkpoint_due,
    distance,
    most_first,
)
from colonnade.manifests.compaction.plan import CompactionGroup, CompactionPlan
from colonnade.manifests.compaction.policy import CompactionPolicy


def plan_of(name: str, *sizes: int, waiting: tuple[int, ...] = ()) -> CompactionPlan:
    def group(size: int) -> CompactionGroup:
        return CompactionGroup(
            kind="copy",
            reason="small",
            rowsets=(0, 1),
            rows=2,
            deleted_rows=0,
            bytes_in=size,
            bytes_out=size,
        )

    return CompactionPlan(
        table="0" * 16,
        name=name,
        epoch=7,
        rowset_count=9,
        policy=CompactionPolicy(),
        groups=tuple(map(group, sizes)),
        waiting=tuple(map(group, waiting)),
    )


def test_the_table_with_most_to_read_comes_first_and_those_in_order_not_at_all() -> None:
    plans = [plan_of("small", 1), plan_of("idle"), plan_of("b", 5, 5), plan_of("a", 10)]
    for order in (plans, plans[::-1]):
        chosen = most_first(map(Planned, order))
        assert [each.plan.name for each in chosen] == ["a", "b", "small"]


def test_a_checkpoint_is_due_after_a_tail_of_epochs() -> None:
    assert not checkpoint_due(100, 100)
    assert not checkpoint_due(100 + CHECKPOINT_TAIL - 1, 100)
    assert checkpoint_due(100 + CHECKPOINT_TAIL, 100)
    assert not checkpoint_due(CHECKPOINT_TAIL - 1, None)
    assert checkpoint_due(CHECKPOINT_TAIL, None)


def test_groups_that_wait_for_a_later_run_are_part_of_the_distance() -> None:
    assert distance(plan_of("t")) == Distance(0, 0)
    assert distance(plan_of("t", 3, waiting=(4, 5))) == Distance(3, 12)
