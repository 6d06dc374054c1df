"""The features that a database requires, and their fold. Pure.

Spec: docs/spec/epoch-log.md#features
"""

from __future__ import annotations

from collections.abc import Iterable

from colonnade.manifests.errors import UnsupportedFormatError
from colonnade.manifests.model.column_default import COLUMN_DEFAULTS
from colonnade.manifests.model.constraints import CHECK_CONSTRAINTS
from colonnade.manifests.model.generated import GENERATED_COLUMNS
from colonnade.manifests.model.identity import IDENTITY_COLUMNS
from colonnade.manifests.model.lifetimes import LIFETIMES
from colonnade.manifests.model.members import SHARED_EPOCHS
from colonnade.manifests.model.nested_fields import NESTED_FIELDS
from colonnade.manifests.model.operations import EnableFeatures
from colonnade.manifests.model.primary_key import PRIMARY_KEY
from colonnade.manifests.model.range_tombstones import RANGE_TOMBSTONES
from colonnade.manifests.model.slot_blocks import FREED_SLOTS, UPGRADED_SLOTS
from colonnade.manifests.model.statics import STATIC_COLUMNS
from colonnade.manifests.model.tombstones import TOMBSTONES
from colonnade.manifests.model.widening import WIDENED_COLUMNS
from colonnade.manifests.state.partition_layout import PARTITIONS
from colonnade.manifests.state.refusal import refuse
from colonnade.manifests.state.replaced_columns import REPLACE_COLUMN
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.state.sort_order import SORT_ORDERS

READER_FEATURES: frozenset[str] = frozenset(
    {
        CHECK_CONSTRAINTS,
        COLUMN_DEFAULTS,
        FREED_SLOTS,
        GENERATED_COLUMNS,
        IDENTITY_COLUMNS,
        LIFETIMES,
        NESTED_FIELDS,
        PARTITIONS,
        PRIMARY_KEY,
        RANGE_TOMBSTONES,
        REPLACE_COLUMN,
        SHARED_EPOCHS,
        SORT_ORDERS,
        STATIC_COLUMNS,
        TOMBSTONES,
        UPGRADED_SLOTS,
        WIDENED_COLUMNS,
    }
)
"""Features that this code can read. It refuses a database that requires another one."""

WRITER_FEATURES: frozenset[str] = READER_FEATURES
"""Features that this code can write. A database that requires another one is read-only."""

_SLOTS = frozenset({FREED_SLOTS, UPGRADED_SLOTS})


def check_reader_features(features: Iterable[str]) -> None:
    """Refuse unknown features. Raises UnsupportedFormatError, which names them."""
    unknown = sorted(set(features) - READER_FEATURES)
    if unknown:
        raise UnsupportedFormatError(
            f"This database needs features that this version cannot read: {', '.join(unknown)};"
            " upgrade Colonnade."
        )


class FeaturesFold:
    """The features of a database and its blocks of slots, while they are being changed."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.reader, self.writer = snapshot.reader_features, snapshot.writer_features
        self.slot_block, self.slot_start = snapshot.slot_block, snapshot.slot_start

    def has(self, feature: str) -> bool:
        """Return whether readers and writers must know a feature."""
        return feature in self.reader and feature in self.writer

    def enable(self, epoch: int, operation: EnableFeatures) -> None:
        """Apply an operation of an epoch. Raises CorruptionError; UnsupportedFormatError."""
        check_reader_features(operation.reader)
        named = frozenset((*operation.reader, *operation.writer))
        if operation.slot_block is None:
            if named & _SLOTS - (self.reader & self.writer):
                refuse(epoch, f"enables {FREED_SLOTS!r} without a slot block")
        elif self.slot_block is not None:
            refuse(epoch, "states a second slot block")
        elif not _SLOTS.issubset(operation.reader) or not _SLOTS.issubset(operation.writer):
            refuse(epoch, f"states a slot block without the feature {UPGRADED_SLOTS!r}")
        else:
            self.slot_block, self.slot_start = operation.slot_block, epoch + 1
        self.reader |= frozenset(operation.reader)
        self.writer |= frozenset(operation.writer)
