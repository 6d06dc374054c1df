"""Leases: vacuum keeps what a long job reads and writes, whatever the retention.

Spec: docs/spec/vacuum.md#retention
"""

from __future__ import annotations

import logging

from colonnade.manifests.commit.change import Change
from colonnade.manifests.errors import ColonnadeError
from colonnade.manifests.ids import new_transaction_id
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.operations import Lease
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.tableformat.compaction.job import CompactionJob
from colonnade.tableformat.rowset.write_options import MIB

LEASED_BYTES = 256 * MIB
"""A job that reads at least this many stored bytes takes a lease, which costs an epoch."""

_LEASE_MS = 24 * 3_600_000
_log = logging.getLogger(__name__)


def needs_lease(job: CompactionJob) -> bool:
    """Return whether a job is long enough for a lease."""
    return job.group.bytes_in >= LEASED_BYTES


def take_lease(log: Log, base: Snapshot, job: CompactionJob) -> Snapshot:
    """Commit a lease of one day for a job that was planned on `base`. Raises as `Log.commit`."""
    until = log.agreement.time(base).present_ms + _LEASE_MS
    return _commit(log, base, Lease(job=job.job_id, epoch=base.epoch, until_ms=until))


def end_of_lease(job: CompactionJob) -> tuple[Lease, ...]:
    """Return the operations that end a job's lease with its epoch, if it has one."""
    return (Lease(job=job.job_id, epoch=job.base, until_ms=0),) if needs_lease(job) else ()


def give_up_lease(log: Log, base: Snapshot, job: CompactionJob) -> None:
    """End the lease of a job that failed. If this fails, the lease ends when its time is over."""
    try:
        for lease in end_of_lease(job):
            _commit(log, base, lease)
    except ColonnadeError as error:
        _log.warning("The lease of compaction %s stays until it expires: %s", job.job_id, error)


def _commit(log: Log, base: Snapshot, lease: Lease) -> Snapshot:
    return log.commit(Change(new_transaction_id(), "lease", (lease,), fresh=True), base)
