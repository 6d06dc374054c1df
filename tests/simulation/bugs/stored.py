"""Mistakes in what is stored of a state: checkpoints, bounds, vectors, restored tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from unittest.mock import patch

from pyroaring import FrozenBitMap

from colonnade.manifests.arrays.entry_block import EntryBlock
from colonnade.manifests.checkpoint import stored_object
from colonnade.manifests.checkpoint import writer as checkpoint_writer
from colonnade.manifests.checkpoint.writer import _rewritten
from colonnade.manifests.commit.change import Change
from colonnade.manifests.commit.rebase import vector_writer
from colonnade.manifests.log import background_checkpoint
from colonnade.manifests.model import codec
from colonnade.manifests.model.deletion_vector import DeletionVector, write_deletion_vector
from colonnade.manifests.model.entries import ColumnStatistics
from colonnade.manifests.model.operations import AddRowSet
from colonnade.manifests.object_names import checkpoint_name
from colonnade.manifests.state.snapshot import LiveRowSet, TableState
from colonnade.manifests.store import ObjectStore
from colonnade.tableformat.rowset.write import output as rowset_output
from colonnade.tableformat.rowset.write.output import _for_log
from colonnade.tableformat.table.epochs import restore
from tests.simulation.actors.keeper import Keeper
from tests.simulation.actors.reader import Reader
from tests.simulation.actors.undropper import Undropper
from tests.simulation.actors.vacuumer import Vacuumer
from tests.simulation.actors.vandal import Vandal
from tests.simulation.actors.writer import Writer
from tests.simulation.bugs.bug import Bug


def _too_narrow(statistics: ColumnStatistics) -> ColumnStatistics:
    found = _for_log(statistics)
    kind, _, number = (found.max or "").partition(":")
    if kind != "i" or found.min == found.max:
        return found
    return found.model_copy(update={"max": f"i:{int(number) - 1}"})


def _one_row_less(
    store: ObjectStore, prefix: str, job_id: str, vector: DeletionVector, *rest: Any, **how: Any
) -> Any:
    rows = vector.rows
    cut = rows if len(rows) == 1 else rows - FrozenBitMap([rows.max()])
    return write_deletion_vector(store, prefix, job_id, DeletionVector(cut), *rest, **how)


def _partial(store: ObjectStore, table: TableState, *rest: Any) -> TableState:
    rowsets = replace(table.rowsets, added=table.rowsets.added[1:])
    return _rewritten(store, replace(table, rowsets=rowsets), *rest)


def _uncounted(store: ObjectStore, table: TableState, *rest: Any) -> TableState:
    rowsets = table.rowsets
    changed = rowsets.added or rowsets.dropped or rowsets.amended
    return _rewritten(store, table, *rest) if changed else table


def _without_vector(table: str, rowset: LiveRowSet) -> AddRowSet:
    return AddRowSet(table=table, rowset=rowset.stored_entry)


def _with_carried_batches(*given: Any, **named: Any) -> Change:
    """The change of a restore that takes all batches for its own."""
    return Change(*given, **{**named, "carried": frozenset()})


def _only_the_first(object_id: str, read: Callable[[str], Any]) -> Any:
    return read(checkpoint_name(object_id))


UNDROPPED = (Undropper(6), Reader(1), Vacuumer(0.5))


BUGS: tuple[Bug, ...] = (
    Bug(
        "a checkpoint forgets replaced columns",
        lambda: patch.object(EntryBlock, "_with_columns", lambda block, replaced: block),
        actors=(Writer(mix=(3, 0, 8, 0, 0, 0)), Reader(3)),
        long=True,
    ),
    Bug(
        "a commit continues from a late checkpoint without the epochs since",
        lambda: patch.object(background_checkpoint, "apply_epochs", lambda state, epochs: state),
        actors=(Writer(8), Reader(3)),
        seeds=20,
        long=True,
    ),
    Bug(
        "bounds are too narrow",
        lambda: patch.object(rowset_output, "_for_log", _too_narrow),
        long=True,
    ),
    Bug(
        "a vector lacks its last row",
        lambda: patch.object(vector_writer, "write_deletion_vector", _one_row_less),
        long=True,
    ),
    Bug(
        "a checkpoint is written in part",
        lambda: patch.object(checkpoint_writer, "_rewritten", _partial),
    ),
    Bug(
        "a checkpoint counts only what changed",
        lambda: patch.object(checkpoint_writer, "_rewritten", _uncounted),
        long=True,
    ),
    Bug(
        "a restore brings deleted rows back",
        lambda: patch.object(restore, "_again", _without_vector),
        actors=(Writer(), Reader(), Keeper(8)),
        long=True,
    ),
    Bug(
        "damage goes unnoticed",
        lambda: patch.object(codec, "crc32c", lambda data: 0),
        actors=(Writer(), Reader(20), Vandal(8)),
        long=True,
    ),
    Bug(
        "a restore takes batches that it carries along for its own",
        lambda: patch.object(restore, "Change", _with_carried_batches),
        actors=UNDROPPED,
        seeds=100,
        long=True,
    ),
    Bug(
        "the second copy of an anchor is not read",
        lambda: patch.object(stored_object, "_either", _only_the_first),
        actors=(Writer(), Reader(), Vandal(4), Vacuumer(4)),
        seeds=20,
    ),
)
