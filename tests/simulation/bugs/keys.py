"""Mistakes that let two rows share a primary key, or merge rows that are no longer there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from unittest.mock import patch

import numpy as np

from colonnade.manifests.commit import conflicts
from colonnade.manifests.commit.change import ResolvedRows
from colonnade.manifests.model.operations import SetPrimaryKey
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.tableformat.statements.keyed import merge, unique
from colonnade.tableformat.statements.keyed.merge import _Merge
from colonnade.tableformat.statements.keyed.places import KeyPlaces, Mask
from colonnade.tableformat.statements.keyed.unique import _Comparison
from tests.simulation.actors.keyed_writer import KeyedStreamer, KeyedWriter
from tests.simulation.actors.keyer import Keyer
from tests.simulation.bugs.bug import Bug, overlooks

WRITTEN = (KeyedWriter(), KeyedStreamer(2))

RULED = (KeyedWriter(6), Keyer(6))


def _compared_before(
    comparison: _Comparison, state: Snapshot, leaving: Mapping[int, Any]
) -> ResolvedRows:
    """What a comparison with the base has found."""
    return comparison._result()


def _merged_before(own: _Merge, state: Snapshot, leaving: Mapping[int, Any]) -> ResolvedRows:
    """What the rows became beside those of the base."""
    inserted = int((~own._places.is_there).sum())
    return own._merging.result(own._places.replaced(own._table.id), inserted)


def _nothing_moved(places: KeyPlaces, *others: Any) -> Mask:
    return np.zeros_like(_really_follow(places, *others))


_really_follow = KeyPlaces.follow


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
        lambda: patch.object(merge._Merge, "resolve", _merged_before),
        actors=WRITTEN,
        keyed=True,
        seeds=50,
        long=True,
    ),
    Bug(
        "rows that a rival has merged are taken for unchanged ones",
        lambda: patch.object(KeyPlaces, "follow", _nothing_moved),
        actors=WRITTEN,
        keyed=True,
        seeds=50,
        long=True,
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
