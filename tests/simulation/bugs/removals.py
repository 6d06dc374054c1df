"""Mistakes of a vacuum: objects that it removes too early, and objects that it keeps wrongly."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any
from unittest.mock import patch

from colonnade.manifests.checkpoint.anchor_list import read_live_anchors
from colonnade.manifests.commit import attempt, conflicts, removals, vacuum_conflicts
from colonnade.manifests.commit.change import Change
from colonnade.manifests.commit.rebase import carried
from colonnade.manifests.commit.rebase.carried import Carried
from colonnade.manifests.log.log import Log
from colonnade.manifests.state.snapshot import EntrySegmentRef, Snapshot, TableState
from colonnade.manifests.vacuum import inventory, references, run
from colonnade.manifests.vacuum.hinted_checkpoints import cached_objects
from colonnade.manifests.vacuum.references import read_state_objects
from colonnade.manifests.vacuum.removal import remove
from tests.simulation.actors.keeper import Keeper
from tests.simulation.actors.keyed_writer import KeyedStreamer, KeyedWriter
from tests.simulation.actors.optimizer import Optimizer
from tests.simulation.actors.reader import Reader
from tests.simulation.actors.vacuumer import Vacuumer
from tests.simulation.actors.writer import Writer
from tests.simulation.bugs.bug import Bug, overlooks

_commit_change = Log.commit_change


def _of_head_only(log: Log, head: Snapshot, floor: int, *_: object) -> tuple[set[str], None]:
    state = log.reader.read_from_log(head.epoch)
    anchors = {anchor.root for anchor in read_live_anchors(log.store, head)}
    return read_state_objects(log.store, state) | anchors | cached_objects(log.store, floor), None


def _carried_out_first(log: Log, found: Any) -> Any:
    remove(log.store, found.removal.files)
    return _carry_out(log, found)


_carry_out = run._carry_out


def _each_part_since_the_one_before(log: Log, change: Change, base: Snapshot) -> Any:
    return _commit_change(log, replace(change, all_victims=frozenset()), base)


def _overlooks_changes(table: TableState, ref: EntrySegmentRef) -> references._Use:
    """A table that has changed RowSets of a segment is taken for one that has not."""
    dropped, _ = _use(table, ref)
    return dropped, ()


def _overlooks_drops(table: TableState, ref: EntrySegmentRef) -> references._Use:
    """A table that has dropped RowSets of a segment is taken for one that has not."""
    _, changed = _use(table, ref)
    return (), changed


_use = references._use


VACUUMED = (Writer(8), Reader(3), Keeper(1), Vacuumer(5))

BESIDE = (KeyedWriter(6), KeyedStreamer(2), Vacuumer(8))


@contextmanager
def _takes_removals_for_damage() -> Iterator[None]:
    """Neither a reader of the objects of a change nor the end of its commit asks for a vacuum."""
    with ExitStack() as stack:
        for module in (removals, attempt):
            stack.enter_context(patch.object(module, "check_removals", lambda *_: None))
        yield


BUGS: tuple[Bug, ...] = (
    Bug(
        "vacuum keeps what the newest epoch needs",
        lambda: patch.object(inventory, "_used", _of_head_only),
        actors=VACUUMED,
    ),
    Bug(
        "a writer overlooks a vacuum",
        overlooks(conflicts, "check_removed"),
        actors=(Writer(mix=(8, 2, 0, 0, 0, 0)), Vacuumer(8)),
        long=True,
    ),
    Bug(
        "a statement takes its own files that a vacuum has removed for damage",
        lambda: patch.object(removals, "check_missing", lambda *_: None),
        actors=BESIDE,
        keyed=True,
        seeds=50,
    ),
    Bug(
        "a keyed write names what it wrote for an earlier slot and a vacuum has removed",
        lambda: patch.object(vacuum_conflicts, "_is_open", lambda change: change.fill is not None),
        actors=BESIDE,
        keyed=True,
        long=True,
    ),
    Bug(
        "files go before the epoch that names them",
        lambda: patch.object(run, "_carry_out", _carried_out_first),
        0.2,
        actors=VACUUMED,
        long=True,
    ),
    Bug("a vacuum overlooks a writer", overlooks(carried, "check_vacuum"), actors=VACUUMED),
    Bug(
        "a part of a vacuum is compared with what came since the part before",
        lambda: patch.object(Log, "commit_change", _each_part_since_the_one_before),
        actors=VACUUMED,
        seeds=100,
        long=True,
    ),
    Bug(
        "the default mix overlooks what came between the parts of a vacuum",
        lambda: patch.object(Log, "commit_change", _each_part_since_the_one_before),
        seeds=100,
        long=True,
    ),
    Bug(
        "a vacuum takes the names in a segment for those of a table that has changed it",
        lambda: patch.object(references, "_use", _overlooks_changes),
        actors=VACUUMED,
    ),
    Bug(
        "a vacuum takes the names in a segment for those of a table that has dropped some",
        lambda: patch.object(references, "_use", _overlooks_drops),
        actors=(Writer(8), Reader(3), Keeper(4), Vacuumer(5)),
    ),
    Bug(
        "a vacuum removes the checkpoint that the hint leads to",
        lambda: patch.object(run, "keep_hint_usable", lambda *_, **__: None),
        actors=VACUUMED,
        seeds=50,
        long=True,
    ),
    Bug(
        "a change takes what retention has removed for damage",
        _takes_removals_for_damage,
        actors=(Writer(8), Optimizer(4, earlier=0.3), Vacuumer(4)),
        long=True,
        seeds=50,
    ),
    Bug(
        "a vacuum overlooks what is in the segments of a large append",
        lambda: patch.object(Carried, "_listed", lambda *_: set()),
        actors=VACUUMED,
        long=True,
    ),
)
