"""A whole database, or some tables of it, on threads.

Spec: docs/verify.md
"""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor

from manifests.errors import ColonnadeError, CorruptionError, InvalidInputError
from manifests.log import Log
from manifests.snapshot import LiveRowSet, Snapshot, TableState
from manifests.store import ObjectStore, open_store
from manifests.vacuum.run import VacuumRequest, plan_vacuum
from tableformat.location import StorageOptions, locate_existing
from tableformat.verify.findings import DEPTHS, Finding, VerifyReport
from tableformat.verify.log_check import LogCheck, check_files
from tableformat.verify.rowset_check import RowSetCheck

Progress = Callable[[int, int], None]
"""Told the stored bytes of the RowSets that are done, and of all."""


def verify(
    log: Log,
    depth: int = 3,
    *,
    tables: Collection[str] | None = None,
    epoch: int | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
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
    units: list[tuple[TableState, LiveRowSet]] = []
    for table in chosen:
        entries = check.read_rowsets(table)
        units += [(table, rowset) for rowset in entries or ()]
    missing = [f for table, rowset in units for f in check_files(table, rowset, sizes, folders)]
    findings += missing
    read = 0
    if depth > 1:
        gone = {(each.table, each.rowset) for each in missing}
        there = [unit for unit in units if (unit[0].name, unit[1].id) not in gone]
        found, read = _check_rowsets(log.store, there, depth, threads, progress)
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
) -> VerifyReport:
    """Look for damage in the database at `path`, also where it cannot be opened any more.

    See `ArrowDatabase.verify`. Raises NotFoundError where no database is.
    """
    try:
        store = locate_existing(path, storage_options).store
    except CorruptionError:
        store = open_store(path, storage_options)
    return verify(Log(store), depth, tables=tables, threads=threads, progress=progress)


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


def _check_rowsets(
    store: ObjectStore,
    units: Sequence[tuple[TableState, LiveRowSet]],
    depth: int,
    threads: int | None,
    progress: Progress | None,
) -> tuple[list[Finding], int]:
    findings: list[Finding] = []
    read = done = 0
    total = sum(rowset.entry.bytes for _, rowset in units)
    with ThreadPoolExecutor(threads or os.cpu_count() or 1, "colonnade-verify") as pool:
        checks = pool.map(lambda unit: RowSetCheck(store, unit[0], unit[1], depth).run(), units)
        for check in checks:
            findings += check.findings
            read += check.bytes
            done += check.rowset.entry.bytes
            if progress is not None:
                progress(done, total)
    return findings, read


def _leftovers(log: Log) -> dict[str, int] | None:
    try:
        planned = plan_vacuum(log, VacuumRequest(dry_run=True))
    except ColonnadeError:
        return None
    return {each.name: each.bytes for each in planned.files}
