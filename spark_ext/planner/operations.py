"""All operations of the planner by name."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any

from colonnade.manifests.version import VERSION
from colonnade.spark_ext.planner.catalog import databases, evolution, names, removal
from colonnade.spark_ext.planner.outdated import Operation, unless_outdated
from colonnade.spark_ext.planner.procedures import by_name
from colonnade.spark_ext.planner.read import load, metadata, reads
from colonnade.spark_ext.planner.write import (
    column_updates,
    expiry,
    fills,
    identity,
    merging,
    rows,
    writes,
)

PROTOCOL = 1


def describe(args: Mapping[str, Any]) -> dict[str, Any]:
    """Describe this planner; the planner also sends this before the first request."""
    return {
        "version": VERSION,
        "protocol": PROTOCOL,
        "pid": os.getpid(),
        "python": sys.executable,
    }


def echo(args: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments, to measure what a request costs."""
    return dict(args)


OPS: dict[str, Operation] = {
    "describe": describe,
    "echo": echo,
    **databases.OPS,
    **evolution.OPS,
    **names.OPS,
    **identity.OPS,
    **metadata.OPS,
    **by_name.OPS,
    **removal.OPS,
    **{
        name: unless_outdated(op)
        for name, op in {
            **column_updates.OPS,
            **expiry.OPS,
            **fills.OPS,
            **load.OPS,
            **merging.OPS,
            **reads.OPS,
            **rows.OPS,
            **writes.OPS,
        }.items()
    },
}

LOOKING = frozenset(
    {
        *load.OPS,
        *reads.OPS,
        *metadata.OPS,
        *names.OPS,
        *column_updates.OPS,
        *merging.OPS,
        *("describe", "echo", "names_url", "procedures", "table_exists", "list_tables"),
        *("database_exists", "list_databases", "check_write_options", "plan_write", "can_delete"),
        *("may_widen", "refuse_table_options"),
    }
)
"""The operations that change no table. After any other one, queries look for newer epochs again."""
