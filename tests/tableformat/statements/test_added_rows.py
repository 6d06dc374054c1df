"""Rows that a statement adds take all steps once, and nothing of them is left after an error."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest

import colonnade
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.store import MemoryStore
from colonnade.tableformat.statements.append import write_added
from tests.tableformat.statements.tables import log_of, made, rows

JOB = "0123456789abcdef"


def refusing(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for each in batches:
        yield each
        raise InvalidInputError("A row may not be added.")


def test_rows_that_a_condition_refuses_leave_nothing_behind() -> None:
    store = MemoryStore()
    table = made(store)
    before = {each.name for each in store.list("")}
    batches = rows(*range(4)).to_batches(max_chunksize=2)
    with pytest.raises(InvalidInputError, match="may not be added"):
        write_added(log_of(table), table._state, batches, JOB, None, "append", condition=refusing)
    assert {each.name for each in store.list("")} == before


def test_values_of_identity_columns_are_drawn_without_a_look_for_the_head(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    columns = pa.schema([("id", pa.int64()), ("v", pa.string())])
    identity = {"id": colonnade.IdentityColumn()}
    table = colonnade.create(tmp_path / "t", columns, identity=identity)
    batches = pa.table({"v": ["a", "b"]}).to_batches()
    with monkeypatch.context() as patched:
        patched.setattr(table._log.reader, "read_head", None)
        added = write_added(log_of(table), table._state, batches, JOB, None, "append")
    assert (added.count, added.static_values) == (2, None)
    assert table.next_identities == {"id": 1}
    assert table.refresh().next_identities == {"id": 3}


def test_static_values_leave_their_rows(tmp_path: Path) -> None:
    columns = pa.schema(
        [
            pa.field("k", pa.string(), nullable=False),
            pa.field("id", pa.int64(), nullable=False),
            ("owner", pa.string()),
        ]
    )
    key = ["k", "id"]
    table = colonnade.create(tmp_path / "t", columns, primary_key=key, static=["owner"])
    given = pa.table({"k": ["a"], "id": [1], "owner": ["ann"]}).to_batches()
    added = write_added(log_of(table), table._state, given, JOB, None, "append")
    assert added.own.schema.names == ("k", "id")
    assert added.static_values is not None
    assert added.static_values.rows.to_pylist() == [{"k": "a", "owner": "ann"}]
