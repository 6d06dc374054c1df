"""Verify a whole database, or some of its tables, on threads.

Spec: docs/verify.md
"""

from __future__ import annotations

import os
import re
import time
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

from colonnade.manifests.errors import ColonnadeError, InvalidInputError
from colonnade.manifests.log.log import Log
from colonnade.manifests.object_names import MANIFEST
from colonnade.manifests.state.rowset_ids import warn_of_end
from colonnade.manifests.state.snapshot import LiveRowSet, Snapshot, TableState
from colonnade.manifests.store import ObjectStore, StoreAddress, StorePath
from colonnade.manifests.vacuum.run import VacuumRequest, plan_vacuum, read_used_objects
from colonnade.tableformat.jobs import JobRunner, run_in_order
from colonnade.tableformat.location import StorageOptions, find_store
from colonnade.tableformat.progress import step
from colonnade.tableformat.verify.findings import DEPTHS, Finding, VerifyReport
from colonnade.tableformat.verify.job import Unit, VerifyRunner, plan_jobs
from colonnade.tableformat.verify.key_check import check_keys
from colonnade.tableformat.verify.log_check import LogCheck, check_files
from colonnade.tableformat.verify.rowset_check import check_job

_JOBS_A_WORKER = 4
"""Several jobs for each worker, so that no worker idles for long and progress is visible."""

_TRIES = 5
"""How often the log is read again because vacuum removed epochs meanwhile."""


def verify(
    log: Log,
    depth: int = 3,
    *,
    tables: Collection[str] | None = None,
    epoch: int | None = None,
    threads: int | None = None,
    elsewhere: VerifyRunner | None = None,
) -> VerifyReport:
    """Find damage; see `ArrowDatabase.verify`."""
    if depth not in DEPTHS:
        raise InvalidInputError(
            f"A depth of verification is 1 (log), 2 (indexes), 3 (checksums) or 4 (values), not"
            f" {depth!r}."
        )
    log, start = log.uncached, time.monotonic()
    seen = _look(log, depth, tables, epoch)
    findings = seen.findings
    read = 0
    if depth > 1:
        damaged = {(each.table, each.rowset, each.epoch) for each in findings}
        there = [u for u in seen.units if (u.table.name, u.rowset.id, u.epoch) not in damaged]
        if elsewhere is None:
            elsewhere = _here(log, threads or os.cpu_count() or 1)
        found, read = _check_rowsets(log.store.address, there, depth, elsewhere)
        findings += found
        if depth == max(DEPTHS):
            findings += _check_keys(log, seen.tables, there, findings)
    if findings:
        _require_kept(log)
    return VerifyReport(
        depth=depth,
        epoch=None if seen.state is None else seen.state.epoch,
        findings=tuple(_still_named(log, seen.newest, _distinct(findings))),
        tables=len(seen.tables),
        rowsets=len(seen.units),
        rows=sum(unit.rowset.entry.rows for unit in seen.units),
        bytes=read,
        seconds=time.monotonic() - start,
        leftovers=_leftovers(log),
        warnings=tuple(said for each in seen.tables if (said := warn_of_end(each))),
    )


def verify_path(
    path: StorePath,
    depth: int = 3,
    *,
    tables: Collection[str] | None = None,
    threads: int | None = None,
    storage_options: StorageOptions | None = None,
    filesystem: Any = None,
    elsewhere: VerifyRunner | None = None,
) -> VerifyReport:
    """Find damage in the database at `path`, even if it cannot be opened any more.

    See `ArrowDatabase.verify`. Raises NotFoundError when no database exists.
    """
    store = find_store(StoreAddress.of(path, storage_options, filesystem=filesystem))
    return verify(Log(store), depth, tables=tables, threads=threads, elsewhere=elsewhere)


def find_damage(log: Log, table: TableState, rowsets: Sequence[LiveRowSet]) -> list[Finding]:
    """Return everything that is wrong with some RowSets, at every depth. Reads all of them."""
    log = log.uncached
    sizes, folders = _sizes(log.store)
    units = [Unit(table, rowset) for rowset in rowsets]
    found, _ = _check_rowsets(log.store.address, units, max(DEPTHS), _here(log, 1))
    return [*found, *(f for unit in units for f in check_files(unit, sizes, folders))]


@dataclass(frozen=True, slots=True)
class _Scope:
    """What the log and a listing say: `state` is the state to verify, `units` its RowSets."""

    newest: Snapshot | None
    state: Snapshot | None
    tables: Sequence[TableState]
    units: list[Unit]
    findings: list[Finding]


def _look(log: Log, depth: int, tables: Collection[str] | None, epoch: int | None) -> _Scope:
    """Check the log and the files; again when vacuum removed some of them meanwhile."""
    for _ in range(_TRIES):
        seen = _look_once(log, depth, tables, epoch)
        if not seen.findings or not _has_let_go(log, seen.newest):
            break
    return seen


def _look_once(log: Log, depth: int, tables: Collection[str] | None, epoch: int | None) -> _Scope:
    check = LogCheck(log.reader, origins=depth > 1).run()
    if check.state is not None:
        log.reader.require_live(check.state)
    state = check.state if epoch is None else log.reader.read_at(epoch)
    chosen = _chosen(state, tables)
    sizes, folders = _sizes(log.store)
    units = [unit for table in chosen for unit in _units(check, table)]
    if state is not None and epoch is None:
        units += _older(check, state, units, None if tables is None else chosen)
    missing = [f for unit in units for f in check_files(unit, sizes, folders)]
    return _Scope(check.state, state, chosen, units, [*check.findings, *missing])


