"""A finding names what a person needs to find the damage, and the buffer of a check is reused."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

import colonnade
from colonnade.manifests.state.view import View
from colonnade.tableformat.jobs import Stop
from colonnade.tableformat.verify.job import VerifyJob
from colonnade.tableformat.verify.rowset_findings import WINDOW_BYTES, RowSetFindings


def findings_of(path: Path, place: str) -> RowSetFindings:
    """The found_so_far on a new RowSet in a place that the fixture has chosen."""
    table = colonnade.create(path / "t", pa.schema([("id", pa.int64())]))
    table.append(pa.table({"id": [1, 2]}))
    [rowset] = table._log.rowsets.read(table._state)
    assert rowset.entry.place == place
    job = VerifyJob(
        address=table._location.store.address,
        depth=4,
        view=View.stored(table._state, [rowset]),
        sort_orders=((),),
        epoch=7,
    )
    return RowSetFindings(table._location.store, job, rowset, Stop())


def test_a_finding_names_table_rowset_epoch_and_file(tmp_path: Path, place: str) -> None:
    found_so_far = findings_of(tmp_path, place)
    found_so_far.add("It is damaged.", "a file", "id", 3, (0, 1), "unread")
    [found] = found_so_far.findings
    # What is in the log itself has no file of its own.
    assert found.file == (None if place == "inline" else "a file")
    assert (found.table, found.rowset, found.epoch) == ("t", 0, 7)
    assert (found.column, found.block, found.rows) == ("id", 3, (0, 1))
    assert (found.kind, found.problem) == ("unread", "It is damaged.")


def test_the_buffer_is_made_anew_only_where_it_is_too_small(tmp_path: Path, place: str) -> None:
    found_so_far = findings_of(tmp_path, place)
    first = found_so_far.buffer(10)
    assert len(first) == WINDOW_BYTES
    assert found_so_far.buffer(WINDOW_BYTES) is first
    assert len(found_so_far.buffer(WINDOW_BYTES + 1)) == WINDOW_BYTES + 1
