"""Mistakes that let two rows share a primary key, merge rows that are gone, or forget deletions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from unittest.mock import patch

import numpy as np

from colonnade.manifests.commit import conflicts
from colonnade.manifests.commit.change import KeyGuard, ResolvedRows
from colonnade.manifests.model.operations import SetPrimaryKey
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.tableformat.compaction import tombstones
from colonnade.tableformat.statements.keyed import delete_keys, unique
from colonnade.tableformat.statements.keyed.existing import ExistingRows, LateRows, Mask
from colonnade.tableformat.statements.keyed.unique import _Comparison
from colonnade.tableformat.statements.keyed.upsert import Upsert
from colonnade.tableformat.statements.statement import Statement, row_statement
from tests.simulation.actors.keyed_writer import KeyedStreamer, KeyedWriter
from tests.simulation.actors.keyer import Keyer
from tests.simulation.actors.optimizer import Optimizer
from tests.simulation.bugs.bug import Bug, overlooks

WRITTEN = (KeyedWriter(), KeyedStreamer(2))

RULED = (KeyedWriter(6), Keyer(6))

DELETING = (KeyedWriter(mix=(7, 4, 7)), Optimizer(6))
"""Rows arrive late after deletions of their keys, beside compactions."""


def _compared_before(
    comparison: _Comparison, state: Snapshot, leaving: Mapping[int, Any]
) -> ResolvedRows:
    """What a comparison with the base has found."""
    return comparison._result()


def _merged_before(own: Upsert, state: Snapshot, leaving: Mapping[int, Any]) -> ResolvedRows:
    """What the rows became at the base."""
    return own._result


def _nothing_moved(existing: ExistingRows, *others: Any) -> Mask:
    return np.zeros_like(_really_follow(existing, *others))


_really_follow = ExistingRows.follow


def _followed_once(late: LateRows, *state: Any) -> bool:
    """Whether other rows are late: only the deletions of the first state count."""
    if hasattr(late, "_followed"):
        return False
    late._followed = True  # type: ignore[attr-defined]
    return _really_late(late, *state)


_really_late = LateRows.follow


def _guarding_nothing(*_: Any) -> KeyGuard:
    return KeyGuard("", lambda _: [])


def _reading_nothing(*given: Any, **named: Any) -> Statement:
    return row_statement(*given, **{**named, "reads": ()})


def _unless_key(mine: Any, theirs: Any, declared: bool) -> bool:
    """A conflict of any operation but a new primary key."""
    return not isinstance(mine, SetPrimaryKey) and _real_conflict(mine, theirs, declared)


_real_conflict = conflicts._conflict


BUGS: tuple[Bug, ...] = (
    Bug(
        "keys are not compared again before the slot",
        lambda: patch.object(unique._Comparison, "resolve", _compared_before),
        actors=WRITTEN,
        keyed=True,
        seeds=50,
    ),
    Bug(
        "a merge that lost its slot is not repeated",
        lambda: patch.object(Upsert, "resolve", _merged_before),
        actors=WRITTEN,
        keyed=True,
        seeds=50,
        long=True,
    ),
    Bug(
        "rows that a rival has merged are taken for unchanged ones",
        lambda: patch.object(ExistingRows, "follow", _nothing_moved),
        actors=WRITTEN,
        keyed=True,
        seeds=50,
        long=True,
    ),
    Bug(
        "a compaction forgets deleted keys before their time",
        lambda: patch.object(tombstones, "tombstone_hours", lambda _: -1e6),
        actors=DELETING,
        keyed=True,
        seeds=50,
    ),
    Bug(
        "a row is not compared again with deletions before its slot",
        lambda: patch.object(LateRows, "follow", _followed_once),
        actors=DELETING,
        keyed=True,
        seeds=50,
        long=True,
    ),
    Bug(
        "a deletion of keys lands beside older rows of a rival",
        lambda: patch.object(delete_keys, "guard_keys", _guarding_nothing),
        actors=DELETING,
        keyed=True,
        seeds=50,
        long=True,
    ),
    Bug(
        "a deletion of keys does not say what it has read",
        lambda: patch.object(delete_keys, "row_statement", _reading_nothing),
        actors=(KeyedWriter(mix=(7, 7, 7)),),
        keyed=True,
        seeds=50,
    ),
    Bug(
        "rows land that were written before their table had a primary key",
        overlooks(conflicts, "check_keys"),
        actors=RULED,
        keyed=True,
        long=True,
        seeds=100,
    ),
    Bug(
        "a table gets a primary key beside rows that were not compared",
        lambda: patch.object(conflicts, "_conflict", _unless_key),
        actors=RULED,
        keyed=True,
        long=True,
        seeds=100,
    ),
)
