"""What a statement counts, what it commits, and what it refuses to take from a report."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyroaring import BitMap, FrozenBitMap

from colonnade.manifests.commit.change import DeletedRows, TableRead
from colonnade.manifests.errors import ConflictError, InvalidInputError
from colonnade.manifests.model.entries import ByteCheck, ColumnReplacement, DeletionVectorEntry
from colonnade.manifests.model.operations import AddRowSet, ReplaceColumn, RowKind, Txn
from colonnade.manifests.state.snapshot import as_written
from colonnade.manifests.store import MemoryStore
from colonnade.tableformat.statements.change import is_done, make_change
from colonnade.tableformat.statements.statement import (
    LONGEST_TEXT,
    RowCounts,
    Statement,
    find_deleted_rows,
    row_statement,
    short_texts,
    shortened,
    write_batches,
)
from colonnade.tableformat.write.settings import CommitSettings
from tests.log_samples import ORDERS, entry, table_state
from tests.tableformat.statements.tables import SCHEMA, filled, rows

JOB = "0123456789abcdef"
STATE = table_state()
KINDS: st.SearchStrategy[RowKind] = st.sampled_from(("delete", "update", "merge"))
SETS = st.none() | st.frozensets(st.integers(0, 9), min_size=1)


def replacing(rowset: int, stored: int, changed: int | None) -> ReplaceColumn:
    own = entry()
    vector = changed and DeletionVectorEntry(
        object=own.object, cardinality=1, check=ByteCheck(length=changed, crc32c=0)
    )
    return ReplaceColumn(
        table=ORDERS,
        rowset=rowset,
        replacement=ColumnReplacement(
            columns=(2,), object=own.object, place="packed", bytes=stored, footer=own.footer
        ),
        changed=vector or None,
    )


@given(
    st.lists(st.tuples(KINDS, st.integers(0, 3), SETS), max_size=4),
    st.lists(st.integers(1, 50), max_size=3),
    st.lists(st.tuples(st.integers(2, 5), st.integers(1, 9), st.none() | st.integers(1, 9))),
)
def test_a_statement_counts_each_row_and_each_byte_once(
    deleted: list[tuple[RowKind, int, frozenset[int] | None]],
    added: list[int],
    replaced: list[tuple[int, int, int | None]],
) -> None:
    changes = [
        DeletedRows(ORDERS, as_written(entry(10), n), kind, FrozenBitMap(found) if found else None)
        for kind, n, found in deleted
    ]
    entries = [entry(count) for count in added]
    columns = [replacing(*each) for each in replaced]
    made = row_statement(
        "merge",
        STATE,
        iter(changes),
        iter(entries),
        reads=(),
        replaced=iter(columns),
        replaced_rows=7,
    )
    gone = {
        wanted: sum(10 if r is None else len(r) for k, _, r in deleted if (k == "delete") is wanted)
        for wanted in (True, False)
    }
    in_place = sum(stored + (changed or 0) for _, stored, changed in replaced)
    assert made.counts == RowCounts(
        rows_deleted=gone[True],
        rows_updated=gone[False] + 7,
        rowsets_touched=len({n for _, n, _ in deleted} | {n for n, _, _ in replaced}),
        bytes_written=sum(each.bytes for each in entries) + in_place,
        rowsets_in_place=len(replaced),
        bytes_in_place=in_place,
    )
    assert [op for op in made.ops if isinstance(op, ReplaceColumn)] == columns
    stored = [op.rowset for op in made.ops if isinstance(op, AddRowSet)]
    assert [each.object for each in stored] == [each.object for each in entries]
    assert made.is_empty == (not (changes or entries or columns))


def test_history_shows_counts_in_place_only_where_there_are_any() -> None:
    assert RowCounts(epoch=3, rows_deleted=2).metrics() == {
        **dict.fromkeys(("rows_updated", "rows_inserted", "rowsets_touched", "bytes_written"), 0),
        "rows_deleted": 2,
    }
    assert RowCounts(rowsets_in_place=1, bytes_in_place=9).metrics()["bytes_in_place"] == 9


def test_only_a_statement_that_reads_and_deletes_nothing_is_plain() -> None:
    add = row_statement("append", STATE, (), [entry()], reads=(), inserted=10)
    assert add.is_plain
    assert not add.is_empty
    read = row_statement("insert", STATE, (), [entry()], reads=(TableRead(ORDERS),))
    assert not read.is_plain
    assert not Statement("overwrite", reads=(), overwrites_all=True).is_empty
    assert Statement("delete", reads=()).is_empty


def test_a_change_carries_the_statement_and_the_settings_of_its_commit() -> None:
    settings = CommitSettings(batch=("job", 7), expect_epoch=3, metadata="nightly")
    read = TableRead(ORDERS)
    statement = row_statement(
        "delete",
        STATE,
        [DeletedRows(ORDERS, as_written(entry()), "delete", None)],
        reads=(read,),
        parameters={"predicate": "id = 1"},
    )
    change = make_change(statement, STATE, JOB, settings)
    assert (change.operation, change.job_id, change.expect_epoch) == ("delete", JOB, 3)
    assert change.ops == (*statement.ops, Txn(table=ORDERS, app="job", version=7))
    assert change.parameters == {"predicate": "id = 1", "userMetadata": "nightly"}
    assert (change.rows, change.reads) == (statement.rows, (read,))
    assert change.metrics == statement.counts.metrics()
    assert change.fresh
    sent_again = make_change(statement, STATE, JOB, transaction="a" * 32)
    assert (sent_again.transaction, sent_again.fresh) == ("a" * 32, False)


def test_an_append_leaves_its_counts_to_the_entries() -> None:
    statement = row_statement("append", STATE, (), [entry()], reads=(), inserted=10)
    assert make_change(statement, STATE, JOB).metrics == {}


def test_reported_rows_that_the_table_does_not_have_are_refused() -> None:
    table = filled()
    log, state = table._log, table._state
    found = find_deleted_rows(log, state, "update", {0: BitMap([9]), 1: BitMap()})
    assert [(each.rowset.id, each.kind, each.rows) for each in found] == [
        (0, "update", BitMap([9]))
    ]
    for wrong in ({0: BitMap([10])}, {7: BitMap([0])}, {7: BitMap()}):
        with pytest.raises(InvalidInputError, match="no RowSet [07] with the rows to delete"):
            find_deleted_rows(log, state, "delete", wrong)


def test_nothing_is_done_only_without_rows_and_without_a_batch() -> None:
    table = filled()
    log, base = table._log, table._snapshot
    empty, batch = Statement("delete", reads=()), CommitSettings(batch=("job", 1))
    assert is_done(empty, None, log, base)
    assert not is_done(empty, batch, log, base)
    assert not is_done(Statement("overwrite", reads=(), overwrites_all=True), None, log, base)
    assert is_done(empty, CommitSettings(expect_epoch=base.epoch), log, base)
    with pytest.raises(ConflictError, match="expects epoch 99"):
        is_done(empty, CommitSettings(expect_epoch=99), log, base)


def test_rows_of_a_failed_write_are_removed() -> None:
    store = MemoryStore()
    table = filled(store)
    before = {each.name for each in store.list("")}

    def batches() -> Iterator[pa.RecordBatch]:
        yield from rows(*range(500, 600)).to_batches()
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_batches(table._log, table._state, JOB, batches())
    assert {each.name for each in store.list("")} == before
    [written] = write_batches(table._log, table._state, JOB, rows(1, 2).to_batches())
    assert written.rows == 2
    assert pa.schema(SCHEMA).names == [field.name for field in table._state.schema.fields]


@given(st.text(max_size=40), st.integers(1, 30))
def test_a_text_is_as_long_as_allowed_or_ends_with_an_ellipsis(text: str, limit: int) -> None:
    found = shortened(text, limit)
    assert len(found) <= limit
    assert found == text if len(text) <= limit else found == text[: limit - 1] + "…"


def test_each_parameter_has_its_own_limit() -> None:
    found = short_texts({"where": "a" * LONGEST_TEXT, "set": "b" * (LONGEST_TEXT + 1)})
    assert found["where"] == "a" * LONGEST_TEXT
    assert found["set"] == "b" * (LONGEST_TEXT - 1) + "…"
