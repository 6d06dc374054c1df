"""The objects that states and epochs name, read from the log. What none names, nobody can read.

Spec: docs/spec/vacuum.md#references
"""

from __future__ import annotations

from manifests.checkpoint_reader import read_segment_objects
from manifests.log_reader import LogReader
from manifests.named_objects import named_objects
from manifests.operations import AddRowSets
from manifests.snapshot import Snapshot


def read_state_objects(log: LogReader, state: Snapshot) -> set[str]:
    """The objects of a state: its RowSets, their vectors, and the segments that list them.

    Reads all of these segments. Raises CorruptionError where one cannot be read, StoreError.
    """
    found = set(state.stored_objects())
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
                found.update(read_segment_objects(log.store, operation.segment))
    return found
