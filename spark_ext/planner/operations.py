"""All operations of the planner by name."""

from __future__ import annotations

import os
import sys
from typing import Any

from colonnade.manifests.version import VERSION
from colonnade.spark_ext.planner.catalog import databases, evolution, names, removal
from colonnade.spark_ext.planner.messages.base import Operation, operation, operations_of
from colonnade.spark_ext.planner.messages.procedures import Describe, Description
from colonnade.spark_ext.planner.outdated_requests import unless_outdated
from colonnade.spark_ext.planner.procedures import by_name as procedures
from colonnade.spark_ext.planner.read import feed, load, metadata, reads, streams
from colonnade.spark_ext.planner.write import (
    column_updates,
    deletes,
    expiry,
    fills,
    identity,
    merging,
    rows,
    stream_batches,
    writes,
)

PROTOCOL = 1


@operation
def describe(_: Describe) -> Description:
    """Describe this planner; the planner also sends this before the first request."""
    return Description(version=VERSION, protocol=PROTOCOL, pid=os.getpid(), python=sys.executable)


_KNOWN = operations_of(databases, evolution, names, identity, metadata, procedures, removal)
_READING = operations_of(
    column_updates,
    deletes,
    expiry,
    feed,
    fills,
    load,
    merging,
    reads,
    rows,
    stream_batches,
    streams,
    writes,
)

OPS: dict[str, Operation[Any, Any]] = {
    describe.name: describe,
    **_KNOWN,
    **{name: unless_outdated(each) for name, each in _READING.items()},
}
