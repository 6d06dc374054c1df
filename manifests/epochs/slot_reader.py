"""Read the slots of a log one after another, and those behind them before they are asked for.

Behind a network, a slot that is read ahead costs no time. All slots of one group are read side by
side, so a later slot may have been read before an earlier one.
Spec: docs/spec/epoch-log.md#head
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial

from colonnade.manifests.clock import elapsed_s
from colonnade.manifests.epochs.freed_slots import is_freed
from colonnade.manifests.epochs.slots import (
    FAR,
    NEXT,
    SlotEnd,
    any_taken,
    is_taken,
    judge_end,
    lists_later,
)
from colonnade.manifests.errors import (
    ColonnadeError,
    CorruptionError,
    NotFoundError,
    StoreError,
)
from colonnade.manifests.model.codec import EPOCH_LIMIT, decode_slot
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.model.slot_blocks import SLOT_BLOCK, SlotBlocks
from colonnade.manifests.object_names import HINT, epoch_name
from colonnade.manifests.store.object_store import ObjectStore

AHEAD = 66
"""The most slots that are read at once: that of a checkpoint, the usual number of epochs up to the
next checkpoint, and the free slot after them.
"""

_AHEAD_BYTES = 2**20
"""The most bytes of an epoch that is read ahead. A larger one is read again when it is used."""

_KEPT_BYTES = 2**26
"""The most bytes of epochs that are kept to be read twice."""

_GROWTH = 4

_NEAR = 8
"""How many slots are all read at first, where samples of later ones are read, too."""

_SAMPLED = (15, 23, 31, 39, 47, 55, 63, 71, 103, 135)
"""Distances of the samples from the first slot that is read.

