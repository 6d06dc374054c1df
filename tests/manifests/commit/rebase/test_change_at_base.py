"""A change begins with the rows that are live at its base."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pyroaring import BitMap

from colonnade.manifests.commit.change import Change, DeletedRows
from colonnade.manifests.commit.rebase.change_at_base import change_at_base
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.ids import new_transaction_id
from tests.log_samples import ORDERS
from tests.row_world import World


def with_rows() -> World:
    """A table of one RowSet of three rows, of which the first is deleted."""
    world = World()
    world.commit(world.append(world.head))
    world.commit(world.take(world.head, "delete", [0]))
    return world


def deletion(world: World, rows: BitMap | None) -> Change:
    [rowset] = world.rowsets(world.head)
    deleted = DeletedRows(ORDERS, rowset, "delete", rows)
    return Change(new_transaction_id(), "delete", (), rows=(deleted,))


@pytest.mark.parametrize(
    ("wanted", "left"), [(None, {1, 2}), (BitMap([0]), set()), (BitMap([0, 2]), {2})]
)
def test_rows_that_were_deleted_before_the_base_are_not_deleted_again(
    wanted: BitMap | None, left: set[int]
) -> None:
    world = with_rows()
    [rowset] = world.rowsets(world.head)
    carried = change_at_base(deletion(world, wanted), world.head, world.log.reader)
    assert set(carried.targets[ORDERS][rowset.id].rows) == left
    assert carried.planned_deletes == len(left)
    assert carried.needs_states


def test_a_rowset_that_is_deleted_in_two_parts_is_one_target() -> None:
    world = with_rows()
    [rowset] = world.rowsets(world.head)
    first, second = (deletion(world, BitMap([number])) for number in (1, 2))
    both = replace(first, rows=(*first.rows, *second.rows))
    carried = change_at_base(both, world.head, world.log.reader)
    assert list(carried.targets[ORDERS]) == [rowset.id]
    assert set(carried.targets[ORDERS][rowset.id].rows) == {1, 2}


def test_a_column_of_a_rowset_that_is_not_live_at_the_base_cannot_be_replaced() -> None:
    world = with_rows()
    replacing = world.replace(world.head, 2, [1])
    emptied = world.log.commit(deletion(world, None), world.head)
    with pytest.raises(InvalidInputError, match="has no RowSet"):
        change_at_base(replacing.change, emptied, world.log.reader)
