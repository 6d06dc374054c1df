"""Run a task's share of a write, and complete what it reports: entries of RowSets."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

import pyarrow as pa
from pydantic import TypeAdapter

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.ids import TableId
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.entries import RowSetEntry
from colonnade.manifests.state.snapshot import TableState
from colonnade.manifests.store import ObjectStore, open_store
from colonnade.tableformat.progress import Advance, nothing
from colonnade.tableformat.write.identity import Draws, draws_at
from colonnade.tableformat.write.job import WriteJob
from colonnade.tableformat.write.pipeline import Step, new_rows, write_through


@cache
def _entries() -> TypeAdapter[tuple[RowSetEntry, ...]]:
    return TypeAdapter(tuple[RowSetEntry, ...])


def write_rows(
    job: WriteJob,
    batches: Iterable[pa.RecordBatch],
    store: ObjectStore | None = None,
    *,
    divide: Step | None = None,
    draws: Draws | None = None,
    advance: Advance = nothing,
) -> tuple[RowSetEntry, ...]:
    """Write one task's share of new rows; no reader sees them before the commit.

    They take the steps of `new_rows`, which `divide` begins. `draws` spares a look at the log.
    All else is as `write_through` says.
    """
    store = store or open_store(job.address)
    steps = new_rows(
        job.target,
        lambda: draws or _draws(job, store),
        divide=divide,
        expiry=job.expiry(),
    )
    return write_through(steps, batches, store, job.job_id, job.settings, advance)


def _draws(job: WriteJob, store: ObjectStore) -> Draws:
    if job.create is not None:
        raise InvalidInputError(
            f"Table {job.target.name!r} has identity columns and does not exist yet, so tasks"
            " cannot take values; create it first."
        )
    return draws_at(Log(store), TableId(job.target.table), job.job_id)


def stamped(entry: RowSetEntry, written_for: TableState) -> RowSetEntry:
    """Return the entry with the layout and sort order that the RowSet was written for."""
    ids = {
        "partition_layout_id": written_for.partition_layout_id,
        "sort_order_id": written_for.sort_order_id,
    }
    return entry.model_copy(update=ids)


def dated(entry: RowSetEntry, table: TableState, written_ms: int | None) -> RowSetEntry:
    """Return the entry that says when its rows were written, if that decides when they expire.

    The time is in ms since 1970 UTC. It may be None if nothing expires in the table.
    """
    lives = table.lifetimes
    if lives is None or not lives.counts_from_write:
        return entry
    assert written_ms is not None, "Rows that expire were written at a time."
    return entry.model_copy(update={"written_ms": (written_ms, written_ms)})


def encode_entries(entries: tuple[RowSetEntry, ...]) -> bytes:
    """Encode what a task reports to its driver."""
    return _entries().dump_json(entries, exclude_none=True)


def decode_entries(message: bytes) -> tuple[RowSetEntry, ...]:
    """Decode and validate what a task reported."""
    return _entries().validate_json(message)
