"""Running the groups of a plan beside each other, and committing each as soon as it is done."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any

from manifests.compaction.plan import CompactionPlan, size_text
from manifests.entries import Count, Epoch
from manifests.errors import ConflictError
from manifests.log import Log
from manifests.schema import Model
from manifests.snapshot import Snapshot
from tableformat.compaction.commit import commit_job
from tableformat.compaction.job import CompactionJob, CompactionOutcome, plan_job

Run = Callable[[CompactionJob], CompactionOutcome]


class CompactionReport(Model):
    """What one run did. Bytes are stored ones; `epoch` is the newest that it has seen.

    `conflicts` says of each group that was dropped why: others rewrote the same RowSets first.
    `bytes_copied` are the part of `bytes_written` that was not decoded.
    """

    table: str
    epoch: Count
    groups: Count = 0
    groups_waiting: Count = 0
    rowsets_removed: Count = 0
    rowsets_added: Count = 0
    rows_dropped: Count = 0
    bytes_read: Count = 0
    bytes_copied: Count = 0
    bytes_written: Count = 0
    seconds: float = 0.0
    conflicts: tuple[str, ...] = ()

    def __str__(self) -> str:
        if not self.groups and not self.conflicts:
            return f"{self.table}: nothing to compact."
        text = (
            f"{self.table}: {self.rowsets_removed} RowSets became {self.rowsets_added} in"
            f" {self.groups} groups; {self.rows_dropped:,} deleted rows dropped,"
            f" {size_text(self.bytes_read)} read, {size_text(self.bytes_written)} written"
            f" ({size_text(self.bytes_copied)} copied), {self.seconds:.1f} s."
        )
        if self.groups_waiting:
            text += f" {self.groups_waiting} groups wait for the next run."
        return "\n".join([text, *(f"Dropped: {conflict}" for conflict in self.conflicts)])


def execute_plan(
    log: Log,
    base: Snapshot,
    plan: CompactionPlan,
    order_by: Sequence[int] = (),
    *,
    run: Run,
    workers: int,
) -> tuple[Snapshot, CompactionReport]:
    """Run the groups of a plan that was made on `base` or before, at most `workers` at once.

    Each is planned on the state as it is when its turn comes, and committed when it is done, so
    that a run that is killed keeps what it has finished. A group whose RowSets others rewrote is
    dropped. Where one fails, those that are running are still committed, then its error is raised.
    """
    begin = time.monotonic()
    report = CompactionReport(table=plan.name, epoch=base.epoch, groups_waiting=len(plan.waiting))
    head, failure = base, None
    dropped: list[ConflictError] = []
    jobs = _planned(log, base, plan, order_by, dropped)
    for job, planned_on, done in _results(jobs, run, workers):
        try:
            head, epoch = commit_job(log, planned_on, job, done.result())
            report = _counted(report, head, epoch)
        except ConflictError as conflict:
            dropped.append(conflict)
        except Exception as error:
            failure = failure or error
    if failure is not None:
        raise failure
    seconds = round(time.monotonic() - begin, 3)
    conflicts = tuple(map(str, dropped))
    return head, report.model_copy(update={"seconds": seconds, "conflicts": conflicts})


def _counted(report: CompactionReport, head: Snapshot, epoch: Epoch | None) -> CompactionReport:
    counts = {} if epoch is None else dict(epoch.metrics or {})
    summed: dict[str, Any] = {n: getattr(report, n) + count for n, count in counts.items()}
    return report.model_copy(update={**summed, "groups": report.groups + 1, "epoch": head.epoch})


def _planned(
    log: Log,
    base: Snapshot,
    plan: CompactionPlan,
    order_by: Sequence[int],
    dropped: list[ConflictError],
) -> Iterator[tuple[CompactionJob, Snapshot]]:
    """The jobs of a plan, each with the state that it is planned on, when its turn comes."""
    for group in plan.groups:
        base = log.refresh(base)
        try:
            yield plan_job(log, base, plan, group, order_by), base
        except ConflictError as conflict:
            dropped.append(conflict)


def _results(
    jobs: Iterator[tuple[CompactionJob, Snapshot]], run: Run, workers: int
) -> Iterator[tuple[CompactionJob, Snapshot, Future[CompactionOutcome]]]:
    """Yield jobs as they end; the next begins when one has been dealt with.

    After a failure none begins any more.
    """
    with ThreadPoolExecutor(workers, thread_name_prefix="compaction") as pool:
        running: dict[Future[CompactionOutcome], tuple[CompactionJob, Snapshot]] = {}
        failed = False
        while True:
            while not failed and len(running) < workers and (found := next(jobs, None)):
                running[pool.submit(run, found[0])] = found
            if not running:
                return
            for done in wait(running, return_when=FIRST_COMPLETED).done:
                failed = failed or done.exception() is not None
                yield (*running.pop(done), done)
