"""The meaning of a stored object's name. Pure.

Only names that `manifests/object_names.py` builds have a meaning here. A vacuum neither counts nor
removes any other file in a database.
Spec: docs/spec/vacuum.md#names
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from colonnade.manifests.ids import OBJECT_ID, TABLE_ID
from colonnade.manifests.object_names import CHECKPOINTS, COPIES, FREED, HINT, MANIFEST
from colonnade.manifests.store.base import ObjectInfo
from colonnade.manifests.store.checks import finished_name

_OBJECT = OBJECT_ID.pattern
_COLUMN = r"[1-9][0-9]{0,9}\.(?:col|idx)"
_FILES = rf"(?P<object>{_OBJECT})(?:\.rowset|\.dv|\.origin|/rowset\.json|/{_COLUMN})"
_DATA_AT_ROOT = re.compile(_FILES, re.ASCII)
_DATA_OF_TABLE = re.compile(rf"{TABLE_ID.pattern}/{_FILES}", re.ASCII)
_CHECKPOINT = re.compile(rf"(?:{CHECKPOINTS}|{COPIES})/(?P<object>{_OBJECT})\.json", re.ASCII)
_EPOCH = re.compile(rf"{MANIFEST}/(?P<epoch>[0-9]{{20}})\.json", re.ASCII)
_MARK = re.compile(rf"{FREED}{TABLE_ID.pattern}-[0-9]{{20}}\.json", re.ASCII)
_NOTE = re.compile(rf"{MANIFEST}/(?:notes|statements)", re.ASCII)


@dataclass(frozen=True, slots=True)
class Stored:
    """One object in a store, as its name describes it.

    `kind` is an epoch of the log (`epoch`), the `mark` of a freed block, the `hint`, a part of a
    `checkpoint` or its copy, `data` of a table, the file of notes or statements of waiting writers
    (`note`), or `other`. `object` is the object's id, if it has one. `target` is the name that an
    unfinished object would have got, or the name of a finished one.
    """

    info: ObjectInfo
    kind: Literal["epoch", "mark", "hint", "checkpoint", "data", "note", "other"]
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


def describe(info: ObjectInfo, *, lone_table: bool) -> Stored:
    """Describe a stored object, finished or not, in a database of one table or several."""
    name = finished_name(info.name) or info.name
    if name == HINT:
        return Stored(info, "hint", name)
    if found := _EPOCH.fullmatch(name):
        return Stored(info, "epoch", name, epoch=int(found["epoch"]))
    if _MARK.fullmatch(name):
        return Stored(info, "mark", name)
    if name != info.name and _NOTE.fullmatch(name):
        return Stored(info, "note", name)
    if found := _CHECKPOINT.fullmatch(name):
        return Stored(info, "checkpoint", name, object=found["object"])
    data = _DATA_AT_ROOT if lone_table else _DATA_OF_TABLE
    if found := data.fullmatch(name):
        return Stored(info, "data", name, object=found["object"])
    return Stored(info, "other", name)
