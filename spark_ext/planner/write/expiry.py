"""Answer the Java source's requests about rows that expire some time after their write.

Spark fills the column with the time, so that constraints, generated columns, partitions and the
sort key see it. Guide: docs/lifetimes.md#the-rows-of-one-write
"""

from __future__ import annotations

from collections.abc import Collection

from colonnade.manifests.errors import InvalidInputError
from colonnade.spark_ext.planner.messages.base import operation
from colonnade.spark_ext.planner.messages.writes import Expiring, ExpiringRows
from colonnade.spark_ext.planner.state.snapshots import SNAPSHOTS
from colonnade.spark_ext.planner.write.base import analyzed
from colonnade.tableformat.write.expiry import expiry_of
from colonnade.tableformat.write.job import WriteJob


@operation
def expiring_rows(request: ExpiringRows) -> Expiring:
    """Raise the errors of `expiry_of`."""
    options, location, base, table = analyzed(request)
    time = SNAPSHOTS.statement_time(location.store, base, table, request.view)
    expires = expiry_of(table, options.settings, time.present_ms)
    assert expires is not None  # the rule asks only where the option is given
    return Expiring(column=expires.column.name, stored=expires.stored)


def require_expiring(job: WriteJob, filled: Collection[str] | None) -> None:
    """Refuse rows unless Spark fills in when they expire, where the job says it.

    `filled` are the columns that it fills, or None for a statement without rows. Raises
    InvalidInputError.
    """
    expires = job.expiry()
    if expires is None or filled is None or expires.column.name in filled:
        return
    if job.create is not None:
        raise InvalidInputError(
            f"Table {job.target.name!r} does not exist yet, so option ttl cannot fill its column"
            f" {expires.column.name!r}; create the table first."
        )
    raise InvalidInputError(
        "Option ttl needs the jar and its extension, which colonnade.configure(builder) adds to a"
        " session."
    )
