"""Check the log: epochs since the floor, anchors, entry segments, checkpoints, missing files.

Continues after damage. Spec: docs/spec/epoch-log.md, checkpoint.md
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from colonnade.manifests.arrays.entry_block import block_of
from colonnade.manifests.arrays.entry_table import EntryTable
from colonnade.manifests.checkpoint.anchor_list import read_live_anchors
from colonnade.manifests.checkpoint.reader import (
    UNUSABLE,
    read_entry_segment,
    read_hint,
    read_root,
    read_state,
)
from colonnade.manifests.checkpoint.root import Hint, Root
from colonnade.manifests.checkpoint.stored_batches import check_batches
from colonnade.manifests.epochs.freed_slots import is_freed
from colonnade.manifests.epochs.slot_reader import AHEAD, SlotReader
from colonnade.manifests.epochs.slots import judge_end, read_slot
from colonnade.manifests.errors import ColonnadeError, CorruptionError, StoreError
from colonnade.manifests.model.codec import decode_model
from colonnade.manifests.model.operations import CheckpointRef
from colonnade.manifests.model.slot_blocks import SlotBlocks
from colonnade.manifests.object_names import (
    HINT,
    MANIFEST,
    checkpoint_name,
    deletion_vector_name,
    epoch_name,
    footer_name,
    packed_name,
    rowset_folder,
)
from colonnade.manifests.reading.reader import LogReader
from colonnade.manifests.state.fold import apply_epoch
from colonnade.manifests.state.replaced_columns import stored_parts
from colonnade.manifests.state.snapshot import LiveRowSet, Snapshot, TableState
from colonnade.manifests.vacuum.copies import damaged_places
from colonnade.manifests.vacuum.floor import lost_states, name_lost, read_anchor
from colonnade.manifests.vacuum.objects import describe
from colonnade.manifests.vacuum.references import StateObjects
from colonnade.tableformat.verify.findings import Finding, Kind, kind_of
from colonnade.tableformat.verify.job import Unit
from colonnade.tableformat.verify.replaced_rows_check import check_replaced_rows


@dataclass(slots=True)
class LogCheck:
    """Checks the log. `findings` grow during the run; `state` is the newest reachable state.

    With `origins`, it also reads which rows the rows of each epoch replace.
    """

    log: LogReader
    origins: bool = False
    findings: list[Finding] = field(default_factory=list)
    state: Snapshot | None = None

    def run(self) -> LogCheck:
        """Check the whole log, and return itself."""
        newest = self._read_newest()
        self._follow(newest)
        if self.state is not None:
            self._check_anchors(self.state)
        for ref in () if newest is None else newest[1].earlier:
            if self.state is None or ref.epoch > self.state.floor:
                self._check_checkpoint(ref)
        return self

    def read_rowsets(self, table: TableState) -> EntryTable | None:
        """Return the RowSets of a table; None, with a finding, when its entries cannot be read."""
        try:
            return self.log.rowsets.read_entries(table, which="all")
        except ColonnadeError as error:
            self._record(error, None, table=table.name)
            return None

    def read_kept(self, epoch: int, head: Snapshot) -> Snapshot | None:
        """Return the state at a tagged or pinned epoch; None, with a finding, if it is lost."""
        try:
            return self.log.read_at(epoch, head=head)
        except ColonnadeError as error:
            self._record(error, None)
            return None

    def _read_newest(self) -> tuple[CheckpointRef, Root] | None:
        try:
            # A vacuum may remove the checkpoint that the hint named a moment ago.
            found = read_hint(self.log.store) or read_hint(self.log.store)
        except (CorruptionError, StoreError) as error:
            self._record(error, HINT)
            return None
        if found is None and self._is_listed(HINT):
            self._record_hint()
        return found

    def _record_hint(self) -> None:
        """Record what is wrong with a hint that leads to no checkpoint: its root, or the hint."""
        store, name = self.log.store, HINT
        try:
            hint = decode_model(Hint, SlotReader(store).hint(), store.locate(HINT))
            name = checkpoint_name(hint.root)
            read_root(store, hint)
        except UNUSABLE as error:
            self._record_cache(error.message, name)
        else:
            problem = f"{store.locate(HINT)} does not lead to a checkpoint of this log."
            self._record_cache(problem, HINT)

    def _check_anchors(self, head: Snapshot) -> None:
        """Read every anchor, then each of its objects at both of its places."""
        objects = StateObjects(self.log.store)
        anchors, listed = head.anchors, head.anchor_list
        try:
            anchors = read_live_anchors(self.log.store, head)
        except CorruptionError as error:
            lost = lost_states(self.log, head)
            assert listed is not None
            name = checkpoint_name(listed.object)
            problem = f"{error.message} {name_lost(head, lost)}"
            self.findings.append(Finding("damage", problem, name))
        else:
            if listed is not None:
                objects.add_anchor_list(listed)
        for anchor in anchors:
            name = checkpoint_name(anchor.root)
            try:
                read_anchor(self.log, anchor)
                objects.add_root(anchor)
                objects.add(read_state(self.log.store, anchor))
            except CorruptionError as error:
                problem = f"{error.message} {name_lost(head, [anchor.epoch])}"
                self.findings.append(Finding("damage", problem, name))
            except ColonnadeError as error:
                self._record(error, name)
        for part in objects.parts:
            try:
                wrong = damaged_places(self.log.store, part)
            except ColonnadeError as error:
                self._record(error, part.places[0])
                continue
            for place, damage in wrong.items():
                # Readers use the second copy only when the first is damaged, so it counts as a
                # cache.
                kind: Kind = "damage" if place == part.places[0] else "cache"
                note = "The other copy of it is whole: `repair` restores this one."
                self.findings.append(Finding(kind, f"{damage.message} {note}", place))

    def _is_listed(self, name: str) -> bool:
        return any(info.name == name for info in self.log.store.list(name))

    def _follow(self, newest: tuple[CheckpointRef, Root] | None, again: bool = True) -> None:
        """Fold the epochs since the floor while they can be read; after damage, only read them.

        Does so `again` if a vacuum frees the next slot meanwhile.
        """
        try:
            first = self.state = self.log.follower.read_first()
            number, broken = self._begin(first)
        except ColonnadeError as error:
            self._record(error, epoch_name(0))
            return
        state, silent = self.state, False
        while True:
            try:
                item = read_slot(self.log.store, number)
                if item is None:
                    if again and is_freed(self.log.store, first.blocks, number):
                        return self._follow(newest, again=False)
                    break
                if not broken:
                    before, state = state, apply_epoch(state, item)
                    self.state = state
                    if self.origins:
                        self.findings += check_replaced_rows(self.log, before, item)
                    if newest is not None and number == newest[0].epoch:
                        self._compare(state, newest)
            except ColonnadeError as error:
                unread = isinstance(error, StoreError)
                if silent and unread:  # two failures in a row mean that the store itself fails
                    raise
                self._record(error, epoch_name(number))
                broken, silent = True, unread
            else:
                silent = False
            number += 1
        self._check_end(number, state.blocks)

    def _begin(self, first: Snapshot) -> tuple[int, bool]:
        """Read the state at the floor. Returns the next epoch, and whether that state is lost."""
        slots = SlotReader(self.log.store, ahead=AHEAD, far=True)
        try:
            found = self.log.follower.find_floor(first, slots)
        except StoreError:
            found = None  # `_follow` names the epoch that cannot be read.
        if found is None:
            return 1, False
        floor = found[0]
        try:
            self.state = self.log.follower.read_anchored(floor)
        except ColonnadeError as error:
            self._record(error, checkpoint_name(floor.root))
            return floor.epoch + 1, True
        return floor.epoch + 1, False

    def _check_end(self, number: int, blocks: SlotBlocks) -> None:
        """Check what follows the first free slot, also far behind it.

        Writers may fill that slot and later ones before the listing.
        """
        behind = any(
            described.epoch is not None and described.epoch > number
            for info in self.log.store.list(f"{MANIFEST}/")
            if (described := describe(info))
        )
        try:
            judge_end(self.log.store, number, blocks, behind=behind)
        except ColonnadeError as error:
            self._record(error, epoch_name(number))

    def _compare(self, state: Snapshot, newest: tuple[CheckpointRef, Root]) -> None:
        """Compare the newest checkpoint with the state that the log yields."""
        ref, root = newest
        name = checkpoint_name(ref.root)
        stored = self._check_checkpoint(ref)
        if stored is None:
            return
        for table_id in {*stored.tables, *state.tables}:
            try:
                same = self._is_same(stored.tables.get(table_id), state.tables.get(table_id))
            except ColonnadeError as error:
                self._record(error, None)
                continue
            if not same:
                self._record_cache(
                    f"{self.log.store.locate(name)} differs from the state of epoch"
                    f" {root.checkpoint} that the log yields, in table {table_id}.",
                    name,
                )

    def _is_same(self, stored: TableState | None, yielded: TableState | None) -> bool:
        if stored is None or yielded is None or dict(stored.batches) != dict(yielded.batches):
            return False
        pair = (stored, yielded)
        return _are_same(*(self.log.rowsets.read(each, which="all") for each in pair))

    def _check_checkpoint(self, ref: CheckpointRef) -> Snapshot | None:
        """Read a whole checkpoint."""
        name = checkpoint_name(ref.root)
        try:
            state = read_state(self.log.store, ref)
            for table in state.tables.values():
                check_batches(table.batches)
                for used in table.rowsets.segments:
                    name = checkpoint_name(used.segment.object)
                    read_entry_segment(self.log.store, table, used)
        except ColonnadeError as error:
            kind = kind_of(error)
            self._record_cache(error.message, name, "unread" if kind == "unread" else "cache")
            return None
        return state

    def _record(self, error: ColonnadeError, file: str | None, table: str | None = None) -> None:
        self.findings.append(Finding(kind_of(error), error.message, file, table))

    def _record_cache(self, problem: str, file: str, kind: Kind = "cache") -> None:
        self.findings.append(Finding(kind, problem, file))


def _are_same(stored: Sequence[LiveRowSet], yielded: Sequence[LiveRowSet]) -> bool:
    """Return whether both are the same RowSets.

    A segment states all bounds of a column in the tag of the widest type that its RowSets had once.
    So RowSets that differ are compared again with the same tag for both.
    """
    if stored == yielded or len(stored) != len(yielded):
        return stored == yielded
    half, block = len(stored), block_of([*stored, *yielded])
    return block.live(np.arange(half)) == block.live(np.arange(half, 2 * half))


def check_files(
    unit: Unit, sizes: Mapping[str, int], folders: Mapping[str, int]
) -> Iterator[Finding]:
    """Check that the files of a RowSet exist with the stated size.

    `sizes` has the bytes of each file, and `folders` of all files in a folder. Inline RowSets and
    vectors have no files.
    """
    table, rowset, epoch = unit
    prefix, vector = table.prefix, rowset.vector
    wanted: list[tuple[str, int, int | None]] = []
    for entry in stored_parts(rowset):
        if entry.place == "packed":
            name = packed_name(prefix, entry.object)
            wanted.append((name, entry.bytes, sizes.get(name)))
        elif entry.place == "directory":
            name = footer_name(prefix, entry.object)
            wanted.append((name, entry.footer.length, sizes.get(name)))
            folder = rowset_folder(prefix, entry.object)
            if name in sizes:
                wanted.append((folder, entry.bytes, folders.get(folder)))
    if vector is not None and vector.data is None:
        name = deletion_vector_name(prefix, vector.object)
        wanted.append((name, vector.check.length, sizes.get(name)))
    for name, stated, found in wanted:
        if found != stated:
            problem = "is missing" if found is None else f"has {found} bytes instead of {stated}"
            yield Finding(
                "damage",
                f"{name} {problem}.",
                name,
                table.name,
                rowset.id,
                rows=(0, rowset.entry.rows - 1),
                epoch=epoch,
            )
