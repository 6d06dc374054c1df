"""Build and parse every name in a database. No other module builds names.

    <database>/
      _manifest/
        00000000000000000012.json          epoch 12
        hint.json                          where the newest checkpoint is; may be stale or missing
        segment-names.json                 what segments name, for vacuums; may be stale or missing
        epoch-names.json                   what epochs name, for vacuums; may be stale or missing
        maintenance.jsonl                  a journal of maintenance rounds, for people
        maintenance/<time>-<digits>.json   a round, where a store cannot append to a journal
        checkpoint/<object id>.json        a checkpoint's root or one of its segments
        copy/<object id>.json              a copy of such an object, where an anchor needs it
        freed-<database id>-<block>.json   a mark: the slots of this block are free
      <table id>/
        <object id>/
          rowset.json                      footer of a RowSet in a directory
          <column id>.col  <column id>.idx
        <object id>.rowset                 packed RowSet
        <object id>.dv                     deletion vector too large for the log
        <object id>.origin                 origin of compacted rows, too large for the log

Names are relative to the database and use `/`. The store adds its own root.
Spec: docs/spec/layout.md
"""

from __future__ import annotations

import re
from datetime import datetime, timezone

from colonnade.manifests.ids import OBJECT_ID, TABLE_ID

MANIFEST = "_manifest"
HINT = f"{MANIFEST}/hint.json"
SEGMENT_NAMES = f"{MANIFEST}/segment-names.json"
EPOCH_NAMES = f"{MANIFEST}/epoch-names.json"
CACHES = (HINT, SEGMENT_NAMES, EPOCH_NAMES)
"""The files that are replaced in place. They may be stale or missing."""
JOURNAL = f"{MANIFEST}/maintenance.jsonl"
OLDER_JOURNAL = f"{MANIFEST}/maintenance.1.jsonl"
ROUNDS = f"{MANIFEST}/maintenance/"
CHECKPOINTS = f"{MANIFEST}/checkpoint"
COPIES = f"{MANIFEST}/copy"
FREED = f"{MANIFEST}/freed-"


def epoch_name(epoch: int) -> str:
    """Return the name of the file of epoch `epoch` (0 or more)."""
    return f"{MANIFEST}/{epoch:020d}.json"


_EPOCH = re.compile(rf"{MANIFEST}/([0-9]{{20}})\.json", re.ASCII)
_FREED = re.compile(rf"{FREED}{TABLE_ID.pattern}-([0-9]{{20}})\.json", re.ASCII)
_CHECKPOINT = re.compile(rf"(?:{CHECKPOINTS}|{COPIES})/({OBJECT_ID.pattern})\.json", re.ASCII)
_COLUMN = r"[1-9][0-9]{0,9}\.(?:col|idx)"
_FILES = rf"({OBJECT_ID.pattern})(?:\.rowset|\.dv|\.origin|/rowset\.json|/{_COLUMN})"
_DATA = re.compile(rf"{TABLE_ID.pattern}/{_FILES}", re.ASCII)
_TABLE = re.compile(TABLE_ID.pattern, re.ASCII)
_OF_TABLE = re.compile(rf"{OBJECT_ID.pattern}(?:\.rowset|\.dv|\.origin)?", re.ASCII)


def epoch_number(name: str) -> int | None:
    """Return the number of the epoch whose file has this name; None for any other name."""
    found = _EPOCH.fullmatch(name)
    return int(found[1]) if found else None


def needs_log(name: str) -> bool:
    """Return whether epoch 0 must exist before this is put: a cache, later epochs, marks."""
    return name in CACHES or bool(epoch_number(name)) or name.startswith(FREED)


def is_immutable(name: str) -> bool:
    """Return whether the object of this name never gets other bytes, at any time.

    These are the objects with random names: all objects of tables, and those of checkpoints. An
    epoch may be removed, and its name may be used again by a later database at the same place.
    """
    return not name.startswith(f"{MANIFEST}/") or name.startswith((f"{CHECKPOINTS}/", f"{COPIES}/"))


def checkpoint_name(object_id: str) -> str:
    """Return the name of a checkpoint root or of a checkpoint segment."""
    return f"{CHECKPOINTS}/{object_id}.json"


def copy_name(object_id: str) -> str:
    """Return the name of the copy of a checkpoint root or segment."""
    return f"{COPIES}/{object_id}.json"


def freed_name(database_id: str, block: int) -> str:
    """Return the name of the mark of block `block` (0 or more) of a database's slots."""
    return f"{FREED}{database_id}-{block:020d}.json"


def freed_block(name: str) -> int | None:
    """Return the block whose mark has this name; None for any other name."""
    found = _FREED.fullmatch(name)
    return int(found[1]) if found else None


def table_prefix(table_id: str) -> str:
    """Return the prefix of all objects of a table."""
    return f"{table_id}/"


def round_name(time: datetime, digits: str) -> str:
    """Return the name of a maintenance round that began at `time`, so that names sort by time."""
    return f"{ROUNDS}{time.astimezone(timezone.utc):%Y%m%dT%H%M%S}-{digits}.json"


def rowset_folder(prefix: str, object_id: str) -> str:
    """Return the name of the folder of a RowSet stored as a directory."""
    return f"{prefix}{object_id}"


def footer_name(prefix: str, object_id: str) -> str:
    """Return the name of the footer of a RowSet stored as a directory."""
    return f"{prefix}{object_id}/rowset.json"


def column_segment_name(prefix: str, object_id: str, column_id: int) -> str:
    """Return the name of the column segment of a RowSet stored as a directory."""
    return f"{prefix}{object_id}/{column_id}.col"


def index_name(prefix: str, object_id: str, column_id: int) -> str:
    """Return the name of the sparse index of a column segment stored in a directory."""
    return f"{prefix}{object_id}/{column_id}.idx"


def packed_name(prefix: str, object_id: str) -> str:
    """Return the name of a packed RowSet: all segments, indexes and the footer in one object."""
    return f"{prefix}{object_id}.rowset"


def deletion_vector_name(prefix: str, object_id: str) -> str:
    """Return the name of a deletion vector stored as an object of its own."""
    return f"{prefix}{object_id}.dv"


def origin_name(prefix: str, object_id: str) -> str:
    """Return the name of the object that stores the origin of the rows of a compaction."""
    return f"{prefix}{object_id}.origin"


def checkpoint_object(name: str) -> str | None:
    """Return the id of the part of a checkpoint, or of its copy, with this name; else None."""
    found = _CHECKPOINT.fullmatch(name)
    return found[1] if found else None


def data_object(name: str) -> str | None:
    """Return the id of the object of a table with this name; None for any other name."""
    found = _DATA.fullmatch(name)
    return found[1] if found else None


def is_table_folder(entry: str) -> bool:
    """Return whether a table may have its objects in a folder of this name."""
    return _TABLE.fullmatch(entry) is not None


def is_in_table_folder(entry: str) -> bool:
    """Return whether a table may have a file or folder of this name directly in its folder."""
    return _OF_TABLE.fullmatch(entry) is not None
