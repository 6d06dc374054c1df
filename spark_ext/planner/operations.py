"""All operations of the planner by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Operation = Callable[[Mapping[str, Any]], dict[str, Any]]


def ping(args: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments themselves: whether the planner answers, and at what cost."""
    return dict(args)


OPS: dict[str, Operation] = {"ping": ping}
