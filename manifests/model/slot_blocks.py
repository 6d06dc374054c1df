"""Blocks of the log's slots. Vacuum frees slots block by block. Pure.

Spec: docs/spec/epoch-log.md#freed-slots
"""

from __future__ import annotations

from dataclasses import dataclass

from colonnade.manifests.ids import TableId
from colonnade.manifests.object_names import freed_name

FREED_SLOTS = "freed_slots"
"""The feature that readers and writers of a database with freed slots must support."""

UPGRADED_SLOTS = "upgraded_slots"
"""The feature of databases that free slots only from an upgrade on."""

SLOT_BLOCK = 16_384
"""The number of slots in a block of a new database."""


@dataclass(frozen=True, slots=True)
class SlotBlocks:
    """The blocks of a database, of `size` slots each. Block 0 begins at the slot `start`.

    Slots before `start` belong to no block. They and the slot of epoch 0 are never freed.
    """

    database: TableId
    size: int
    start: int = 0

    @property
    def are_large(self) -> bool:
        """Whether a block is never filled, given up and freed within a store's `trust_s`."""
        return self.size >= SLOT_BLOCK

    def of(self, slot: int) -> int:
        """Return the number of the block that contains a slot; below 0 for no block."""
        return (slot - self.start) // self.size

    def first(self, block: int) -> int:
        """Return the first slot of a block."""
        return self.start + block * self.size

    def whole_below(self, floor: int) -> int:
        """Return the number of blocks that end before a floor. Their slots may be freed."""
        return max(0, (floor - self.start) // self.size)

    def mark(self, block: int) -> str:
        """Return the name of the mark of a block."""
        return freed_name(self.database, block)
