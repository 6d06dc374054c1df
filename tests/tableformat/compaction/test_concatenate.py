"""Full blocks without deleted rows are copied in their stored form."""

from __future__ import annotations

import base64

import pyarrow as pa
import pytest

from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.tableformat.compaction.commit import commit_job
from colonnade.tableformat.compaction.run import run_job
from colonnade.tableformat.rowset.reader import RowSetReader
from tests.compaction_tables import add, jobs, live, new, rows_of, take
from tests.tableformat.compaction.groups import compacted

pytestmark = pytest.mark.usefixtures("small_blocks")


def test_full_blocks_are_copied_and_not_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    schema = TableSchema(
        fields=(SchemaField(name="id", type="long"), SchemaField(name="s", type="string"))
    )
    table = new(schema)
    for start in (0, 30):
        ids = list(range(start, start + 30))
        batch = pa.record_batch({"id": ids, "s": [f"text {i * i}" for i in ids]})
        add(table, batch, 10, packed_bytes=0)
    before, rowsets = rows_of(table), live(table)
    store, prefix = table._location.store, table._state.prefix
    segments = [store.get(f"{prefix}{r.entry.object}/2.col") for r in rowsets]
    base, [job] = jobs(table, "copy")
    with monkeypatch.context() as patched:
        patched.setattr(RowSetReader, "decode", None)
        outcome = run_job(job, store)
    [entry] = outcome.outputs
    assert entry.cuts == 10
    assert outcome.bytes_copied == sum(map(len, segments)) + sum(
        len(store.get(f"{prefix}{r.entry.object}/1.col")) for r in rowsets
    )
    assert b"".join(segments) in base64.b64decode(entry.data or "")
    commit_job(table._log, base, job, outcome)
    assert rows_of(table) == before


def test_only_stretches_that_lost_rows_or_are_small_are_decoded() -> None:
    table = new(TableSchema(fields=(SchemaField(name="id", type="long"),)))
    for start in (0, 100, 200):
        add(table, pa.record_batch({"id": list(range(start, start + 22))}), 10)
    take(table, [[3], [], []])
    outcome = compacted(table, "copy")
    # A tail of two rows has no neighbour to be joined with.
    assert outcome.outputs[0].cuts == (9, 19, 21, 31, 41, 43, 53, 63, 65)
    again = compacted(table, "copy")
    assert again.outputs[0].cuts == outcome.outputs[0].cuts
