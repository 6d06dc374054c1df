"""What the picker chooses: properties of every plan, then the cases one by one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.log.compaction_curve import curve, simulate
from colonnade.manifests.compaction.picker import plan_order
from colonnade.manifests.compaction.plan import CompactionPlan
from colonnade.manifests.limits import LIMITS
from tests.manifests.compaction.measured import MIB, POLICY, TABLE, facts, plan, replaced

rowsets = st.lists(
    st.tuples(
        st.integers(100, 300 * MIB),
        st.sampled_from([0.0, 0.0, 0.05, 0.2, 1.0]),
        st.tuples(st.integers(0, 50), st.integers(0, 50)).map(sorted),
    ),
    max_size=60,
)


@given(rowsets, st.booleans(), st.integers(2, 9))
def test_every_rowset_is_in_one_group_at_most_and_every_group_gains_something(
    found: list[tuple[int, float, list[int]]], is_sorted: bool, fan: int
) -> None:
    ranges = [(r[0], r[1]) for _, _, r in found] if is_sorted else None
    given_facts = facts([s for s, _, _ in found], [d for _, d, _ in found], ranges)
    policy = replaced(min_rowsets=fan, max_overlap=fan)
    made = plan(given_facts, policy)
    ids = [each for group in made.groups for each in group.rowsets]
    assert len(ids) == len(set(ids)) <= len(given_facts)
    assert set(ids) <= set(given_facts.ids.tolist())
    for group in made.groups:
        assert len(group.rowsets) > 1 or group.deleted_rows
        assert (group.kind == "copy") <= (group.deleted_rows == 0)
        assert group.bytes_out <= group.bytes_in
    assert made == plan(given_facts, policy), "the picker is no function"
    assert CompactionPlan.model_validate_json(made.model_dump_json()) == made
    assert str(made).count("\n") >= len(made.groups)


@given(rowsets, st.integers(2, 9))
def test_a_plan_leaves_fewer_small_rowsets_of_a_tier_than_the_policy_merges(
    found: list[tuple[int, float, list[int]]], fan: int
) -> None:
    policy = replaced(min_rowsets=fan)
    given_facts = facts([size for size, _, _ in found])
    taken = {each for group in plan(given_facts, policy).groups for each in group.rowsets}
    full = policy.target_bytes / 2
    tiers: dict[int, int] = {}
    for rowset, size in zip(given_facts.ids, given_facts.byte_counts, strict=True):
        if size < full and rowset not in taken:
            tier = next(t for t in range(1, 17) if t == 16 or size >= full / fan**t)
            tiers[tier] = tiers.get(tier, 0) + 1
    assert all(count < fan for count in tiers.values())


def test_small_rowsets_wait_until_their_tier_is_full_and_take_smaller_ones_along() -> None:
    assert not plan(facts([20_000] * 7 + [MIB * 4] * 7)).groups
    [group] = plan(facts([MIB * 4, 500] * 8 + [100 * MIB])).groups
    assert group.rowsets == tuple(range(1, 33, 2))
    assert group.kind == "copy"
    assert group.reason == "16 small RowSets, the largest of 4 MiB"
    assert plan(facts([20_000] * 8, rows=LIMITS.copied_rows - 1)).groups[0].kind == "rewrite"


def test_many_small_rowsets_become_several_of_the_target_size_in_order() -> None:
    made = plan(facts([10 * MIB] * 40))
    assert [len(group.rowsets) for group in made.groups] == [13, 13, 14]
    assert [each for group in made.groups for each in group.rowsets] == list(range(1, 81, 2))
    assert len(plan(facts([10] * 3000, rows=10)).groups[0].rowsets) == LIMITS.group_rowsets


def test_a_rowset_is_rewritten_once_too_many_of_its_rows_are_deleted() -> None:
    big = facts([200 * MIB] * 3, [0.1, 0.11, 0.5])
    first, second = plan(big).groups
    assert (first.rowsets, second.rowsets) == ((3,), (5,))
    assert first.reason == "11.0% of the rows are deleted (more than 10.0%)"
    assert len(plan(big, replaced(deleted_share=0)).groups) == 3


def test_sorted_rowsets_are_merged_where_too_many_may_hold_a_key() -> None:
    wide = [(0, 100)] * 9
    [group] = plan(facts([100 * MIB] * 12, ranges=[*wide, (100, 120), (101, 102), (50, 50)])).groups
    assert group.rowsets == (*range(1, 19, 2), 23)
    assert group.kind == "merge"
    apart = [(10 * i, 10 * i + 9) for i in range(12)]
    assert not plan(facts([100 * MIB] * 12, ranges=apart)).groups


@pytest.mark.parametrize(("step", "kind"), [(10, "copy"), (9, "merge")])
def test_small_sorted_rowsets_are_put_one_after_another_only_where_none_overlap(
    step: int, kind: str
) -> None:
    ranges = [(step * i, step * i + 9) for i in range(8)]
    [group] = plan(facts([MIB] * 8, ranges=ranges[::-1])).groups
    assert group.kind == kind
    assert group.rowsets == tuple(range(15, 0, -2)), "lowest keys first"


def test_a_budget_makes_groups_wait_but_never_all_of_them() -> None:
    found = facts([10 * MIB] * 40)
    made = plan(found, replaced(run_bytes=280 * MIB))
    assert (len(made.groups), len(made.waiting)) == (2, 1)
    assert "1 more groups (140 MiB) wait" in str(made)
    assert len(plan(found, replaced(run_bytes=1)).groups) == 1


def test_an_order_takes_every_rowset() -> None:
    made = plan_order(TABLE, 7, facts([600 * MIB] * 5), POLICY, "a, b")
    assert [group.rowsets for group in made.groups] == [(1, 3), (5, 7), (9,)]
    assert made.groups[0].kind == "zorder"


@pytest.mark.parametrize("is_sorted", [False, True])
def test_a_table_of_many_small_appends_stays_near_a_bulk_load(is_sorted: bool) -> None:
    points = list(simulate(3_000, POLICY, is_sorted=is_sorted))
    assert points[-1].amplification < (4 if is_sorted else 2.5)
    assert max(point.after - point.ideal for point in points) < 7 * 6
    assert len(curve(points).splitlines()) == 4
