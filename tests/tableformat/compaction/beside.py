"""Tables that are compacted beside writers."""

from __future__ import annotations

from collections.abc import Callable

from colonnade.tableformat.compaction import execute
from colonnade.tableformat.compaction.job import CompactionJob, CompactionOutcome
from colonnade.tableformat.compaction.run import run_job
from colonnade.tableformat.jobs import JobRunner, Stop
from colonnade.tableformat.table.table import ArrowTable
from tests.compaction_tables import (
    another,
    jobs,
)


def run_beside(
    table: ArrowTable, what: Callable[[ArrowTable], object], groups: int = 1, times: int = 1
) -> execute.CompactionReport:
    """Compact groups one after another; `what` runs while the first ones are at work."""
    _, planned = jobs(table, "copy", groups=groups)
    plan = table.optimize().plan()
    plan = plan.model_copy(update={"groups": tuple(job.group for job in planned)})
    runs: list[int] = []

    def run(job: CompactionJob, stop: Stop) -> CompactionOutcome:
        outcome = run_job(job, table._location.store)
        runs.append(len(job.view.rowsets))
        if len(runs) <= times:
            what(another(table))
        return outcome

    return execute.execute_plan(table._log, table._refresh(), plan, runner=JobRunner(run, 1))[1]