def _require_kept(log: Log) -> None:
    """Raise NotFoundError if the database was dropped: what is missing was removed on purpose."""
    try:
        dropped = log.reader.is_dropped()
    except ColonnadeError:
        return  # The findings say what is wrong with the log.
    if dropped:
        log.reader.read_head()


def _has_let_go(log: Log, state: Snapshot | None) -> bool:
    """Return whether vacuum has removed epochs since a state."""
    if state is None:
        return False
    try:
        head = log.reader.refresh(state)
    except ColonnadeError:
        return False
    return (head.floor, head.anchors, head.anchor_list) != (
        state.floor,
        state.anchors,
        state.anchor_list,
    )


def _still_named(log: Log, newest: Snapshot | None, findings: list[Finding]) -> list[Finding]:
    """Return the findings without RowSets that vacuum could remove during the check."""
    for _ in range(_TRIES):
        if not findings or not _has_let_go(log, newest):
            break
        try:
            newest = log.reader.read_head()
            used = read_used_objects(log)
        except ColonnadeError:
            continue  # Another vacuum may have removed what this has read.
        return [each for each in findings if _is_of_what_stays(each, used)]
    return findings


def _is_of_what_stays(finding: Finding, used: set[str]) -> bool:
    """Return whether a finding is about the log, including inline RowSets, or an object in use."""
    if finding.file is None or (finding.rowset is None and finding.file.startswith(MANIFEST)):
        return True
    return not used.isdisjoint(re.split("[/.]", finding.file))


def _chosen(state: Snapshot | None, tables: Collection[str] | None) -> Sequence[TableState]:
    """Return the chosen tables with their static values.

    Raises NotFoundError that lists the existing tables.
    """
    if state is None:
        return ()
    if tables is None:
        return sorted(state.tables.values(), key=lambda table: table.name)
    named = [state.table(name) for name in tables]
    statics = [table.statics for table in named if table.statics is not None]
    return [*{table.id: table for table in (*named, *statics)}.values()]


def _sizes(store: ObjectStore) -> tuple[dict[str, int], dict[str, int]]:
    """Return the bytes of each file, and of all files in each folder."""
    sizes = {info.name: info.size for info in store.list("")}
    folders: defaultdict[str, int] = defaultdict(int)
    for name, size in sizes.items():
        folders[name.rpartition("/")[0]] += size
    return sizes, folders


def _units(check: LogCheck, table: TableState) -> Iterator[Unit]:
    for rowset in check.read_rowsets(table) or ():
        yield Unit(table, rowset)


def _older(
    check: LogCheck, state: Snapshot, known: Sequence[Unit], tables: Sequence[TableState] | None
) -> list[Unit]:
    """Return the RowSets that only tags and pins keep, of some tables or of all."""
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
                found += [unit._replace(epoch=epoch) for unit in more]
    return found


def _identity(unit: Unit) -> tuple[str, str, str | None, tuple[str, ...]]:
    """Return what identifies the data of a RowSet.

    Its id is not enough, because a table that is made again gives the same ids to new RowSets.
    """
    table, rowset, _ = unit
    vector, replacements = rowset.vector, rowset.replacements
    deleted = None if vector is None else vector.model_dump_json()
    return table.id, rowset.entry.object, deleted, tuple(each.object for each in replacements)


def _distinct(findings: Sequence[Finding]) -> list[Finding]:
    """Remove repeated findings about kept epochs, and mark damage that only a kept epoch has."""
    found: dict[Finding, int | None] = {}
    for each in findings:
        found.setdefault(replace(each, epoch=None), each.epoch)
    return [
        each
        if epoch is None
        else replace(each, problem=f"{each.problem} Only kept epoch {epoch} needs it.", epoch=epoch)
        for each, epoch in found.items()
    ]


def _check_rowsets(
    address: StoreAddress,
    units: Sequence[Unit],
    depth: int,
    runner: VerifyRunner,
) -> tuple[list[Finding], int]:
    findings: list[Finding] = []
    read = 0
    total = sum(unit.rowset.byte_count for unit in units)
    jobs = list(plan_jobs(address, depth, units, _JOBS_A_WORKER * runner.workers))
    names = {unit.table.name for unit in units}
    only = names.pop() if len(names) == 1 else None
    with (
        step("verify", only, "bytes", total) as advance,
        closing(run_in_order(runner, jobs)) as outcomes,
    ):
        for job, outcome in zip(jobs, outcomes, strict=True):
            findings += outcome.findings
            read += outcome.bytes
            advance(job.bytes)
    return findings, read


def _check_keys(
    log: Log, tables: Sequence[TableState], units: Sequence[Unit], known: Sequence[Finding]
) -> list[Finding]:
    """Check the primary keys of tables at the state to verify. Damaged RowSets are left out."""
    damaged = {(each.table, each.rowset) for each in known}
    sound = [u for u in units if u.epoch is None and (u.table.name, u.rowset.id) not in damaged]
    findings: list[Finding] = []
    for table in tables:
        own = [unit.rowset for unit in sound if unit.table.id == table.id]
        findings += check_keys(log.store, table, own)
    return findings


def _here(log: Log, workers: int) -> VerifyRunner:
    return JobRunner(lambda job, stop: check_job(job, log.store, stop), workers)


def _leftovers(log: Log) -> dict[str, int] | None:
    try:
        planned = plan_vacuum(log, VacuumRequest(dry_run=True))
    except ColonnadeError:
        return None
    return {each.name: each.bytes for each in planned.files}
