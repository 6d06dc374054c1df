"""Blocks of the log's slots. Vacuum frees slots block by block. Pure.

Spec: docs/spec/epoch-log.md#freed-slots
"""

from __future__ import annotations

from dataclasses import dataclass

from colonnade.manifests.ids import TableId
from colonnade.manifests.object_names import FREED, freed_name

SLOT_BLOCK = 64
"""The number of slots in a block of a new database."""


@dataclass(frozen=True, slots=True)
class SlotBlocks:
    """The blocks of a database, of `size` slots each. Block 0 begins with the slot of epoch 0.

    This slot is never freed.
    """

    database: TableId
    size: int

    def of(self, slot: int) -> int:
        """Return the number of the block that contains a slot."""
        return slot // self.size

    def first(self, block: int) -> int:
        """Return the first slot of a block."""
        return block * self.size

    def whole_below(self, floor: int) -> int:
        """Return the number of blocks that end before a floor. Their slots may be freed."""
        return floor // self.size

    @property
    def prefix(self) -> str:
        """What the names of all marks begin with."""
        return f"{FREED}{self.database}-"

    def mark(self, block: int) -> str:
        """Return the name of the mark of a block."""
        return freed_name(self.database, block)
