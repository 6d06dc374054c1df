"""The objects that states and epochs name, read from the log. What none names, nobody can read.

Spec: docs/spec/vacuum.md#references
"""

from __future__ import annotations

from manifests.entries import SegmentEntry
from manifests.errors import CorruptionError, NotFoundError
from manifests.log_reader import LogReader
from manifests.named_objects import named_objects
from manifests.names import checkpoint_name
from manifests.operations import AddRowSets
from manifests.segment import decode_segment_objects
from manifests.snapshot import Snapshot


def read_state_objects(log: LogReader, state: Snapshot) -> set[str]:
    """The objects of a state: its RowSets, their vectors, and the segments that list them.

    Reads all of these segments. Raises CorruptionError where one cannot be read, StoreError.
    """
    found = set[str]()
    for table in state.tables.values():
        found.update(ref.segment.object for ref in table.rowsets.segments)
        found.update(log.read_entries(table).object_ids())
    return found


def read_later_objects(log: LogReader, state: Snapshot, newest: int) -> set[str]:
    """The objects that the epochs after a state name, up to `newest`.

    Together with those of the state they are the objects of every state from there on, and what
    row numbers are carried through. Reads every epoch. Raises CorruptionError, StoreError.
    """
    found = set[str]()
    for epoch in log.read_epochs(newest, newest - state.epoch):
        found.update(named_objects(epoch.ops))
        for operation in epoch.ops:
            if isinstance(operation, AddRowSets):
                found.update(_listed(log, operation.segment))
    return found


def _listed(log: LogReader, segment: SegmentEntry) -> list[str]:
    name = checkpoint_name(segment.object)
    try:
        data = log.store.get(name, limit=segment.check.length)
    except NotFoundError as error:
        location = log.store.locate(name)
        raise CorruptionError(f"{location}, a part of the log, is missing.") from error
    return decode_segment_objects(data, segment, log.store.locate(name))
