"""Every job opens the store that its planner opened, and none shows a storage option."""

from __future__ import annotations

import json
import logging
import pickle
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest

import colonnade
from colonnade.manifests.store import StoreAddress, address
from colonnade.tableformat.compaction.job import CompactionJob, plan_job
from colonnade.tableformat.compaction.run import run_job
from colonnade.tableformat.location import Location, locate_existing
from colonnade.tableformat.scan.plan import plan_scan
from colonnade.tableformat.statements.commit import commit_written
from colonnade.tableformat.table.table import ArrowTable
from colonnade.tableformat.verify.job import Unit, VerifyJob, plan_jobs
from colonnade.tableformat.verify.rowset_check import check_job
from colonnade.tableformat.write.job import WriteJob, plan_write
from colonnade.tableformat.write.run import write_rows
from tests.vault import OPTIONS, SECRET, open_vault

ROWS = pa.table({"id": pa.array(range(1000), pa.int64())})
PATH = "vault://lake/t"


@pytest.fixture(autouse=True)
def files(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    with open_vault(monkeypatch) as files:
        yield files


def make_table() -> ArrowTable:
    colonnade.create_database("vault://lake", storage_options=OPTIONS)
    table = colonnade.create(PATH, ROWS.schema, storage_options=OPTIONS)
    for _ in range(4):
        table.append(ROWS)
    return colonnade.open(PATH, storage_options=OPTIONS)


def planned() -> tuple[ArrowTable, Location, WriteJob]:
    table = make_table()
    location = locate_existing(PATH, OPTIONS)
    return table, location, plan_write(location, table._refresh(), "append")


def every_job() -> list[WriteJob | CompactionJob | VerifyJob]:
    table, _, write = planned()
    base, log = table._refresh(), table._log
    plan = table.optimize().option("min-rowsets", 2).plan()
    group = plan.groups[0]
    units = [Unit(table._state, each) for each in log.rowsets.read(table._state)]
    return [
        write,
        plan_job(log, base, plan, group),
        *plan_jobs(log.store.address, 4, units, 1),
    ]


def run_sent(job: WriteJob | CompactionJob | VerifyJob) -> None:
    """Run a job as another process does: from its JSON."""
    text = job.to_json() if isinstance(job, CompactionJob) else job.model_dump_json()
    sent = type(job).model_validate_json(text)
    if isinstance(sent, WriteJob):
        entries = write_rows(sent, ROWS.to_batches())
        assert commit_written(sent, entries).epoch > sent.base
    elif isinstance(sent, CompactionJob):
        assert run_job(sent).outputs
    else:
        assert check_job(sent).findings == ()


def test_every_kind_of_job_runs_from_its_json_with_the_options_of_its_store() -> None:
    jobs = every_job()
    assert {type(job) for job in jobs} == {WriteJob, CompactionJob, VerifyJob}
    for job in jobs:
        run_sent(job)


def test_a_job_needs_its_address_where_the_options_are_unknown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    jobs = every_job()
    place = jobs[0].address
    sent = pickle.dumps(place)
    monkeypatch.setattr(address._REGISTRY, "_held", {})
    for job in jobs:
        with pytest.raises(colonnade.InvalidInputError, match="storage options of vault://lake"):
            run_sent(job)
    pickle.loads(sent)
    for job in jobs:
        run_sent(job)


def test_no_job_plan_history_object_or_log_shows_a_secret(
    files: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    jobs = every_job()
    texts = [repr(job) + str(job) + job.model_dump_json() for job in jobs]
    for job in jobs:
        run_sent(job)
    table = colonnade.open(PATH, storage_options=OPTIONS)
    table.delete("id < 5")
    table.optimize().executeCompaction()
    report, history = table.verify(4), list(table.history())
    plan = plan_scan(table._log.rowsets.view(table._state, None, None), 1, ["id"])
    place = table._location.address
    assert place == StoreAddress.of(PATH, OPTIONS)
    for shown in (table, table._location, table._log.store, place, report, history, plan):
        texts += [repr(shown), str(shown)]
    texts += [table.path, plan.to_json(), json.dumps(place.url), caplog.text]
    assert not [text for text in texts if SECRET in text]
    stored = [bytes(files.cat_file(path)) for path in files.find("/lake")]
    assert len(stored) > 5
    assert not [data for data in stored if SECRET.encode() in data]


@pytest.mark.parametrize(
    "act",
    [
        lambda options: colonnade.open(PATH, options),
        lambda options: colonnade.create(PATH, ROWS.schema, storage_options=options),
        lambda options: colonnade.open_database(PATH, options),
        lambda options: colonnade.create_database("vault://lake", options),
        lambda options: colonnade.verify("vault://none", storage_options=options),
    ],
)
def test_no_error_shows_a_secret(act: Any) -> None:
    make_table()
    with pytest.raises(colonnade.ColonnadeError, match="vault://") as refused:
        act({"secret": f"wrong {SECRET}"})
    assert SECRET not in str(refused.value) + repr(refused.value)