One look at these slots tells how many epochs follow. Most are far slots (`FAR`) of earlier ones,
which are then not read again. In two rounds they find the end of a log up to 102 epochs away. The
last slot of each block is a sample, too: where it is free, the block was not freed.
"""

HINT_LIMIT = 4096
"""The most bytes of a hint."""


class SlotReader:
    """Reads slots in ascending order. If the store has `parallel` 1, it reads none ahead.

    `ahead` is the number of slots of the first group; each later group is larger, up to `AHEAD`.
    `far` looks for lost epochs as far behind the end as a process that opens a log has to, and
    reads samples of the slots first (`fetch_samples`). `last` is the last slot that the caller
    needs. `trusted` means that the caller has seen the log a moment ago, and accepts a free slot as
    the end without a further look. `known_hint` is the result of `try_hint`, if there is one
    already. `beside` are calls to make once, beside the slots between the samples; their errors are
    raised there. No slot was read before `started` (`elapsed_s`).
    """

    known_hint: bytes | ColonnadeError | None = None
    beside: Sequence[Callable[[], object]] = ()

    def __init__(
        self,
        store: ObjectStore,
        *,
        ahead: int = 1,
        far: bool = False,
        last: int | None = None,
        trusted: bool = False,
    ) -> None:
        self.started = elapsed_s()
        self.trusted = trusted
        self._store = store
        self._ahead = ahead
        self._far = far
        self._last = last
        self._group = range(0)
        self._sampled: list[int] = []
        self._unfreed: tuple[SlotBlocks, int] | None = None
        self._found: dict[int, bytes | ColonnadeError] = {}
        self._kept: dict[int, bytes] = {}
        self._room = _KEPT_BYTES
        self._keeps = False

    def hint(self) -> bytes:
        """Return the bytes of the hint. Costs one GET, or nothing if they are known.

        Raises NotFoundError; CorruptionError; StoreError.
        """
        found = try_hint(self._store) if self.known_hint is None else self.known_hint
        if isinstance(found, ColonnadeError):
            raise found
        return found

    def fetch_samples(self, number: int) -> None:
        """Read some slots from `number` on, which tell how many epochs follow.

        The slots between them are read when the first of these is asked for. A reader that does not
        look `far` reads a group of its usual size instead.
        """
        if not self._far or self._store.parallel == 1:
            self.fetch(number)
            return
        self._group, self._found = range(number, number + _NEAR), {}
        last = number + _SAMPLED[-1]
        ends = range(SLOT_BLOCK - 1, last, SLOT_BLOCK)[number // SLOT_BLOCK :]
        self._sampled = sorted({number + distance for distance in _SAMPLED} | {*ends})
        self._sampled = [each for each in self._sampled if each not in self._group]
        self._read([*self._group, *self._sampled])

    def _fetch_rest(self, blocks: SlotBlocks | None) -> None:
        """Read the slots that `fetch_samples` left out, up to the first free sample.

        The looks for the end of the log, and the calls `beside`, are made side by side with them.
        """
        sampled, self._sampled = self._sampled, []
        beside, self.beside = self.beside, ()
        free = next((each for each in sampled if not self._is_taken(each)), None)
        near, last = self._group.stop, sampled[-1] if free is None else free
        self._group = range(self._group.start, last + 1)
        wanted = [*range(near, last), *(last + distance for distance in FAR)]
        calls: list[Callable[[], object]] = [
            partial(self._read, [each for each in wanted if each not in self._found]),
            *beside,
        ]
        if free is not None:
            calls.append(partial(self.look_for_mark, blocks, free))
        self._store.together(calls)

    def _is_taken(self, number: int) -> bool:
        return not isinstance(self._found.get(number), NotFoundError)

    def keep(self) -> None:
        """Keep the bytes of epochs from here on, so that reading them again costs nothing.

        At most `_KEPT_BYTES` are kept.
        """
        self._keeps = True

    def read_up_to(self, last: int) -> None:
        """Read no slot after `last` from here on, and forget which slots were free.

        Requires: `last` was an epoch of the log that could be read just before.
        """
        self._last, self._far, self._unfreed = last, False, None
        self._found, self._sampled, self._group = {}, [], range(0)

    def record_free(self, number: int) -> None:
        """Let the next read of a slot, which was free a moment ago, find it free at no cost."""
        self._found[number] = NotFoundError(self._store.locate(epoch_name(number)))

    def is_free(self, number: int) -> bool:
        """Return whether a slot is known to be free. Costs one GET if nothing is read ahead."""
        if self._store.parallel == 1:
            return not is_taken(self._store, number)
        return isinstance(self._found.get(number), NotFoundError)

    def look_for_mark(self, blocks: SlotBlocks | None, free: int) -> None:
        """Record that the block of a slot, which was free, had no mark. An error says nothing.

        Costs one GET. Call it beside other reads.
        """
        if blocks is None:
            return
        with suppress(ColonnadeError):
            if not is_freed(self._store, blocks, free):
                self._unfreed = blocks, blocks.of(free)

    def _is_unfreed(self, number: int, blocks: SlotBlocks) -> bool:
        """Return whether a slot had not been freed when this reader read it, by an earlier look.

        No block is marked so soon after it was filled as a log is trusted.
        """
        known = self._unfreed == (blocks, blocks.of(number))
        return known and elapsed_s() - self.started < self._store.trust_s

    def _read(self, numbers: Sequence[int]) -> None:
        numbers = [number for number in numbers if number not in self._kept]
        found = self._store.read_many([*map(epoch_name, numbers)], limit=_AHEAD_BYTES)
        self._found.update(zip(numbers, found, strict=True))

    def fetch(self, number: int, first: int | None = None) -> None:
        """Read a group of slots that begins with `number`, and far slots behind it.

        With `first`, it reads a group of that size and no far slots.
        """
        if self._store.parallel == 1:
            return
        stop = number + min(first or self._ahead, self._store.parallel)
        if self._last is not None:
            stop = max(number + 1, min(stop, self._last + 1))
        self._group = range(number, stop)
        if first is None:
            self._ahead = min(_GROWTH * self._ahead, AHEAD)
        # Counted from the last slot of the group, these slots meet every gap that `FAR` promises
        # to find, wherever in the group the gap begins.
        far = [stop - 1 + distance for distance in FAR] if self._far and first is None else []
        self._found, self._sampled = {}, []
        self._read([*self._group, *far])

    def peek(self, number: int) -> bytes | ColonnadeError:
        """Return what the last group has of a slot: its bytes, or the error of the read."""
        return self._found[number]

    def data(self, number: int) -> bytes:
        """Return the bytes in a slot, of a group that was read ahead or from the store.

        Raises NotFoundError for a free slot; CorruptionError, StoreError.
        """
        if number in self._kept:
            return self._kept[number]
        found = self._found.get(number)
        if not isinstance(found, bytes):
            self._found.pop(number, None)
            if isinstance(found, NotFoundError):
                raise found
            found = self._store.get(epoch_name(number), limit=EPOCH_LIMIT)
        if self._keeps and len(found) <= self._room:
            self._kept[number] = found
            self._room -= len(found)
        return found

    def read(self, number: int, blocks: SlotBlocks | None = None) -> Epoch | None:
        """Return the content of a slot, as `read_slot` does.

        A slot that was free is read again from the store. `blocks` are those of the state before,
        and None without one.
        """
        if self._sampled and number == self._group.stop:
            self._fetch_rest(blocks)
        elif number not in self._found and number not in self._kept:
            self.fetch_samples(number)
        try:
            data = self.data(number)
        except NotFoundError:
            return None
        return decode_slot(data, number, self._store.locate(epoch_name(number)))

    def check_end(self, number: int, blocks: SlotBlocks) -> SlotEnd:
        """Return whether a slot, which was just read and was free, is the end of the log.

        Returns, costs and raises as `check_end` in `slots.py`. Slots behind it that were not read
        yet are looked at beside the mark, where the store reads objects side by side. Returns
        `END` and costs nothing if the reader is `trusted` and has seen no later object, and if it
        `proves_end`. Slot 1 costs a listing of the log instead of looks behind it.
        """
        behind, unread = self._is_known_behind(number), self._unread_behind(number)
        if (self.trusted and not behind) or self.proves_end(number, blocks):
            return SlotEnd.END
        looks = partial(any_taken, self._store, unread)
        if number == 1:
            looks = partial(lists_later, self._store, blocks)
        judge = partial(judge_end, self._store, number, blocks)
        if behind or (number > 1 and not unread) or self._store.parallel == 1:
            return judge(behind=behind or looks())
        later, found = self._store.both(looks, partial(judge, behind=False))
        if found is SlotEnd.END and later:
            # The free slot may be a gap. The mark tells so only if it is looked for after this.
            return judge(behind=True)
        return found

    def is_gap(self, number: int) -> bool:
        """Return whether an object is behind a slot that was just read and was free.

        Slots that were not read yet are looked at. Raises StoreError.
        """
        if self._is_known_behind(number):
            return True
        return any_taken(self._store, self._unread_behind(number))

    def proves_end(self, number: int, blocks: SlotBlocks) -> bool:
        """Return whether all looks that `check_end` makes at a free slot were made beside reads."""
        if number == 1 or not self._is_unfreed(number, blocks):
            return False
        return not (self._is_known_behind(number) or self._unread_behind(number))

    def _unread_behind(self, number: int) -> list[int]:
        """Return the slots behind a free slot that an end needs and that were not read yet."""
        if not self._far:
            distances = () if self.trusted or number + 1 in self._found else NEXT
            return [number + distance for distance in distances]
        last = max(number, self._group.stop - 1) if number in self._group else number
        # Counted from the free slot or from the end of its group, far slots find the same gaps.
        known = self._found
        return min(([n + d for d in FAR if n + d not in known] for n in (last, number)), key=len)

    def _is_known_behind(self, number: int) -> bool:
        known = [self._found[each] for each in self._found if each > number]
        for found in known:
            if isinstance(found, ColonnadeError) and not isinstance(
                found, NotFoundError | CorruptionError
            ):
                raise found
        taken = any(not isinstance(found, NotFoundError) for found in known)
        return taken or any(each > number for each in self._kept)


def try_hint(store: ObjectStore) -> bytes | ColonnadeError:
    """Return the bytes of the hint of a log, or the error of the read. Costs one GET.

    An old hint, and an old NotFoundError, do no harm: they lead to the same head by more reads.
    """
    try:
        return store.get(HINT, limit=HINT_LIMIT)
    except (NotFoundError, CorruptionError, StoreError) as error:
        return error


def read_slots_down(
    store: ObjectStore, newest: int, oldest: int
) -> Iterator[tuple[int, Epoch | None]]:
    """Yield slots from `newest` down to `oldest`, each with its content as `read_slot` returns it.

    Reads up to `AHEAD` slots side by side. If the store has `parallel` 1, it reads none ahead.
    """
    at_once = min(AHEAD, store.parallel)
    for top in range(newest, oldest - 1, -at_once):
        bottom = max(oldest, top - at_once + 1)
        slots = SlotReader(store, ahead=top - bottom + 1)
        slots.fetch(bottom)
        for number in range(top, bottom - 1, -1):
            yield number, slots.read(number)
