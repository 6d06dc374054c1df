"""How the slots of a log are divided into blocks, which are freed one after another. Pure.

Spec: docs/spec/epoch-log.md#freed-slots
"""

from __future__ import annotations

from dataclasses import dataclass

from colonnade.manifests.ids import TableId
from colonnade.manifests.object_names import freed_name

FREED_SLOTS = "freed_slots"
"""The feature that readers and writers of a database know, in which slots become free again."""

SLOT_BLOCK = 16_384
"""The slots of a block in new databases."""


@dataclass(frozen=True, slots=True)
class SlotBlocks:
    """The blocks of a database, of `size` slots each. The slot of epoch 0 is never freed."""

    database: TableId
    size: int

    def of(self, slot: int) -> int:
        """The number of the block that a slot is in."""
        return slot // self.size

    def first(self, block: int) -> int:
        """The first slot of a block."""
        return block * self.size

    def whole_below(self, floor: int) -> int:
        """How many blocks end before a floor: their slots may be freed."""
        return floor // self.size

    def mark(self, block: int) -> str:
        """The name of the mark of a block."""
        return freed_name(self.database, block)
