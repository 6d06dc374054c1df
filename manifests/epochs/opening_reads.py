"""The first reads of an address behind a network, before it is known whether a log is there.

The hint and the first slots are read side by side. So a log with few epochs and no checkpoint is
read by then, up to the look for the mark of its block.
Spec: docs/spec/epoch-log.md#head
"""

from __future__ import annotations

from functools import partial

from colonnade.manifests.clock import elapsed_s
from colonnade.manifests.epochs.slot_reader import AHEAD, SlotReader, try_hint
from colonnade.manifests.epochs.slots import read_slot
from colonnade.manifests.errors import CorruptionError, NotFoundError
from colonnade.manifests.model.codec import decode_slot
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.object_names import epoch_name
from colonnade.manifests.store.object_store import ObjectStore

FIRST = 8
"""The slots that are read at first: more than the epochs of a table with a few writes."""

_FRESH_S = 10.0
"""After this time the slots are read again, so that a late answer does not make the look old."""


class OpeningReads:
    """The hint and the first slots of an address.

    Creating one costs a GET of the hint and one of each of the first `count` slots, side by side.
    Requires a store that reads objects side by side. Errors of reads are raised by the methods that
    need these objects.
    """

    def __init__(self, store: ObjectStore, count: int = FIRST) -> None:
        self._store = store
        self._slots: SlotReader | None = (slots := SlotReader(store, ahead=AHEAD, far=True))
        self.hint, _ = store.both(partial(try_hint, store), partial(slots.fetch, 0, count))
        self._first = slots.peek(0)

    def is_taken(self) -> bool:
        """Return whether slot 0 had an object. Raises StoreError."""
        if isinstance(self._first, bytes | CorruptionError):
            return True
        if isinstance(self._first, NotFoundError):
            return False
        raise self._first

    def read_first(self) -> Epoch | None:
        """Return the content of slot 0, or None if it was free.

        Costs one GET if the epoch is very large. Raises as `read_slot`.
        """
        if isinstance(self._first, bytes):
            return decode_slot(self._first, 0, self._store.locate(epoch_name(0)))
        return read_slot(self._store, 0) if self.is_taken() else None

    def slots(self) -> SlotReader:
        """Return a reader for the slots of the log, which opens it.

        The first caller gets the slots that were read, unless that was ten seconds ago. Each other
        caller gets the hint alone, which may be old.
        """
        slots, self._slots = self._slots, None
        if slots is None or elapsed_s() - slots.started > _FRESH_S:
            slots = SlotReader(self._store, ahead=AHEAD, far=True)
        slots.known_hint = self.hint
        return slots
