"""The fold of a table's primary key. Pure.

The fold does not see rows: writers answer for it that no two rows share a key.
Spec: docs/spec/operations.md#primary-keys
"""

from __future__ import annotations

from dataclasses import replace

from colonnade.manifests.model.primary_key import PrimaryKey, problem_of
from colonnade.manifests.state.folds.refusal import refuse
from colonnade.manifests.state.snapshot import TableState


def with_key(epoch: int, state: TableState, key: PrimaryKey) -> TableState:
    """Return a table with another primary key, or without one. Raises CorruptionError."""
    after = replace(state, primary_key=key)
    check_key(epoch, after)
    return after


def check_key(epoch: int, state: TableState) -> None:
    """Check that the columns of a table can have its primary key. Raises CorruptionError."""
    problem = problem_of(state.primary_key, state.schema)
    if problem is not None:
        refuse(epoch, f"leaves table {state.name!r} with a wrong primary key: {problem}")
