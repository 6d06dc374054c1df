"""Answer the Java source's requests about rows that expire some time after their write.

Spark fills the column with the time, so that constraints, generated columns, partitions and the
sort key see it. Guide: docs/lifetimes.md#the-rows-of-one-write
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from colonnade.manifests.errors import InvalidInputError
from colonnade.spark_ext.options import parse_write_options
from colonnade.spark_ext.planner.state.snapshots import SNAPSHOTS
from colonnade.spark_ext.planner.state.storage import place
from colonnade.spark_ext.planner.write.base import base_of, evolved
from colonnade.tableformat.write.expiry import expiry_of
from colonnade.tableformat.write.job import WriteJob


def expiring_rows(args: Mapping[str, Any]) -> dict[str, Any]:
    """Return which `column` says when new rows expire, and the time to store in other rows.

    `path`, `seen`, `options` and `evolving` are those of `plan_write`, and `options` has a time to
    live. The reply has the time as `stored`, in the unit of the column. Raises the
    errors of `expiry_of`.
    """
    options = parse_write_options({**args["options"], "path": args["path"]})
    location, base = base_of(place(options.path, options.storage), args["seen"], args.get("query"))
    state, _ = evolved(location, base, args.get("evolving"))
    assert state is not None  # the statement has read the table
    assert base is not None  # only columns make a state of a base
    table = location.require(state)
    time = SNAPSHOTS.agreed(location.store, base, table, args.get("query"))
    expires = expiry_of(table, options.settings, time.present_ms)
    assert expires is not None  # the rule asks only where the option is given
    return {"column": expires.column.name, "stored": expires.stored}


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


OPS = {"expiring_rows": expiring_rows}
