"""A whole database, or some tables of it, on threads.

Spec: docs/verify.md
"""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

from manifests.errors import ColonnadeError, CorruptionError, InvalidInputError
from manifests.log import Log
from manifests.snapshot import Snapshot, TableState
from manifests.store import ObjectStore, open_store
from manifests.vacuum.run import VacuumRequest, plan_vacuum
from tableformat.location import StorageOptions, locate_existing
from tableformat.verify.findings import DEPTHS, Finding, VerifyReport
from tableformat.verify.job import Unit, VerifyJob, VerifyOutcome, plan_jobs
from tableformat.verify.log_check import LogCheck, check_files
from tableformat.verify.rowset_check import check_job

Progress = Callable[[int, int], None]
"""Told the stored bytes of the RowSets that are done, and of all."""

_JOBS_A_WORKER = 4
"""So that none waits long for the last one, and progress moves."""


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Another place than this process to look at RowSets: `run` does a job, `workers` at once."""

    run: Callable[[VerifyJob], VerifyOutcome]
    workers: int


def verify(
    log: Log,
    depth: int = 3,
    *,
    tables: Collection[str] | None = None,
    epoch: int | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
    elsewhere: Elsewhere | None = None,
) -> VerifyReport:
    """Look for damage; see `ArrowDatabase.verify`."""
    if depth not in DEPTHS:
        raise InvalidInputError(
            f"A depth of verification is 1 (log), 2 (indexes), 3 (checksums) or 4 (values), not"
            f" {depth!r}."
        )
    start = time.monotonic()
    check = LogCheck(log).run()
    findings = check.findings
    state = check.state if epoch is None else log.read_at(epoch)
    chosen = _chosen(state, tables)
    sizes, folders = _sizes(log.store)
    units = [unit for table in chosen for unit in _units(check, table)]
    if state is not None and epoch is None:
        units += _older(check, state, units, None if tables is None else chosen)
    missing = [f for table, rowset in units for f in check_files(table, rowset, sizes, folders)]
    findings += missing
    read = 0
    if depth > 1:
        gone = {(each.table, each.rowset) for each in missing}
        there = [unit for unit in units if (unit[0].name, unit[1].id) not in gone]
        if elsewhere is None:
            run = partial(check_job, store=log.store)
            elsewhere = Elsewhere(run, threads or os.cpu_count() or 1)
        found, read = _check_rowsets(log.store.url, there, depth, elsewhere, progress)
        findings += found
    return VerifyReport(
        depth=depth,
        epoch=None if state is None else state.epoch,
        findings=tuple(findings),
        tables=len(chosen),
        rowsets=len(units),
        rows=sum(rowset.entry.rows for _, rowset in units),
        bytes=read,
        seconds=time.monotonic() - start,
        leftovers=_leftovers(log),
    )


def verify_path(
    path: str | os.PathLike[str],
    depth: int = 3,
    *,
    tables: Collection[str] | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
    storage_options: StorageOptions | None = None,
    elsewhere: Elsewhere | None = None,
) -> VerifyReport:
    """Look for damage in the database at `path`, also where it cannot be opened any more.

    See `ArrowDatabase.verify`. Raises NotFoundError where no database is.
    """
    try:
        store = locate_existing(path, storage_options).store
    except CorruptionError:
        store = open_store(path, storage_options)
    return verify(
        Log(store), depth, tables=tables, threads=threads, progress=progress, elsewhere=elsewhere
    )


def _chosen(state: Snapshot | None, tables: Collection[str] | None) -> Sequence[TableState]:
    """Raises NotFoundError that lists the tables there are."""
    if state is None:
        return ()
    if tables is None:
        return sorted(state.tables.values(), key=lambda table: table.name)
    return [state.table(name) for name in tables]


def _sizes(store: ObjectStore) -> tuple[dict[str, int], dict[str, int]]:
    """The bytes of each file, and of all files in each folder."""
    sizes = {info.name: info.size for info in store.list("")}
    folders: defaultdict[str, int] = defaultdict(int)
    for name, size in sizes.items():
        folders[name.rpartition("/")[0]] += size
    return sizes, folders


def _units(check: LogCheck, table: TableState) -> Iterator[Unit]:
    for rowset in check.read_rowsets(table) or ():
        yield table, rowset


def _older(
    check: LogCheck, state: Snapshot, known: Sequence[Unit], tables: Sequence[TableState] | None
) -> list[Unit]:
    """What tags and pins keep beside the newest state, of some tables or of all."""
    seen = {_identity(unit) for unit in known}
    wanted = None if tables is None else {table.id for table in tables}
    found: list[Unit] = []
    named = {*state.tags.values(), *(pin.epoch for pin in state.pins.values())}
    for epoch in sorted(named - {state.epoch}, reverse=True):
        then = check.read_kept(epoch, state)
        for table in () if then is None else then.tables.values():
            if wanted is None or table.id in wanted:
                more = [unit for unit in _units(check, table) if _identity(unit) not in seen]
                seen.update(map(_identity, more))
                found += more
    return found


def _identity(unit: Unit) -> tuple[str, int, str | None]:
    table, rowset = unit
    vector = rowset.vector
    return table.id, rowset.id, None if vector is None else vector.model_dump_json()


def _check_rowsets(
    url: str, units: Sequence[Unit], depth: int, place: Elsewhere, progress: Progress | None
) -> tuple[list[Finding], int]:
    findings: list[Finding] = []
    read = done = 0
    total = sum(rowset.entry.bytes for _, rowset in units)
    jobs = list(plan_jobs(url, depth, units, _JOBS_A_WORKER * place.workers))
    with ThreadPoolExecutor(place.workers, "colonnade-verify") as pool:
        for job, outcome in zip(jobs, pool.map(place.run, jobs), strict=True):
            findings += outcome.findings
            read += outcome.bytes
            done += job.bytes
            if progress is not None:
                progress(done, total)
    return findings, read


def _leftovers(log: Log) -> dict[str, int] | None:
    try:
        planned = plan_vacuum(log, VacuumRequest(dry_run=True))
    except ColonnadeError:
        return None
    return {each.name: each.bytes for each in planned.files}
