"""A change and a compaction in either order: each removed row is removed from where it is now."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyroaring import FrozenBitMap

from colonnade.manifests.commit.rebase import compaction as rebase_compaction
from colonnade.manifests.commit.rebase.compaction import OwnCompaction, Vectors, carry_through
from colonnade.manifests.commit.rebase.row_map import row_map
from colonnade.manifests.commit.rebase.targets import ChangedRows, Overlap, RowSetAt, TargetRowSet
from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.model.deletion_vector import DeletionVector, write_deletion_vector
from colonnade.manifests.model.entries import ColumnReplacement, DeletionVectorEntry
from colonnade.manifests.model.operations import (
    AddDeletionVector,
    AddRowSet,
    Compaction,
    CompactionInput,
    CompactionOutput,
    DropRowSet,
    Operation,
    ReplaceColumn,
)
from colonnade.manifests.store import MemoryStore
from colonnade.manifests.store.base import Data, PutOutcome
from tests.log_samples import ORDERS, entry, vector
from tests.row_world import JOB, PREFIX, World

FIRST = 40
"""The id of the first output of each compaction."""


def vectors() -> Vectors:
    return Vectors(MemoryStore())


def stored(reader: Vectors, rows: Sequence[int]) -> DeletionVectorEntry:
    """A vector that deletes some rows."""
    made = DeletionVector(FrozenBitMap(rows))
    return write_deletion_vector(reader.store, PREFIX, JOB, made)


@st.composite
def compactions(draw: st.DrawFn) -> tuple[Vectors, Compaction, list[tuple[int, int]]]:
    """A concatenation, and for each row of its outputs, in order, its input id and row."""
    reader = vectors()
    counts = draw(st.lists(st.integers(1, 8), min_size=1, max_size=3))
    gone = [sorted(draw(st.sets(st.integers(0, count - 1)))) for count in counts]
    rows = [(i, n) for i, count in enumerate(counts) for n in range(count) if n not in gone[i]]
    cut = draw(st.integers(0, len(rows)))
    op = Compaction(
        table=ORDERS,
        inputs=tuple(
            CompactionInput(
                rowset=i, rows=count, vector=stored(reader, gone[i]) if gone[i] else None
            )
            for i, count in enumerate(counts)
        ),
        outputs=tuple(
            CompactionOutput(rowset=entry(len(part))) for part in (rows[:cut], rows[cut:]) if part
        ),
    )
    return reader, op, rows


def places(op: Compaction, rows: list[tuple[int, int]]) -> dict[tuple[int, int], tuple[int, int]]:
    """Where each row of an input is afterwards: the index of the output, and the row in it."""
    outputs = [(at, n) for at, out in enumerate(op.outputs) for n in range(out.rowset.rows)]
    return dict(zip(rows, outputs, strict=True))


@given(compactions(), st.data())
def test_rows_that_a_change_removes_are_removed_where_a_compaction_put_them(
    made: tuple[Vectors, Compaction, list[tuple[int, int]]], data: st.DataObject
) -> None:
    reader, op, rows = made
    wanted = data.draw(st.sets(st.sampled_from(rows))) if rows else set()
    targets = {99: target(99, [1])} | {
        source.rowset: target(source.rowset, [n for i, n in wanted if i == source.rowset])
        for source in op.inputs
        if any(i == source.rowset for i, _ in wanted)
    }
    after = carry_through(op, FIRST, targets, reader)
    where = places(op, rows)
    expected = {(99, 1)} | {(FIRST + where[each][0], where[each][1]) for each in wanted}
    assert {(i, n) for i, found in after.items() for n in found.rows} == expected


def target(rowset: int, rows: Sequence[int]) -> TargetRowSet:
    found = RowSetAt(rowset, 8, FrozenBitMap(), None)
    return TargetRowSet(found, (ChangedRows("delete", FrozenBitMap(rows)),))


@given(compactions(), st.data())
def test_rows_that_concurrent_writers_delete_are_deleted_in_the_outputs_of_a_compaction(
    made: tuple[Vectors, Compaction, list[tuple[int, int]]], data: st.DataObject
) -> None:
    reader, op, rows = made
    own: OwnCompaction | None = OwnCompaction(op, 0)
    before = {each.rowset: reader.rows(ORDERS, each.vector) for each in op.inputs}
    deleted = set[tuple[int, int]]()
    for _ in range(2 if rows else 0):
        rowset = data.draw(st.sampled_from(rows))[0]
        deleted |= {each for each in data.draw(st.sets(st.sampled_from(rows))) if each[0] == rowset}
        now = [*before[rowset], *(n for i, n in deleted if i == rowset)]
        if now:
            theirs = AddDeletionVector(table=ORDERS, rowset=rowset, vector=stored(reader, now))
            assert own is not None
            own = own.follow(theirs, reader)
    assert own is not None
    where = places(op, rows)
    found = {(at, n) for at, deleted_rows in own.deleted_since.items() for n in deleted_rows}
    assert found == {where[each] for each in deleted}


def test_a_compaction_of_rowsets_that_changed_otherwise_is_planned_again() -> None:
    reader, new = vectors(), entry()
    op = Compaction(
        table=ORDERS,
        inputs=(CompactionInput(rowset=3, rows=10),),
        outputs=(CompactionOutput(rowset=entry(10)),),
    )
    replacement = ColumnReplacement(
        columns=(2,), object=new.object, place="packed", bytes=7, footer=new.footer
    )
    replacing = ReplaceColumn(table=ORDERS, rowset=3, replacement=replacement)
    own = OwnCompaction(op, 0)
    for theirs in (replacing, DropRowSet(table=ORDERS, rowsets=((2, 4),)), op):
        assert own.follow(theirs, reader) is None
    elsewhere = op.model_copy(update={"inputs": (CompactionInput(rowset=4, rows=10),)})
    others: tuple[Operation, ...] = (
        replacing.model_copy(update={"rowset": 4}),
        DropRowSet(table=ORDERS, rowsets=((4, 9),)),
        AddRowSet(table=ORDERS, rowset=new),
        elsewhere,
    )
    for other in others:
        assert own.follow(other, reader) is own


def test_new_values_of_a_column_cannot_be_carried_through_a_compaction() -> None:
    op = Compaction(
        table=ORDERS,
        inputs=(CompactionInput(rowset=3, rows=10),),
        outputs=(CompactionOutput(rowset=entry(10)),),
    )
    new = ChangedRows("replace", FrozenBitMap((5,)), frozenset(), frozenset((2,)))
    mine = TargetRowSet(RowSetAt(3, 10, FrozenBitMap(), None), (new,))
    with pytest.raises(Overlap, match="RowSet 3"):
        carry_through(op, FIRST, {3: mine}, vectors())


def test_a_missing_vector_is_damage_and_never_a_guess() -> None:
    lost = vector(2).model_copy(update={"data": None})
    op = Compaction(
        table=ORDERS,
        inputs=(CompactionInput(rowset=3, rows=10, vector=lost),),
        outputs=(CompactionOutput(rowset=entry(8)),),
    )
    with pytest.raises(CorruptionError, match=lost.object):
        carry_through(op, FIRST, {3: target(3, [1])}, vectors())
    # Without a row to carry, nothing is read.
    assert carry_through(op, FIRST, {99: target(99, [1])}, vectors()).keys() == {99}


def test_without_a_list_every_row_of_a_replacement_counts_as_changed() -> None:
    reader, new = vectors(), entry()
    replacement = ColumnReplacement(
        columns=(2,), object=new.object, place="packed", bytes=7, footer=new.footer
    )
    every = ReplaceColumn(table=ORDERS, rowset=3, replacement=replacement)
    assert [*reader.changed(every, 3)] == [0, 1, 2]
    some = every.model_copy(update={"changed": stored(reader, [1])})
    assert [*reader.changed(some, 3)] == [1]
    assert not reader.rows(ORDERS, None)


class Crowded(MemoryStore):
    """A store with a concurrent writer, which takes each of the next `left` slots before a put."""

    left = 0
    world: World

    def put_if_absent(self, name: str, data: Data) -> PutOutcome:
        if self.left and name.startswith("_manifest/0"):
            left, self.left = self.left, 0
            self.world.commit(self.take())
            self.left = left - 1
        return super().put_if_absent(name, data)

    def take(self) -> Any:
        """What the other writer does: it deletes a row in each third turn, and else appends one."""
        head = self.world.head
        ids = [] if self.left % 3 else sorted(self.world.model)[:1]
        return self.world.take(head, "delete", ids) if ids else self.world.append(head, 1)


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("mine", ["compaction", "delete"])
def test_rows_are_mapped_once_however_often_the_slot_is_lost(
    mine: str, ordered: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Crowded()
    world = store.world = World(store)
    world.commit(world.append(world.head, 40))
    world.commit(world.append(world.head, 40))
    base = world.head
    compact = world.compact(base, [0, 1], ordered=ordered)
    late = world.take(base, "delete", [70]) if mine == "delete" else compact
    if mine == "delete":
        world.commit(compact)
    counted = Mock(wraps=row_map)
    monkeypatch.setattr(rebase_compaction, "row_map", counted)
    store.left = 12
    world.commit(late)
    assert store.left == 0
    assert counted.call_count == 1
