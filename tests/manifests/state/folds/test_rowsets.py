"""The RowSets of a table are those of a plain model, and what the model lacks is refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.model.entries import (
    ByteCheck,
    ColumnReplacement,
    DeletionVectorEntry,
    EntrySegment,
)
from colonnade.manifests.model.operations import (
    Compaction,
    CompactionInput,
    CompactionOutput,
    ReplaceColumn,
)
from colonnade.manifests.state.folds.rowsets import RowSetsFold
from colonnade.manifests.state.rowset_ids import ROWSET_IDS
from colonnade.manifests.state.snapshot import TableState
from tests.examples_of import examples
from tests.log_samples import ORDERS, entry, table_state, vector

ROWS, BYTES = 10, 110
"""The rows and bytes of each RowSet of these tests."""


@dataclass
class Member:
    """What the model knows of a live RowSet."""

    stored: int = ROWS
    deleted: DeletionVectorEntry | None = None
    replaced: str | None = None

    @property
    def rows(self) -> int:
        return self.stored - (self.deleted.cardinality if self.deleted else 0)

    @property
    def bytes(self) -> int:
        return 100 + self.stored + (7 if self.replaced else 0)


def segment(count: int) -> EntrySegment:
    return EntrySegment(
        object=entry().object,
        check=ByteCheck(length=1, crc32c=1),
        rowset_count=count,
        row_count=ROWS * count,
        byte_count=BYTES * count,
    )


def live_ids(table: TableState) -> set[int]:
    """The ids that a reader finds: those of the segments that were not dropped, and later ones."""
    stored = {n for ref in table.rowsets.segments for n in range(ref.first_id, ref.last_id + 1)}
    dropped = {n for low, high in table.rowsets.dropped for n in range(low, high + 1)}
    return stored - dropped | {each.id for each in table.rowsets.added}


def replacing(rowset: int, row: Member) -> ReplaceColumn:
    own = entry()
    stored = ColumnReplacement(
        columns=(2,), object=own.object, place="packed", bytes=7, footer=own.footer
    )
    before = (row.replaced,) if row.replaced else None
    return ReplaceColumn(table=ORDERS, rowset=rowset, replacement=stored, predecessors=before)


@settings(max_examples=examples(60), deadline=None)
@given(st.data())
def test_the_fold_agrees_with_a_model_and_counts_what_needs_no_read(data: st.DataObject) -> None:
    fold, model, following, segments = RowSetsFold(table_state()), dict[int, Member](), 0, False
    for epoch in range(1, data.draw(st.integers(2, 20))):
        fold.changed_epoch = epoch
        kinds = ["add", "segment", *(("drop", "delete", "replace", "compact") if model else ())]
        some = st.sampled_from(sorted(model)) if model else st.nothing()
        match data.draw(st.sampled_from(kinds)):
            case "add":
                fold.add(epoch, entry(ROWS))
                model[following] = Member()
                following += 1
            case "segment":
                count = data.draw(st.integers(1, 4))
                fold.add_segment(epoch, segment(count))
                model.update({following + each: Member() for each in range(count)})
                following, segments = following + count, True
            case "drop":
                ids = sorted(data.draw(st.sets(some, min_size=1)))
                fold.drop([(each, each) for each in ids])
                for each in ids:
                    del model[each]
            case "delete":
                rowset = data.draw(some)
                before = model[rowset].deleted
                most = model[rowset].stored
                cardinality = min(most, before.cardinality + 1 if before else 1)
                model[rowset].deleted = vector(cardinality, before)
                fold.set_vector(rowset, model[rowset].deleted)  # type: ignore[arg-type]
            case "replace":
                rowset = data.draw(some)
                operation = replacing(rowset, model[rowset])
                fold.replace_column(operation)
                model[rowset].replaced = operation.replacement.object
            case "compact":
                rowset = data.draw(some)
                if rows := model[rowset].rows:
                    fold.compact(epoch, compaction(rowset, model.pop(rowset), rows))
                    model[following] = Member(rows)
                    following += 1
        state = fold.freeze()
        check(state, model, following, segments=segments)


def compaction(rowset: int, row: Member, rows: int) -> Compaction:
    source = CompactionInput(rowset=rowset, rows=row.stored, vector=row.deleted)
    return Compaction(
        table=ORDERS, inputs=(source,), outputs=(CompactionOutput(rowset=entry(rows)),)
    )


def check(state: TableState, model: dict[int, Member], following: int, *, segments: bool) -> None:
    found = state.rowsets
    assert live_ids(state) == model.keys()
    assert state.next_rowset_id == following
    assert found.rowset_count == len(model)
    rows, size = (sum(getattr(each, name) for each in model.values()) for name in ("rows", "bytes"))
    assert found.row_count in ((rows, None) if segments else (rows,))
    assert found.byte_count in ((size, None) if segments else (size,))
    assert list(found.dropped) == sorted(found.dropped)
    assert found.amended.keys() <= model.keys()
    if not model:
        assert not any((found.segments, found.added, found.dropped, found.amended))
        assert (found.row_count, found.byte_count) == (0, 0)


def test_counts_stay_known_while_whole_segments_and_first_vectors_come_and_go() -> None:
    fold = RowSetsFold(table_state())
    fold.add_segment(1, segment(3))
    fold.set_vector(1, vector(4))
    assert fold.freeze().rowsets.row_count == 3 * ROWS - 4
    fold = RowSetsFold(table_state())
    for _ in range(2):
        fold.add_segment(1, segment(3))
    fold.drop([(0, 2)])
    assert (fold.freeze().rowsets.row_count, fold.freeze().rowsets.byte_count) == (30, 330)
    fold.drop([(4, 4)])
    assert fold.freeze().rowsets.row_count is None


def started() -> RowSetsFold:
    """RowSets 0 to 2 in a segment, and RowSet 3 with one deleted row."""
    fold = RowSetsFold(table_state())
    fold.add_segment(1, segment(3))
    fold.add(2, entry(ROWS), vector(1))
    return fold


@pytest.mark.parametrize(
    ("what", "sentence"),
    [
        (lambda f: f.drop([(4, 4)]), "drops RowSets 4 to 4, which are not all live"),
        (lambda f: f.drop([(2, 2), (2, 2)]), "do not ascend"),
        (lambda f: (f.drop([(1, 1)]), f.drop([(0, 3)])), "not all live"),
        (lambda f: f.set_vector(4, vector(1)), "RowSet 4, which does not exist"),
        (lambda f: f.set_vector(3, vector(2)), "replaces deletion vector None of RowSet 3"),
        (lambda f: f.add(3, entry(ROWS), vector(ROWS + 1)), "that is not its first"),
        (lambda f: f.add(3, entry(ROWS, data="QUJD").model_copy(update={"place": "packed"})),
         "its data contradicts that"),
        (lambda f: f.compact(3, compaction(3, Member(), ROWS - 1)), "another number of rows"),
        (lambda f: f.compact(3, Compaction(table=ORDERS, inputs=(), outputs=())), "no RowSets"),
        (lambda f: f.replace_column(replacing(9, Member())), "RowSet 9, which does not exist"),
        (lambda f: f.replace_column(replacing(3, Member(replaced="b" * 32))), "but they are in []"),
        (lambda f: f.add_segment(3, segment(ROWSET_IDS - 1)), "RowSet ids of 4294967292 left"),
    ],
)  # fmt: skip
def test_an_operation_that_contradicts_the_state_is_refused_and_named(
    what: Any, sentence: str
) -> None:
    with pytest.raises(CorruptionError) as caught:
        what(started())
    assert sentence in str(caught.value)
    assert "'orders'" in str(caught.value)


def test_a_vector_replaces_the_one_that_it_names() -> None:
    fold = started()
    first = fold.freeze().rowsets.added[0].vector
    fold.set_vector(3, vector(4, first))
    assert fold.freeze().rowsets.row_count == 3 * ROWS + 6
    with pytest.raises(CorruptionError, match="replaces deletion vector"):
        fold.set_vector(3, vector(5, first))
