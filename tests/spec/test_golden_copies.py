"""Anchors that are stored twice, as an earlier writer left them, serve whatever one of both lost.

`python -m tests.spec.make_golden` makes the files.
Specification: docs/spec/checkpoint.md#copies
"""

from __future__ import annotations

from colonnade.manifests.limits import Limits
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.operations import CreateTable
from colonnade.manifests.object_names import CHECKPOINTS, COPIES, HINT
from colonnade.manifests.store import MemoryStore
from tests.spec import test_golden_vacuum
from tests.spec.golden_logs import (
    SCHEMA,
    TRIPS,
    GoldenLog,
    Writer,
    contents,
    copy,
)
from tests.spec.test_golden_vacuum import states


def write(writer: Writer) -> None:
    """The log of `log-v1-vacuum`, its tables in pages beside the roots, and a second table."""
    test_golden_vacuum.write(writer)
    trips = CreateTable(table=TRIPS, name="trips", table_schema=SCHEMA, next_column_id=12)
    writer.commit("create_table", trips)


LIMITS = Limits(listed_rowsets=4, root_tables=0, root_bytes=0, page_bytes=2048)
LOG = GoldenLog("log-v1-copies", write, states, LIMITS)


def test_an_earlier_log_reads_as_it_did() -> None:
    assert LOG.read(LOG.store()) == LOG.expected()


def test_every_object_of_an_anchor_may_be_lost_at_one_of_its_places() -> None:
    whole = contents(LOG.store())
    copies = [name for name in whole if name.startswith(COPIES)]
    assert len(copies) >= 6
    for second in copies:
        first = second.replace(COPIES, CHECKPOINTS)
        assert whole[first] == whole[second]
        for lost in (first, second):
            store = MemoryStore()
            copy({n: data for n, data in whole.items() if n not in (lost, HINT)}, store)
            assert LOG.read(store) == LOG.expected()
            assert Log(store).reader.read_head().find_table("trips") is not None


def test_the_log_is_still_written_the_same() -> None:
    assert contents(LOG.written()) == contents(LOG.store())
