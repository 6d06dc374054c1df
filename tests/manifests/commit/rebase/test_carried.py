"""Commit statements after concurrent ones: every cell of docs/spec/conflicts.md, in both orders."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import pytest

from colonnade.manifests.commit.conflict_table import CONFLICTS, Kind, Rule
from colonnade.manifests.errors import CommitUnknownError, ConflictError
from colonnade.manifests.object_names import origin_name
from colonnade.manifests.state.snapshot import Snapshot
from tests.log_samples import ORDERS
from tests.row_world import Statement, World, random_statement

Plan = Callable[[World, Snapshot], Statement]

STATEMENTS: dict[str, Plan] = {
    "append": lambda world, base: world.append(base),
    "delete": lambda world, base: world.take(base, "delete", [1, 5]),
    "delete others": lambda world, base: world.take(base, "delete", [2, 7]),
    "delete RowSet": lambda world, base: world.take(base, "delete", [0, 1, 2, 3]),
    "update": lambda world, base: world.take(base, "update", [1, 5]),
    "update others": lambda world, base: world.take(base, "update", [2, 7]),
    "update RowSet": lambda world, base: world.take(base, "update", [0, 1, 2, 3]),
    "merge": lambda world, base: world.take(base, "merge", [1]),
    "concatenation": lambda world, base: world.compact(base, [0, 1]),
    "sort": lambda world, base: world.compact(base, [0, 1], ordered=True),
    "overwrite": lambda world, base: world.overwrite(base),
    "delete by id": lambda world, base: world.take(base, "delete", [1, 5], frozenset({1})),
    "replace x": lambda world, base: world.replace(base, 2, [1, 5]),
    "replace x of others": lambda world, base: world.replace(base, 2, [2, 7]),
    "replace y": lambda world, base: world.replace(base, 3, [1, 5]),
    "replace y by x": lambda world, base: world.replace(base, 3, [1, 5], frozenset({2})),
}

KINDS = {
    "append": Kind.APPEND,
    "delete": Kind.DELETE,
    "update": Kind.MOVE,
    "merge": Kind.MOVE,
    "concatenation": Kind.COMPACTION,
    "sort": Kind.COMPACTION,
    "overwrite": Kind.OVERWRITE,
    "replace": Kind.REPLACE,
}
ROWS = {"others": {2, 7}, "RowSet": {0, 1, 2, 3}, "merge": {1}}


def may_follow(mine: str, theirs: str) -> bool:
    """What the table of the specification says of these statements; all are of both RowSets."""
    shared = rows_of(mine) & rows_of(theirs)
    rule = CONFLICTS[KINDS[mine.split()[0]], KINDS[theirs.split()[0]]]
    match rule:
        case Rule.SAME_ROW:
            return not shared
        case Rule.SAME_ROW_READ:
            return mine == "delete by id" or not shared
        case Rule.SAME_COLUMN:
            stale = mine == "replace y by x" and bool(shared)
            return mine.split()[1] != theirs.split()[1] and not stale
        case Rule.CARRIED_DELETES:
            return "RowSet" not in theirs
        case Rule.SAME_ROWSET | Rule.SAME_INPUT | Rule.READ:
            return False
    assert rule.value.startswith("commit") or rule is Rule.SOME_INPUTS
    return True


def rows_of(statement: str) -> set[int]:
    """The rows that it changes, if it changes only some."""
    return ROWS.get(statement.split()[-1], {1, 5})


def started() -> World:
    """A table of two RowSets with the rows 0 to 3 and 4 to 7."""
    world = World()
    for _ in range(2):
        world.commit(world.append(world.head, 4))
    return world


@pytest.mark.parametrize("mine", STATEMENTS)
@pytest.mark.parametrize("theirs", STATEMENTS)
def test_a_statement_follows_another_exactly_where_both_stay_right(mine: str, theirs: str) -> None:
    world = started()
    base = world.head
    statement = STATEMENTS[mine](world, base)
    world.commit(STATEMENTS[theirs](world, base))
    if may_follow(mine, theirs):
        assert world.commit(statement).epoch == base.epoch + 2
    else:
        with pytest.raises(ConflictError) as caught:
            world.log.commit(statement.change, base)
        text = str(caught.value)
        assert "'orders'" in text
        assert statement.change.operation in text
        assert f"epoch {base.epoch + 1}" in text
        assert world.log.reader.read_head() == world.head


@pytest.mark.parametrize("kind", ["delete", "update"])
@pytest.mark.parametrize("orders", [(False, False), (True, False), (False, True), (True, True)])
def test_rows_are_carried_through_a_chain_of_compactions(
    kind: str, orders: tuple[bool, bool]
) -> None:
    world = started()
    base = world.head
    late = STATEMENTS[kind](world, base)
    world.commit(STATEMENTS["delete others"](world, base))
    for ordered in orders:
        world.commit(world.append(base, 2))
        ids = [rowset.id for rowset in world.rowsets(world.head)]
        world.commit(world.compact(world.head, ids, ordered=ordered))
    world.commit(late)
    assert len(world.model) == 10 - (2 if kind == "delete" else 0)


def test_a_compaction_whose_rows_were_all_deleted_meanwhile_leaves_nothing() -> None:
    world = started()
    base = world.head
    slow = world.compact(base, [0, 1])
    for ids in ([0, 1, 2], [4, 5], [6]):
        world.commit(world.take(world.head, "delete", ids))
    world.commit(slow)
    assert [rowset.row_count for rowset in world.rowsets(world.head)] == [1, 1]
    again = world.compact(world.head, [2, 3])
    world.commit(world.take(world.head, "update", [3]))
    with pytest.raises(ConflictError, match="that the compaction rewrites changed"):
        world.commit(again)


def test_an_output_that_lost_all_its_rows_is_not_added() -> None:
    world = World()
    world.commit(world.append(world.head, 4))
    slow = world.compact(world.head, [0])
    world.commit(world.take(world.head, "delete", [2, 3]))
    world.commit(slow)
    assert [(r.id, r.row_count) for r in world.rowsets(world.head)] == [(1, 2)]
    assert world.head.tables[ORDERS].next_rowset_id == 3


def test_a_lost_origin_makes_a_statement_run_again_and_never_guess() -> None:
    world = World()
    world.commit(world.append(world.head, 30_000))
    base = world.head
    late = world.take(base, "delete", [7])
    fresh = replace(late, change=replace(late.change, fresh=True))
    world.commit(world.compact(base, [0], ordered=True))
    [name] = [i.name for i in world.store.list("") if i.name.endswith(".origin")]
    assert name == origin_name(f"{ORDERS}/", name[len(ORDERS) + 1 : -len(".origin")])
    world.store.delete(name)
    with pytest.raises(ConflictError, match="cannot be read any more"):
        world.commit(fresh)
    with pytest.raises(CommitUnknownError, match=late.change.transaction):
        world.commit(late)


def test_united_vectors_that_grow_large_become_objects() -> None:
    world = World()
    world.commit(world.append(world.head, 9000))
    base = world.head
    order = random.Random(1)
    late = world.take(base, "delete", order.sample(range(9000), 400))
    world.commit(world.take(base, "delete", order.sample(range(9000), 400)))
    world.commit(late)
    [rowset] = world.rowsets(world.head)
    assert rowset.vector is not None
    assert rowset.vector.data is None


def run(seed: int, steps: int = 40) -> World:
    """Writers that plan on old bases; every commit is compared with the model."""
    order = random.Random(seed)
    world = World(interval=order.choice([4, 64]))
    waiting: list[Statement] = []
    changed: dict[int, int] = {}
    for _ in range(steps):
        if len(waiting) < 5 and order.random() < 0.55:
            statement = random_statement(world, world.head, order)
            waiting += [statement] if statement else []
        elif waiting:
            statement = waiting.pop(order.randrange(len(waiting)))
            before = dict(world.model)
            try:
                world.commit(statement)
            except ConflictError:
                needed = statement.kind in ("compaction", "overwrite", "replace") or any(
                    changed.get(i, 0) > statement.base.epoch for i in statement.takes
                )
                assert needed, f"seed {seed}: {statement.kind} has a conflict without a reason"
            else:
                for i in {*before} | {*world.model}:
                    if before.get(i) != world.model.get(i):
                        changed[i] = world.head.epoch
    return world


@pytest.mark.parametrize(
    "seed",
    [*range(40), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(40, 150))],
)
def test_random_statements_on_old_bases_lose_no_update_and_conflict_only_on_rows(
    seed: int,
) -> None:
    run(seed)
