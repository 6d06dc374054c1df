"""Run the groups of a plan in parallel, and commit each as soon as it is done."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any

from colonnade.manifests.commit.removals import removals_are_conflicts
from colonnade.manifests.compaction.plan import CompactionGroup, CompactionPlan
from colonnade.manifests.errors import ConflictError
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.entries import Count
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.model.schema import Model
from colonnade.manifests.public import public
from colonnade.manifests.sizes import size_text
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.tableformat.compaction.commit import OPERATION, commit_job
from colonnade.tableformat.compaction.job import (
    CompactionJob,
    CompactionOutcome,
    CompactionRunner,
    plan_job,
)
from colonnade.tableformat.compaction.lease import give_up_lease, needs_lease, take_lease
from colonnade.tableformat.jobs import Stop
from colonnade.tableformat.progress import Advance, step

TRIES = 3
"""How often a group is run when concurrent writers rewrite RowSets of it meanwhile."""


@public
class CompactionReport(Model):
    """What one run did. Bytes are stored bytes; `epoch` is the newest epoch that it has seen.

    `conflicts` has one sentence for each group that was dropped, because a concurrent writer
    rewrote its RowSets first. `bytes_copied` is the part of `bytes_written` that was not decoded.
    `reason` says why there was nothing to compact.
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
    reason: str = ""

    def __str__(self) -> str:
        if self.reason:
            return f"{self.table}: nothing to compact: {self.reason}."
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
    runner: CompactionRunner,
) -> tuple[Snapshot, CompactionReport]:
    """Run the groups of a plan that was made on `base` or before, in parallel as `runner` allows.

    Each group is planned on the newest state when its turn comes, and committed when it is done. So
    a run that is killed keeps what it has finished. When a concurrent writer rewrote or emptied
    RowSets of a group, the group is tried again with the remaining RowSets, and dropped when none
    remains. When a group fails, the running ones are still committed, then its error is raised. On
    KeyboardInterrupt the running groups are stopped, and those that finish anyway are committed.
    Then KeyboardInterrupt is raised again, and says what was kept.
    """
    begin = time.monotonic()
    queue = _Queue(log, base, plan, order_by)
    with step("compact", plan.name, "bytes", plan.bytes_in) as advance:
        execution = _Execution(log, queue, runner, base, plan, advance)
        execution.run()
    seconds = round(time.monotonic() - begin, 3)
    conflicts = tuple(map(str, queue.dropped))
    report = execution.report.model_copy(update={"seconds": seconds, "conflicts": conflicts})
    return execution.head, report


def _counted(report: CompactionReport, head: Snapshot, epoch: Epoch | None) -> CompactionReport:
    counts = {} if epoch is None else dict(epoch.metrics or {})
    summed: dict[str, Any] = {n: getattr(report, n) + count for n, count in counts.items()}
    return report.model_copy(update={**summed, "groups": report.groups + 1, "epoch": head.epoch})


@dataclass(frozen=True, slots=True)
class _Turn:
    """A group that runs: its job, the state it was planned on, and its earlier conflicts."""

    group: CompactionGroup
    job: CompactionJob
    base: Snapshot
    conflicts: tuple[ConflictError, ...]


class _Queue:
    """The groups that wait for their turn, and the conflicts of groups that were dropped."""

    def __init__(
        self, log: Log, base: Snapshot, plan: CompactionPlan, order_by: Sequence[int]
    ) -> None:
        self.dropped: list[ConflictError] = []
        self._log, self._base, self._plan, self._order_by = log, base, plan, order_by
        self._waiting: deque[tuple[CompactionGroup, tuple[ConflictError, ...]]] = deque(
            (group, ()) for group in plan.groups
        )

    def next(self) -> _Turn | None:
        """Return the next group that still has RowSets, planned on the newest state, or None."""
        while self._waiting:
            group, before = self._waiting.popleft()
            self._base = self._log.reader.refresh(self._base)
            try:
                with removals_are_conflicts(self._log.reader, OPERATION, self._base):
                    job = plan_job(self._log, self._base, self._plan, group, self._order_by)
            except ConflictError as conflict:
                self.dropped.append(before[0] if before else conflict)
                continue
            turn = _Turn(group, job, self._base, before)
            if needs_lease(job):
                self._base = take_lease(self._log, self._base, job)
            return turn
        return None

    def try_again(self, turn: _Turn, conflict: ConflictError) -> None:
        """Queue a group to run once more, or drop it after the last try."""
        before = (*turn.conflicts, conflict)
        if len(before) < TRIES:
            self._waiting.append((turn.group, before))
        else:
            self.dropped.append(conflict)


