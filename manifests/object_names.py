"""Every name in a database is built here and nowhere else.

    <database>/
      _manifest/
        00000000000000000012.json          epoch 12
        hint.json                          where the newest checkpoint is; may be stale or missing
        maintenance.jsonl                  what rounds of maintenance did, for people
        checkpoint/<object id>.json        a checkpoint's root or one of its segments
        copy/<object id>.json              the same bytes again, where an anchor needs them
      <table id>/                          nothing in front of it for a lone table: its
        <object id>/                       objects lie at the root of the database
          rowset.json                      footer of a RowSet in a directory
          <column id>.col  <column id>.idx
        <object id>.rowset                 packed RowSet
        <object id>.dv                     deletion vectors too large for the log
        <object id>.origin                 origins of compacted rows, likewise

Names are relative to the database and use `/`; the store adds its own root.
Spec: docs/spec/layout.md
"""

from __future__ import annotations

import re

MANIFEST = "_manifest"
HINT = f"{MANIFEST}/hint.json"
JOURNAL = f"{MANIFEST}/maintenance.jsonl"
OLDER_JOURNAL = f"{MANIFEST}/maintenance.1.jsonl"
CHECKPOINTS = f"{MANIFEST}/checkpoint"
COPIES = f"{MANIFEST}/copy"


def epoch_name(epoch: int) -> str:
    """Name the file of epoch `epoch` (0 or more)."""
    return f"{MANIFEST}/{epoch:020d}.json"


_EPOCH = re.compile(rf"{MANIFEST}/([0-9]{{20}})\.json", re.ASCII)


def epoch_number(name: str) -> int | None:
    """The number of the epoch whose file has this name; None for any other name."""
    found = _EPOCH.fullmatch(name)
    return int(found[1]) if found else None


def needs_log(name: str) -> bool:
    """Whether an object is only ever put beside epoch 0: the hint, and every other epoch."""
    return name == HINT or bool(epoch_number(name))


def checkpoint_name(object_id: str) -> str:
    """Name a checkpoint root or segment."""
    return f"{CHECKPOINTS}/{object_id}.json"


def copy_name(object_id: str) -> str:
    """Name the copy of a checkpoint root or segment."""
    return f"{COPIES}/{object_id}.json"


def table_prefix(table_id: str, at_root: bool) -> str:
    """The prefix that all objects of a table share: empty for a lone table at the root."""
    return "" if at_root else f"{table_id}/"


class TablePrefixes(dict[str, str]):
    """The prefixes of all tables of a database, by table id."""

    def __init__(self, at_root: bool) -> None:
        super().__init__()
        self._at_root = at_root

    def __missing__(self, table_id: str) -> str:
        return table_prefix(table_id, self._at_root)


def rowset_folder(prefix: str, object_id: str) -> str:
    """Name the folder of a RowSet stored as a directory."""
    return f"{prefix}{object_id}"


def footer_name(prefix: str, object_id: str) -> str:
    """Name the footer of a RowSet stored as a directory."""
    return f"{prefix}{object_id}/rowset.json"


def segment_name(prefix: str, object_id: str, column_id: int) -> str:
    """Name the column segment of a RowSet stored as a directory."""
    return f"{prefix}{object_id}/{column_id}.col"


def index_name(prefix: str, object_id: str, column_id: int) -> str:
    """Name the sparse index of a column segment stored in a directory."""
    return f"{prefix}{object_id}/{column_id}.idx"


def packed_name(prefix: str, object_id: str) -> str:
    """Name a packed RowSet: every segment, index and the footer in one object."""
    return f"{prefix}{object_id}.rowset"


def deletion_vector_name(prefix: str, object_id: str) -> str:
    """Name a deletion vector stored as an object of its own."""
    return f"{prefix}{object_id}.dv"


def origin_name(prefix: str, object_id: str) -> str:
    """Name the origin of the rows of a compaction."""
    return f"{prefix}{object_id}.origin"
