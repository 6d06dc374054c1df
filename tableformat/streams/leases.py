"""Leases of streams: a vacuum keeps the epochs that a stream has not read yet.

A stream takes a lease at its place when it plans a trigger, for as long as the table keeps its
epochs. It moves the lease once half of that time is over. So a stream that stops finds its epochs
for at least half of the retention, and a stream that runs costs few epochs of the log.
"""

from __future__ import annotations

from hashlib import sha256

from colonnade.manifests.commit.change import Change
from colonnade.manifests.ids import new_transaction_id
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.operations import Lease
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.manifests.vacuum.retention import retention_of
from colonnade.tableformat.streams.offsets import Offset

_HOUR_MS = 3_600_000


def lease_name(checkpoint: str) -> str:
    """Return how the job ids of the leases of a stream begin, which every restart has."""
    return sha256(checkpoint.encode()).hexdigest()[:10]


def lease_ms(table: TableState) -> int:
    """Return how long a lease lasts: as long as the table keeps an epoch, and at least an hour."""
    return int(max(1.0, retention_of(table.properties).hours) * _HOUR_MS)


def renew_lease(
    log: Log, head: Snapshot, table: TableState, name: str, start: Offset
) -> Snapshot | None:
    """Take the lease of a stream at its place, or move it there, if half of its time is over.

    `name` is that of `lease_name`. Each place has a job id of its own, so that two copies of a
    stream cannot contradict each other. Returns the state after the new lease, or None if none was
    due, or if retention has removed the epochs. Raises the errors of `Log.commit`.
    """
    epoch = max(0, min(start.epoch - (not start.in_snapshot), head.epoch))
    present, lasts = log.agreement.time(head).present_ms, lease_ms(table)
    own = [each for each in head.leases.values() if each.job.startswith(name)]
    if epoch < head.floor or any(each.until_ms - present > lasts // 2 for each in own):
        return None
    job = f"{name}{epoch % 16**6:06x}"
    ends = (each.model_copy(update={"until_ms": 0}) for each in own if each.job != job)
    new = Lease(job=job, epoch=epoch, until_ms=present + lasts)
    return log.commit(Change(new_transaction_id(), "lease", (*ends, new), fresh=True), head)