class _Execution:
    """Groups that run in parallel. `head` and `report` describe the state after the last commit."""

    def __init__(
        self,
        log: Log,
        queue: _Queue,
        runner: CompactionRunner,
        base: Snapshot,
        plan: CompactionPlan,
        advance: Advance,
    ) -> None:
        self.head = base
        self.report = CompactionReport(
            table=plan.name,
            epoch=base.epoch,
            groups_waiting=len(plan.waiting),
            reason=plan.reason,
        )
        self._log, self._queue, self._runner = log, queue, runner
        self._advance = advance
        self._group_count = len(plan.groups)
        self._begun = 0
        self._ended: deque[tuple[_Turn, CompactionOutcome | BaseException]] = deque()
        self._news: SimpleQueue[None] = SimpleQueue()
        self._stop = Stop()
        self._failure: BaseException | None = None
        self._sent = ""

    def run(self) -> None:
        """Run and commit all groups, or those that had begun before one failed."""
        with ThreadPoolExecutor(self._runner.workers, thread_name_prefix="compaction") as pool:
            try:
                self._run_groups(pool)
            except KeyboardInterrupt as interrupt:
                self._failure = interrupt
                self._stop.request()
                pool.shutdown()
                self._settle()
        if isinstance(self._failure, KeyboardInterrupt):
            raise KeyboardInterrupt(self._kept()) from self._failure
        if self._failure is not None:
            raise self._failure

    def _run_groups(self, pool: ThreadPoolExecutor) -> None:
        """Start and settle groups until none runs. After a failure no further group starts."""
        while True:
            while self._may_begin() and (turn := self._queue.next()):
                self._begun += 1
                pool.submit(self._do, turn)
            if not self._begun:
                return
            self._news.get()
            self._settle()

    def _may_begin(self) -> bool:
        return self._failure is None and self._begun < self._runner.workers

    def _do(self, turn: _Turn) -> None:
        # The result is kept by the thread that ran the job. An interrupt may come before the other
        # thread, which starts the groups, has recorded anything.
        result: CompactionOutcome | BaseException
        try:
            result = self._runner.run(turn.job, self._stop)
        except BaseException as error:  # the waiting thread raises it again
            result = error
        self._ended.append((turn, result))
        self._news.put(None)

    def _settle(self) -> None:
        """Commit the groups that have ended. Repeating an interrupted commit finds it done."""
        while self._ended:
            turn, result = self._ended[0]
            is_done = self._commit(turn, result)
            self._ended.popleft()
            self._begun -= 1
            if is_done:
                self._advance(turn.job.group.bytes_in)

    def _commit(self, turn: _Turn, result: CompactionOutcome | BaseException) -> bool:
        """Commit a group, and return whether it is done now."""
        try:
            with removals_are_conflicts(self._log.reader, OPERATION, turn.base):
                if isinstance(result, BaseException):
                    raise result
            # An interrupt may come between a commit and the record of it; the job is sent again.
            fresh, self._sent = self._sent != turn.job.transaction, turn.job.transaction
            self.head, epoch = commit_job(self._log, turn.base, turn.job, result, fresh=fresh)
            self.report = _counted(self.report, self.head, epoch)
        except ConflictError as conflict:
            give_up_lease(self._log, turn.base, turn.job)
            self._queue.try_again(turn, conflict)
            return False
        except Exception as error:
            give_up_lease(self._log, turn.base, turn.job)
            self._failure = self._failure or error
            return False
        return True

    def _kept(self) -> str:
        name = repr(self.report.table)
        if not self.report.groups:
            return f"Interrupted: table {name} is unchanged; no group of RowSets was done."
        return (
            f"Interrupted: {self.report.groups} of {self._group_count} groups of RowSets of table"
            f" {name} are compacted and stay so; the other groups are unchanged."
        )
