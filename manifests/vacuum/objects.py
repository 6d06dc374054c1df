"""The meaning of a stored object's name. Pure.

Only names that `manifests/object_names.py` builds have a meaning here. A vacuum neither counts nor
removes any other file in a database.
Spec: docs/spec/vacuum.md#names
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from colonnade.manifests.object_names import (
    CACHES,
    checkpoint_object,
    data_object,
    epoch_number,
    freed_block,
)
from colonnade.manifests.store.base import ObjectInfo
from colonnade.manifests.store.checks import finished_name


class StoredFile(NamedTuple):
    """One object in a store, as its name describes it.

    Each `kind` means:
    - `epoch`: an epoch of the log
    - `mark`: the mark of a freed block
    - `cache`: the hint, or the names in segments or epochs
    - `checkpoint`: a part of a checkpoint, or the copy of one
    - `data`: an object of a table
    - `other`: any other name

    `object` is the object's id, if it has one. `target` is the name of a finished object, or the
    name that an unfinished one would have got.
    """

    info: ObjectInfo
    kind: Literal["epoch", "mark", "cache", "checkpoint", "data", "other"]
    target: str
    object: str | None = None
    epoch: int | None = None

    @property
    def unfinished(self) -> bool:
        """Whether a killed writer left it unfinished."""
        return self.target != self.info.name

    @property
    def folder(self) -> str | None:
        """The folder of a RowSet that is stored as a directory, if the object is in one."""
        above = self.target.rpartition("/")[0]
        return above if self.kind == "data" and above.endswith(self.object or "/") else None


def describe(info: ObjectInfo) -> StoredFile:
    """Describe a stored object, finished or not."""
    name = finished_name(info.name) or info.name
    if (epoch := epoch_number(name)) is not None:
        return StoredFile(info, "epoch", name, epoch=epoch)
    if name in CACHES:
        return StoredFile(info, "cache", name)
    if freed_block(name) is not None:
        return StoredFile(info, "mark", name)
    if (found := checkpoint_object(name)) is not None:
        return StoredFile(info, "checkpoint", name, object=found)
    if (found := data_object(name)) is not None:
        return StoredFile(info, "data", name, object=found)
    return StoredFile(info, "other", name)
