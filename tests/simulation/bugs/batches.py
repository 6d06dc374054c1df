"""Mistakes about batches that are sent again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

from colonnade.manifests.commit import attempt
from colonnade.manifests.commit.change import Change
from colonnade.manifests.commit.conflicts import has_landed
from colonnade.manifests.ids import TableId
from colonnade.manifests.model.operations import CreateTable, Txn
from colonnade.manifests.state import fold
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.tableformat.statements import commit
from tests.simulation.actors.every import STREAMED
from tests.simulation.bugs.bug import Bug


def _begin_anew(state: Any, table: TableId, name: str) -> Mapping[str, int]:
    """A table that is made again and remembers no batch."""
    kept: Mapping[str, int] = {}
    state._taken[table] = kept
    return kept


def _is_known_by_id(change: Change, head: Snapshot) -> bool:
    """A look for the batch of a new table that finds nothing, because the table has a new id."""
    made = {op.table for op in change.ops if isinstance(op, CreateTable)}
    if any(isinstance(op, Txn) and op.table in made for op in change.ops):
        return False
    return has_landed(change, head)


@contextmanager
def _looks_by_id() -> Iterator[None]:
    with ExitStack() as stack:
        for module in (commit, attempt):
            stack.enter_context(patch.object(module, "has_landed", _is_known_by_id))
        yield


BUGS: tuple[Bug, ...] = (
    Bug(
        "a table that is made again forgets its batches",
        lambda: patch.object(fold._Fold, "_take_over", _begin_anew),
        actors=STREAMED,
    ),
    Bug(
        "the batch of a table that is made again is looked for by its new id",
        _looks_by_id,
        actors=STREAMED,
    ),
)
