"""The fold of a table's lifetimes. Pure.

Spec: docs/spec/lifetimes.md
"""

from __future__ import annotations

from dataclasses import replace

from colonnade.manifests.model.lifetimes import problem_of
from colonnade.manifests.model.operations import SetLifetimes
from colonnade.manifests.state.folds.refusal import refuse
from colonnade.manifests.state.snapshot import TableState


def with_lifetimes(epoch: int, state: TableState, operation: SetLifetimes) -> TableState:
    """Return a table with other lifetimes, or with none. Raises CorruptionError."""
    after = replace(state, lifetimes=operation.lifetimes)
    check_lifetimes(epoch, after)
    return after


def check_lifetimes(epoch: int, state: TableState) -> None:
    """Check that the columns of a table can have its lifetimes. Raises CorruptionError."""
    if state.lifetimes is None:
        return
    problem = problem_of(
        state.lifetimes, state.schema, state.primary_key, state.sort_key, state.partition_fields
    )
    if problem is not None:
        refuse(epoch, f"leaves table {state.name!r} with wrong lifetimes: {problem}")
