"""All operations of the planner by name."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from typing import Any

from manifests.version import VERSION
from spark_ext.planner import catalog, metadata, procedures, reads, rows, writes

PROTOCOL = 1

Operation = Callable[[Mapping[str, Any]], dict[str, Any]]


def describe(args: Mapping[str, Any]) -> dict[str, Any]:
    """Who answers; also what the planner says first, before it is asked."""
    return {
        "version": VERSION,
        "protocol": PROTOCOL,
        "pid": os.getpid(),
        "python": sys.executable,
    }


def echo(args: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments themselves: what a request costs."""
    return dict(args)


OPS: dict[str, Operation] = {
    "describe": describe,
    "echo": echo,
    **catalog.OPS,
    **metadata.OPS,
    **procedures.OPS,
    **reads.OPS,
    **rows.OPS,
    **writes.OPS,
}
