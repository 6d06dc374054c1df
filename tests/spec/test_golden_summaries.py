"""Summaries of pages, as an earlier vacuum left them, are what a vacuum finds in these pages.

`python -m tests.spec.make_golden` makes the files.
Specification: docs/spec/checkpoint.md#page-summaries
"""

from __future__ import annotations

from colonnade.manifests.checkpoint.page_summary import read_summaries
from colonnade.manifests.limits import Limits
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.operations import CreateTable, SetProperties
from colonnade.manifests.object_names import SUMMARIES
from colonnade.manifests.vacuum.run import VacuumRequest, vacuum
from tests.spec import test_golden_vacuum
from tests.spec.golden_logs import SCHEMA, TRIPS, GoldenLog, Writer, contents
from tests.spec.test_golden_vacuum import states

HOURS = {"retention.hours": "3"}


def write(writer: Writer) -> None:
    """The log of `log-v1-vacuum`, its tables in pages, and a second table with a retention."""
    test_golden_vacuum.write(writer)
    trips = CreateTable(table=TRIPS, name="trips", table_schema=SCHEMA, next_column_id=12)
    writer.commit("create_table", trips)
    writer.commit("set_properties", SetProperties(table=TRIPS, set=HOURS))
    writer.log.try_checkpoint(writer.state)
    vacuum(writer.log, VacuumRequest(threads=1, only=TRIPS, trust_clock=True))


LIMITS = Limits(listed_rowsets=4, root_tables=0, root_bytes=0, page_bytes=2048)
LOG = GoldenLog("log-v1-summaries", write, states, LIMITS)


def test_an_earlier_log_reads_as_it_did() -> None:
    assert LOG.read(LOG.store()) == LOG.expected()


def test_the_summaries_are_those_of_a_vacuum_that_reads_all_pages() -> None:
    store = LOG.store()
    summaries = read_summaries(store)
    found = summaries.pages
    assert any(summary.objects for summary in found.values())
    assert any(summary.parts for summary in found.values() if summary.objects is None)
    assert [each.retention for each in found.values() if each.retention] == [{TRIPS: HOURS}]
    store.delete(SUMMARIES)
    vacuum(Log(store, limits=LIMITS), VacuumRequest(hours=1000, threads=1, trust_clock=True))
    assert read_summaries(store) == summaries


def test_the_log_is_still_written_the_same() -> None:
    assert contents(LOG.written()) == contents(LOG.store())
