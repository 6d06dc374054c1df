"""The state after epoch 0, which creates the database. Pure.

Spec: docs/spec/epoch-log.md#fold
"""

from __future__ import annotations

from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.ids import TableId
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.model.operations import CreateDatabase
from colonnade.manifests.state.features import check_reader_features
from colonnade.manifests.state.snapshot import Snapshot


def first_snapshot(epoch: Epoch) -> Snapshot:
    """Return the state that epoch 0 makes: a database without tables.

    Raises CorruptionError for an epoch that does not create a database, or contradicts itself;
    UnsupportedFormatError for a reader feature that this code does not know.
    """
    create = epoch.ops[0] if len(epoch.ops) == 1 else None
    if not isinstance(create, CreateDatabase) or epoch.epoch or epoch.base or epoch.previous:
        raise CorruptionError("Epoch 0 does not create a database: the log is damaged.")
    check_reader_features(create.reader_features)
    return Snapshot(
        database=TableId(create.database),
        lone_table=create.lone_table,
        slot_block=create.slot_block,
        epoch=0,
        transaction=epoch.transaction,
        time_ms=epoch.time_ms,
        clock_ms=epoch.clock_ms,
        floor=0,
        anchors=(),
        reader_features=frozenset(create.reader_features),
        writer_features=frozenset(create.writer_features),
        tables={},
    )
