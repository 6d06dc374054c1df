"""Mistakes that were made somewhere before, or nearly: planted one by one, each must be found.

A simulation that finds none of them in some hundred seeds would not find the next one either.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray
from pyroaring import FrozenBitMap

import colonnade.manifests.commit.sending
import colonnade.manifests.log.log
from colonnade.manifests.arrays.bounds import BoundsTable, Keep
from colonnade.manifests.arrays.entry_block import EntryBlock
from colonnade.manifests.arrays.partitions import PartitionKey
from colonnade.manifests.checkpoint import stored_object
from colonnade.manifests.checkpoint import writer as checkpoint_writer
from colonnade.manifests.checkpoint.anchor_list import read_live_anchors
from colonnade.manifests.checkpoint.loaded_pages import LoadedPages
from colonnade.manifests.checkpoint.page_summary import PageSummary
from colonnade.manifests.checkpoint.paged_map import PagePlace
from colonnade.manifests.checkpoint.state_summary import StateSummary
from colonnade.manifests.checkpoint.writer import _rewritten
from colonnade.manifests.commit import conflicts, recent_epochs
from colonnade.manifests.commit.change import Change
from colonnade.manifests.commit.conflicts import check_head
from colonnade.manifests.commit.rebase import carried, reads, vector_writer
from colonnade.manifests.commit.rebase.carried import Carried
from colonnade.manifests.commit.rebase.compaction import OwnCompaction
from colonnade.manifests.commit.rebase.origin import RowMap
from colonnade.manifests.commit.rebase.reads import check_reads
from colonnade.manifests.commit.rebase.targets import RowChange, TargetRowSet
from colonnade.manifests.commit.sending import Sending
from colonnade.manifests.compaction.facts import CompactionFacts
from colonnade.manifests.epochs import epoch_times
from colonnade.manifests.epochs.freed_slots import put_mark
from colonnade.manifests.epochs.slot_reader import SlotReader
from colonnade.manifests.epochs.slots import read_slot
from colonnade.manifests.errors import ColonnadeError, StoreError
from colonnade.manifests.limits import Limits
from colonnade.manifests.log.log import Log
from colonnade.manifests.model import codec
from colonnade.manifests.model.codec import encode_epoch
from colonnade.manifests.model.deletion_vector import DeletionVector, write_deletion_vector
from colonnade.manifests.model.entries import ColumnStatistics, PartitionValues
from colonnade.manifests.model.epoch import Epoch, Stub
from colonnade.manifests.model.operations import AddRowSet, Compaction, ReplaceColumn
from colonnade.manifests.model.slot_blocks import SlotBlocks
from colonnade.manifests.object_names import checkpoint_name, epoch_name
from colonnade.manifests.reading.reader import LogReader
from colonnade.manifests.state.rowsets_fold import RowSetsFold
from colonnade.manifests.state.snapshot import LiveRowSet, Snapshot, TableState
from colonnade.manifests.store import ObjectStore, PutOutcome
from colonnade.manifests.vacuum import floor, freeing, later_floor, run
from colonnade.manifests.vacuum.floor import cached_objects
from colonnade.manifests.vacuum.freeing import free_slots
from colonnade.manifests.vacuum.references import read_state_objects
from colonnade.manifests.vacuum.removal import remove
from colonnade.tableformat.repair import caches
from colonnade.tableformat.rowset import output as rowset_output
from colonnade.tableformat.rowset.output import _for_log
from colonnade.tableformat.statements import overwrite_partitions
from colonnade.tableformat.table import restore
from tests.faults import Fault
from tests.simulation.actors.appender import Appender
from tests.simulation.actors.compactor import Compactor
from tests.simulation.actors.driver import Driver
from tests.simulation.actors.every import ACTORS, LOSING, SHARING
from tests.simulation.actors.keeper import Keeper
from tests.simulation.actors.litterer import Litterer
from tests.simulation.actors.optimizer import Optimizer
from tests.simulation.actors.partitioner import Partitioner
from tests.simulation.actors.reader import Reader
from tests.simulation.actors.renumberer import Renumberer
from tests.simulation.actors.undropper import Undropper
from tests.simulation.actors.upgrader import Upgrader
from tests.simulation.actors.vacuumer import Vacuumer
from tests.simulation.actors.vandal import Vandal
from tests.simulation.actors.writer import Writer
from tests.simulation.world import Actor, simulate

Plant = Callable[[], AbstractContextManager[Any]]

UNKNOWN = (Fault.LOST_REQUEST, Fault.FAIL_AFTER, Fault.HIDDEN_RETRY, Fault.LATE)
"""Faults that leave the outcome of a commit unknown at first."""


def _take_slot(unknown: Callable[[ObjectStore, Epoch], Epoch | Stub]) -> Plant:
    """A commit that asks once, and has an idea of its own about unknown outcomes."""

    def take(store: ObjectStore, epoch: Epoch, data: bytes, pause: object) -> Epoch | Stub:
        outcome = store.put_if_absent(epoch_name(epoch.epoch), data)
        if outcome is PutOutcome.CREATED:
            return epoch
        if outcome is PutOutcome.UNKNOWN:
            return unknown(store, epoch)
        found = read_slot(store, epoch.epoch)
        assert found is not None
        return found

    return lambda: patch.object(colonnade.manifests.commit.sending, "take_slot", take)


def _wait_for_slot(store: ObjectStore, epoch: Epoch, data: bytes, pause: object) -> Epoch:
    while True:
        if store.put_if_absent(epoch_name(epoch.epoch), data) is PutOutcome.CREATED:
            return epoch


def _failed(store: ObjectStore, epoch: Epoch) -> Epoch | Stub:
    raise StoreError("The commit failed.")


def _absent_is_failed(store: ObjectStore, epoch: Epoch) -> Epoch | Stub:
    found = read_slot(store, epoch.epoch)
    return _failed(store, epoch) if found is None else found


def _next_slot(store: ObjectStore, epoch: Epoch) -> Epoch | Stub:
    after = epoch.model_copy(update={"epoch": epoch.epoch + 1})
    store.put_if_absent(epoch_name(after.epoch), encode_epoch(after))
    return epoch


def _after(forgive: Callable[[RowChange, str], bool]) -> Plant:
    """Statements on the same row; some of them are treated as done."""

    def after(
        target: TargetRowSet, kind: str, deleted: FrozenBitMap, vector: Any, **how: bool
    ) -> TargetRowSet:
        theirs = deleted - target.found.deleted
        if any(not forgive(each, kind) and each.rows & theirs for each in target.changes):
            return real(target, kind, deleted, vector, **how)  # type: ignore[arg-type]
        changes = tuple(replace(each, rows=each.rows - theirs) for each in target.changes)
        return TargetRowSet(replace(target.found, deleted=deleted, vector=vector), changes)

    real = TargetRowSet.after
    return lambda: patch.object(TargetRowSet, "after", after)


def _check_reads(change: Callable[[Change], Change]) -> Plant:
    def check(mine: Change, *others: Any) -> None:
        check_reads(change(mine), *others)

    return lambda: patch.object(carried, "check_reads", check)


def _check_head(change: Change, *others: Any) -> None:
    check_head(replace(change, expect_epoch=None), *others)


def _commit_on_newest(log: Log, change: Change, base: Snapshot) -> Any:
    if any(isinstance(operation, Compaction) for operation in change.ops):
        base = log.refresh(base)
    return _commit_change(log, change, base)


_commit_change = Log.commit_change


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


def _partial(store: ObjectStore, table: TableState, job_id: str, limits: Limits) -> TableState:
    rowsets = replace(table.rowsets, added=table.rowsets.added[1:])
    return _rewritten(store, replace(table, rowsets=rowsets), job_id, limits)


def _uncounted(store: ObjectStore, table: TableState, job_id: str, limits: Limits) -> TableState:
    rowsets = table.rowsets
    changed = rowsets.added or rowsets.dropped or rowsets.amended
    return _rewritten(store, table, job_id, limits) if changed else table


def _without_vector(table: str, rowset: LiveRowSet) -> AddRowSet:
    return AddRowSet(table=table, rowset=rowset.stored_entry)


def _of_head_only(log: LogReader, head: Snapshot, floor: int, states: object) -> set[str]:
    state = log.read_from_log(head.epoch)
    anchors = {anchor.root for anchor in read_live_anchors(log.store, head)}
    return read_state_objects(log.store, state) | anchors | cached_objects(log.store, floor)


def _carried_out_first(log: Log, found: Any, request: Any) -> Any:
    remove(log.store, found.removal.files)
    return _carry_out(log, found, request)


_carry_out = run._carry_out


def _overlooks(module: ModuleType, check: str) -> Plant:
    """A comparison that finds no conflict."""
    return lambda: patch.object(module, check, lambda *_: None)


def _each_part_since_the_one_before(log: Log, change: Change, base: Snapshot) -> Any:
    return _commit_change(log, replace(change, all_victims=frozenset()), base)


@dataclass(frozen=True)
class Bug:
    """A mistake, how to make it, and where it shows: how often outcomes get lost, who works.

    `long`: finding it takes longer than each push should. It must be found within `seeds`.
    """

    name: str
    plant: Plant
    rate: float = 0.0
    actors: Sequence[Actor] = ACTORS
    long: bool = False
    seeds: int = 500
    waits: bool = False
    old: bool = False

    def find(self) -> int | None:
        """The first seed that finds it."""
        for seed in range(self.seeds):
            try:
                with self.plant():
                    simulate(
                        seed,
                        self.actors,
                        rate=self.rate,
                        faults=UNKNOWN,
                        waits=self.waits,
                        old=self.old,
                    )
            except AssertionError:
                return seed
        return None


def _is_first(sending: Sending, found: Epoch) -> bool:
    """A change that only knows itself where it leads an epoch."""
    return found.transaction == sending.change.transaction


def _with_carried_batches(*given: Any, **named: Any) -> Change:
    """The change of a restore that takes all batches for its own."""
    return Change(*given, **{**named, "carried": frozenset()})


def _base_or_nothing(
    log: Log, epoch: int, transaction: str, *, fresh: bool = False
) -> tuple[Snapshot, bool]:
    """A commit that is sent again, and that takes an absent base for a commit that failed."""
    return log.read_at(epoch), False


def _failed_again(log: Log, transaction: str, error: ColonnadeError) -> Snapshot:
    """A commit that is sent again, and that fails with its last send."""
    raise error


def _only_the_first(object_id: str, read: Callable[[str], Any]) -> Any:
    return read(checkpoint_name(object_id))


def _lost_deletion(
    target: TargetRowSet, kind: Any, gone: FrozenBitMap, vector: Any, **_: bool
) -> TargetRowSet:
    return _real_after(target, kind, gone, vector)


_real_after = TargetRowSet.after


@contextmanager
def _later_replacement_wins() -> Iterator[None]:
    """Nor does the fold look at what a replacement says that it replaces."""
    with (
        patch.object(TargetRowSet, "after_replacement", lambda target, *_, **__: target),
        patch.object(RowSetsFold, "_check_replaced", lambda *_: None),
    ):
        yield


def _unlike_replacements(own: OwnCompaction, theirs: Any, vectors: Any) -> OwnCompaction | None:
    return own if isinstance(theirs, ReplaceColumn) else _real_follow(own, theirs, vectors)


_real_follow = OwnCompaction.follow


def _only_own_layout(table: TableState, wanted: frozenset[PartitionValues]) -> Keep:
    own = table.partition_layout_id

    def keep(bounds: BoundsTable) -> NDArray[np.bool_]:
        assert bounds.partitions is not None
        return bounds.partitions.where(lambda key: key[0] == own and key[1] in wanted)

    return keep


def _as_one_partition(facts: CompactionFacts) -> list[tuple[PartitionKey, CompactionFacts]]:
    parts = _real_by_partition(facts)
    return [(parts[0][0], facts)] if parts else parts


_real_by_partition = CompactionFacts.by_partition

PARTITIONED = (
    Writer(mix=(6, 2, 2, 0, 0, 0, 6)),
    Reader(3),
    Partitioner(3),
    Optimizer(3),
)

COMPACTED = (Writer(mix=(4, 4, 4, 0, 0, 0)), Reader(2), Compactor(6))

UNDROPPED = (Undropper(6), Reader(1), Vacuumer(0.5))

SENT_AGAIN = (Driver(4), Writer(2), Reader(1), Vacuumer(5))


@contextmanager
def _marked_last() -> Iterator[None]:
    """Slots are freed before their mark is visible."""
    later: list[tuple[Any, ...]] = []

    def free(store: ObjectStore, numbers: Sequence[int], threads: int) -> None:
        mine, later[:] = later[:], []
        free_slots(store, numbers)
        for each in mine:
            put_mark(*each)

    with (
        patch.object(freeing, "put_mark", lambda *mark: later.append(mark)),
        patch.object(floor, "free_slots", free),
    ):
        yield


@contextmanager
def _unfinished_floors() -> Iterator[None]:
    with (
        patch.object(caches, "finish_floor", lambda *_, **__: None),
        patch.object(run, "finish_floor", lambda *_, **__: None),
    ):
        yield


def _follow_whatever_is_there(
    log: LogReader, state: Snapshot, target: int | None, slots: SlotReader
) -> Any:
    """Nobody asks whether the slot of the last epoch was freed."""
    after, freed = _real_follow_log(log, state, target, slots)
    return after, None if after.epoch == target else freed


_real_follow_log = LogReader._follow
_real_check_end = SlotReader.check_end


def _check_end_without_a_mark(slots: SlotReader, number: int, blocks: object) -> Any:
    """Nobody asks whether a free slot was freed."""
    return _real_check_end(slots, number, None)


def _from_the_upgrade_on(state: Snapshot) -> SlotBlocks | None:
    """Blocks that begin with the slot of the upgrade, and not behind it."""
    if state.slot_block is None:
        return None
    return SlotBlocks(state.database, state.slot_block, state.slot_start - 1)


SLEEPY = (Writer(8), Reader(3), Vacuumer(5), Litterer(3))


class _ByOffset(dict[PagePlace, PageSummary]):
    """Summaries that take every page at the same offset of any bundle for the same page."""

    def __init__(self, known: Mapping[PagePlace, PageSummary]) -> None:
        super().__init__(
            (place._replace(object="", length=0), each) for place, each in known.items()
        )

    def get(self, place: PagePlace, *_: object) -> Any:
        return super().get(place._replace(object="", length=0))

    def __getitem__(self, place: PagePlace) -> PageSummary:
        return super().__getitem__(place._replace(object="", length=0))


def _with_stale_summaries() -> AbstractContextManager[Any]:
    """A vacuum that trusts the summary of an earlier page."""
    real = LoadedPages.__init__

    def init(pages: LoadedPages, known: Mapping[PagePlace, PageSummary] | None = None) -> None:
        real(pages, known)
        pages._known = _ByOffset(pages._known)

    return patch.object(LoadedPages, "__init__", init)


def _knows_all_states(summary: StateSummary, roots: Collection[str]) -> StateSummary:
    """A summary of some states that is taken for one of all."""
    return replace(_of(summary, roots), roots=tuple(sorted(roots))) if summary.roots else summary


_of = StateSummary.of

VACUUMED = (Writer(8), Reader(3), Keeper(1), Vacuumer(5))

BUGS: tuple[Bug, ...] = (
    Bug(
        "an own commit is taken for another's",
        lambda: patch.object(Sending, "_is_own", lambda *_: False),
        0.2,
    ),
    Bug("an unknown outcome is a failure", _take_slot(_failed), 0.2),
    Bug(
        "a slot that is still free is a failure",
        _take_slot(_absent_is_failed),
        0.2,
        long=True,
    ),
    Bug("an unknown outcome is tried again at the next slot", _take_slot(_next_slot), 0.2),
    Bug(
        "a change in the epoch of another one is not known as one's own",
        lambda: patch.object(Sending, "_is_own", _is_first),
        actors=SHARING,
        seeds=20,
        waits=True,
    ),
    Bug(
        "a note of a change that has landed is taken again",
        lambda: patch.object(recent_epochs, "transactions_of", lambda epoch: ()),
        actors=SHARING,
        seeds=20,
        waits=True,
    ),
    Bug(
        "a note from before a vacuum is taken after it",
        lambda: patch.object(recent_epochs, "only_adds", lambda epoch: True),
        actors=(Appender(), Writer(2), Vacuumer(3)),
        seeds=100,
        waits=True,
        long=True,
    ),
    Bug(
        "a change that another writer may have committed is called failed",
        lambda: patch.object(Sending, "may_be_sent", property(lambda sending: False)),
        0.1,
        actors=SHARING,
        seeds=100,
        waits=True,
        long=True,
    ),
    Bug(
        "a renumbering loses what was added meanwhile",
        lambda: patch.object(Carried, "_with_added", lambda mine, theirs: mine),
        actors=(Writer(mix=(8, 1, 1, 0, 0, 0)), Reader(1), Renumberer(3)),
        seeds=20,
    ),
    Bug(
        "a change that names RowSets by their ids follows a renumbering",
        lambda: patch.object(conflicts, "_names_ids", lambda change, table: False),
        actors=(Writer(mix=(4, 6, 4, 0, 0, 0)), Reader(1), Renumberer(3)),
        long=True,
        seeds=20,
    ),
    Bug(
        "nobody looks for conflicts",
        lambda: patch.object(Carried, "follow", lambda mine, before, theirs: mine),
    ),
    Bug(
        "two updates of a row both land",
        _after(lambda mine, kind: True),
        long=True,
    ),
    Bug(
        "a deletion of a row that moved is thought done",
        _after(lambda mine, k: mine.kind == "delete"),
        actors=(Writer(mix=(3, 5, 5, 0, 0, 0)), Reader(1)),
        long=True,
    ),
    Bug(
        "a key is inserted twice",
        _check_reads(lambda change: replace(change, keys=())),
        actors=(Writer(mix=(1, 1, 0, 8, 0, 0)), Reader(1)),
        long=True,
    ),
    Bug(
        "a replacement keeps what came since",
        _check_reads(
            lambda change: replace(change, reads=tuple(r for r in change.reads if not r.overwrites))
        ),
        actors=(Writer(mix=(6, 1, 0, 1, 6, 1)), Reader(1)),
    ),
    Bug(
        "serializable is nothing special",
        lambda: patch.object(reads, "_is_serializable", lambda *_: False),
    ),
    Bug(
        "an epoch is not the expected one",
        lambda: patch.object(colonnade.manifests.log.log, "check_head", _check_head),
        long=True,
    ),
    Bug(
        "a compaction forgets what went meanwhile",
        lambda: patch.object(OwnCompaction, "_without", lambda own, *_: own),
        actors=COMPACTED,
    ),
    Bug(
        "a compaction takes a newer base",
        lambda: patch.object(Log, "commit_change", _commit_on_newest),
        long=True,
    ),
    Bug(
        "rows keep their numbers through a compaction",
        lambda: patch.object(RowMap, "carry", lambda moves, index, rows: {0: rows}),
        long=True,
    ),
    Bug(
        "the later of two replacements of a column undoes the earlier",
        _later_replacement_wins,
        actors=(Writer(mix=(3, 0, 8, 0, 0, 0)), Reader(1)),
    ),
    Bug(
        "a compaction forgets columns that were replaced meanwhile",
        lambda: patch.object(OwnCompaction, "follow", _unlike_replacements),
        actors=COMPACTED,
        long=True,
    ),
    Bug(
        "a checkpoint forgets replaced columns",
        lambda: patch.object(EntryBlock, "_with_columns", lambda block, replaced: block),
        actors=(Writer(mix=(3, 0, 8, 0, 0, 0)), Reader(3)),
    ),
    Bug(
        "an overwrite of partitions overlooks rows of other layouts",
        lambda: patch.object(overwrite_partitions, "_may_be_overwritten", _only_own_layout),
        actors=PARTITIONED,
    ),
    Bug(
        "a compaction puts partitions together",
        lambda: patch.object(CompactionFacts, "by_partition", _as_one_partition),
        actors=PARTITIONED,
    ),
    Bug("bounds are too narrow", lambda: patch.object(rowset_output, "_for_log", _too_narrow)),
    Bug(
        "a vector lacks its last row",
        lambda: patch.object(vector_writer, "write_deletion_vector", _one_row_less),
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
    ),
    Bug(
        "an old state is taken for the newest",
        lambda: patch.object(LogReader, "refresh", lambda log, snapshot: snapshot),
    ),
    Bug(
        "damage goes unnoticed",
        lambda: patch.object(codec, "crc32c", lambda data: 0),
        actors=(Writer(), Reader(20), Vandal(8)),
        long=True,
    ),
    Bug(
        "vacuum keeps what the newest epoch needs",
        lambda: patch.object(run, "_used", _of_head_only),
        actors=VACUUMED,
    ),
    Bug(
        "a writer overlooks a vacuum",
        _overlooks(conflicts, "check_removed"),
        actors=(Writer(mix=(8, 2, 0, 0, 0, 0)), Vacuumer(8)),
        long=True,
    ),
    Bug(
        "files go before the epoch that names them",
        lambda: patch.object(run, "_carry_out", _carried_out_first),
        0.2,
        actors=VACUUMED,
        long=True,
    ),
    Bug("a vacuum overlooks a writer", _overlooks(carried, "check_vacuum"), actors=VACUUMED),
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
    ),
    Bug(
        "a vacuum trusts the summary of an earlier page of tables",
        _with_stale_summaries,
        actors=VACUUMED,
        seeds=20,
    ),
    Bug(
        "a vacuum trusts a summary of tags that lacks the newest one",
        lambda: patch.object(StateSummary, "of", _knows_all_states),
        actors=(Writer(8), Reader(3), Keeper(4), Vacuumer(5)),
        long=True,
        seeds=50,
    ),
    Bug(
        "a restore takes batches that it carries along for its own",
        lambda: patch.object(restore, "Change", _with_carried_batches),
        actors=UNDROPPED,
        seeds=100,
    ),
    Bug(
        "a commit whose base was vacuumed is called failed",
        lambda: patch.object(Log, "resume", _base_or_nothing),
        actors=SENT_AGAIN,
        seeds=20,
    ),
    Bug(
        "an error of a later send is taken for the outcome of the earlier one",
        lambda: patch.object(Log, "find_sent", _failed_again),
        0.1,
        actors=SENT_AGAIN,
        seeds=20,
    ),
    Bug(
        "the second copy of an anchor is not read",
        lambda: patch.object(stored_object, "_either", _only_the_first),
        actors=(Writer(), Reader(), Vandal(4), Vacuumer(4)),
        seeds=20,
    ),
    Bug(
        "old stubs lead to the lost root after a later floor",
        lambda: patch.object(later_floor, "_remove_roots", lambda *_: None),
        actors=LOSING,
        long=True,
        seeds=50,
    ),
    Bug(
        "nobody finishes a later floor whose writer was killed",
        _unfinished_floors,
        actors=LOSING,
        long=True,
        seeds=100,
    ),
    Bug(
        "a vacuum overlooks what is in the segments of a large append",
        lambda: patch.object(Carried, "_listed", lambda *_: set()),
        actors=VACUUMED,
        long=True,
    ),
    Bug(
        "a slot that is taken is waited for",
        lambda: patch.object(colonnade.manifests.commit.sending, "take_slot", _wait_for_slot),
    ),
    Bug(
        "a date is believed whatever it says",
        lambda: patch.object(epoch_times, "_likely_ms", lambda store, epoch, *_: epoch.time_ms),
    ),
    Bug(
        "a replacement forgets deletions",
        lambda: patch.object(TargetRowSet, "after", _lost_deletion),
        actors=(Writer(mix=(3, 6, 0, 0, 6, 0)), Reader(1)),
    ),
    Bug(
        "a mark is put after the slots of its block are freed",
        _marked_last,
        actors=SLEEPY,
        long=True,
        seeds=100,
    ),
    Bug(
        "nobody looks for a mark after a PUT",
        lambda: patch.object(Sending, "_look_again", lambda *_: None),
        actors=(Writer(8), Vacuumer(5)),
        seeds=100,
    ),
    Bug(
        "a writer that planned before an upgrade looks for no mark after its PUT",
        lambda: patch.object(colonnade.manifests.commit.sending, "stated_blocks", lambda *_: None),
        actors=(Writer(8), Vacuumer(5), Upgrader(2)),
        seeds=100,
        old=True,
        long=True,
    ),
    Bug(
        "an upgrade frees slots from before it",
        lambda: patch.object(Snapshot, "blocks", property(_from_the_upgrade_on)),
        actors=(Writer(8), Vacuumer(5), Upgrader(2)),
        seeds=20,
        old=True,
    ),
    Bug(
        "a free slot is taken for the end of the log",
        lambda: patch.object(SlotReader, "check_end", _check_end_without_a_mark),
        actors=SLEEPY,
        seeds=100,
    ),
    Bug(
        "what is in a freed slot is taken for an epoch of the log",
        lambda: patch.object(LogReader, "_follow", _follow_whatever_is_there),
        actors=SLEEPY,
        long=True,
        seeds=100,
    ),
)
