"""Measure opening a table, and a vacuum, in a log of ten million epochs beside a short one.

docs/growth.md derives the bounds that are measured here.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from benchmarks.log.growth import built
from benchmarks.measure import Figure, in_turn, interleave, median_ratio
from colonnade.manifests.checkpoint.writer import store_snapshot
from colonnade.manifests.commit.change import Change
from colonnade.manifests.epochs.slots import read_slot
from colonnade.manifests.ids import new_table_id, new_transaction_id
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.model.codec import encode_epoch, encode_model
from colonnade.manifests.model.epoch import FreedBlock
from colonnade.manifests.model.operations import (
    CheckpointRef,
    CreateTable,
    Operation,
    SetComment,
    Vacuum,
)
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.model.slot_blocks import SLOT_BLOCK
from colonnade.manifests.object_names import epoch_name
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.store import open_store
from colonnade.manifests.store.object_store import ObjectStore
from colonnade.manifests.vacuum.run import VacuumRequest, vacuum

EPOCHS = 10_000_000
SHORT = 3 * SLOT_BLOCK // 2
"""A log with as many removed epochs in its last block as the long one."""

KEPT = 16
TARGET = 2.0

VACUUM_MS = 2000.0
"""A vacuum lists a mark for each 64 epochs, so its time grows with the log."""


def run(folder: Path, scale: float, runs: int) -> list[Figure]:
    """Open the table of a long log and vacuum it, in turn with a short log."""
    long = round(max(0.01, min(1.0, scale)) * EPOCHS) // SLOT_BLOCK * SLOT_BLOCK + SLOT_BLOCK // 2
    small = built(folder / "epochs-small", partial(build, floor=0))
    paths = [
        built(folder / f"epochs-{floor}", partial(build, floor=floor)) for floor in (long, SHORT)
    ]
    ours, theirs, ratio = interleave(
        partial(open_table, paths[0]), partial(open_table, small), runs * 5
    )
    opened = Figure(
        f"open a table of a log of {long:,} epochs, beside one of {2 * KEPT}",
        *("ms", ours * 1e3, theirs * 1e3, ratio),
        target=TARGET,
    )
    places = [WrittenDatabase(path) for path in paths]
    long_s, short_s = in_turn(
        [place.vacuum for place in places], runs, before=partial(commit_to_all, places)
    )
    vacuumed = Figure(
        f"vacuum after {KEPT} epochs of {long:,}, beside {SHORT:,}",
        "ms",
        statistics.median(long_s) * 1e3,
        statistics.median(short_s) * 1e3,
        median_ratio(long_s, short_s),
        target=VACUUM_MS,
        judged_by_ratio=False,
    )
    return [opened, vacuumed]


def open_table(path: Path) -> str:
    """Open the table as a process does that knows nothing of the database yet."""
    return Log(open_store(path)).reader.read_head().table("t").name


@dataclass
class WrittenDatabase:
    """A database that is written to."""

    path: Path

    def commit(self, count: int) -> None:
        """Commit `count` epochs."""
        log = Log(open_store(self.path))
        state = log.reader.read_head()
        for number in range(count):
            state = comment(log, state, f"commit {number}")

    def vacuum(self) -> int:
        """Remove all epochs except the newest ones."""
        return vacuum(Log(open_store(self.path)), VacuumRequest(0, KEPT, trust_clock=True)).floor


def commit_to_all(places: Sequence[WrittenDatabase]) -> None:
    """Commit to each place the number of epochs that a vacuum then removes."""
    for place in places:
        place.commit(KEPT)


def comment(log: Log, state: Snapshot, text: str) -> Snapshot:
    """Commit an epoch that says nearly nothing."""
    return send(log, state, SetComment(table=state.table("t").id, comment=text))


def send(log: Log, state: Snapshot, *operations: Operation) -> Snapshot:
    """Commit operations."""
    return log.commit(Change(new_transaction_id(), operations[0].op, operations), state)


def build(path: Path, floor: int) -> None:
    """Make a database with one table, the given floor, and some epochs after the floor.

    The database has the files that years of commits and vacuums leave: a mark for each freed
    block, the removed epochs of the last block, and the anchor of the floor.
    """
    store = open_store(path, create=True)
    state = create_database(store, lone_table=False)
    log = Log(store)
    schema = TableSchema(fields=(SchemaField(id=1, name="id", type="long", nullable=True),))
    made = CreateTable(table=new_table_id(), name="t", table_schema=schema, next_column_id=2)
    state = send(log, state, made)
    if floor:
        state = at_floor(store, state, floor)
        state = send(log, state, Vacuum(floor=floor, anchors=state.anchors))
    for number in range(2 * KEPT):
        state = comment(log, state, f"built {number}")
    log.try_checkpoint(state)


def at_floor(store: ObjectStore, state: Snapshot, floor: int) -> Snapshot:
    """Store the state as that of a much later epoch, which becomes the floor."""
    newest = read_slot(store, state.epoch)
    assert newest is not None
    store.delete(epoch_name(state.epoch))
    late, ref = store_snapshot(store, replace(state, epoch=floor))
    anchor = CheckpointRef(epoch=floor, root=ref.root, check=ref.check)
    blocks = state.blocks
    whole = blocks.whole_below(floor)
    for block in range(whole):
        store.put(blocks.mark(block), encode_model(FreedBlock(freed=block)), sync=False)
    for number in range(blocks.first(whole), floor + 1):
        epoch = newest.model_copy(update={"epoch": number})
        store.put(epoch_name(number), encode_epoch(epoch), sync=False)
    return replace(late, floor=floor, anchors=(anchor,))
