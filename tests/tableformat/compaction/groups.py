"""Groups of RowSets to compact, of every kind."""

from __future__ import annotations

from colonnade.manifests.compaction.plan import GroupKind
from colonnade.tableformat.compaction.commit import commit_job
from colonnade.tableformat.compaction.job import CompactionOutcome
from colonnade.tableformat.compaction.run import run_job
from colonnade.tableformat.table.table import ArrowTable
from tests.compaction_tables import jobs


def compacted(
    table: ArrowTable, kind: GroupKind, order_by: tuple[int, ...] = ()
) -> CompactionOutcome:
    """Rewrite a table in one group."""
    base, [job] = jobs(table, kind, order_by)
    outcome = run_job(job, table._location.store)
    outcome = CompactionOutcome.model_validate_json(outcome.model_dump_json())
    after, epoch = commit_job(table._log, base, job, outcome)
    assert epoch is not None
    assert after.epoch == base.epoch + 1
    table.refresh()
    return outcome
