"""The deleted rows of a RowSet are read in one place, wherever their vector is stored."""

from __future__ import annotations

from dataclasses import replace

import pytest

from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.ids import new_job_id
from colonnade.manifests.model.deletion_vector import DeletionVector, write_deletion_vector
from colonnade.manifests.model.entries import ByteCheck, RowSetEntry
from colonnade.manifests.object_names import deletion_vector_name
from colonnade.manifests.state.snapshot import LiveRowSet
from colonnade.manifests.state.view import View
from colonnade.manifests.store.memory import MemoryStore
from colonnade.tableformat.rowset.deleted_rows import read_deleted

WHOLE = LiveRowSet(
    3,
    1,
    RowSetEntry(
        object="1" * 32, place="packed", rows=9, bytes=5, cuts=9,
        footer=ByteCheck(length=1, crc32c=1),
    ),
)  # fmt: skip


@pytest.mark.parametrize("inline_bytes", [0, 1000])
def test_deleted_rows_are_those_of_the_vector(inline_bytes: int) -> None:
    store = MemoryStore()
    vector = write_deletion_vector(
        store, "t/", new_job_id(), DeletionVector.of([2, 8]), inline_bytes=inline_bytes
    )
    rowset = replace(WHOLE, vector=vector)
    found = read_deleted(store, View.written("t/"), rowset)
    assert found is not None
    assert list(found.rows) == [2, 8]
    assert (rowset.row_count, rowset.deleted_count) == (7, 2)
    if vector.data is None:
        store.delete(deletion_vector_name("t/", vector.object))
        with pytest.raises(CorruptionError, match=vector.object):
            read_deleted(store, View.written("t/"), rowset)


def test_a_rowset_without_a_vector_needs_no_read() -> None:
    assert read_deleted(MemoryStore(), View.written("t/"), WHOLE) is None
    assert (WHOLE.row_count, WHOLE.deleted_count) == (9, 0)
