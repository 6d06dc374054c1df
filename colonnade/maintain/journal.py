"""The line that each round leaves in the database, next to its log.

It is for people and their dashboards: no reader of the database looks at it, vacuum leaves it, and
whoever wants to may move or remove it at any time.
Spec: docs/spec/layout.md#journal
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from manifests.errors import StoreError
from manifests.names import JOURNAL
from manifests.store import LocalStore, ObjectStore


def write_line(store: ObjectStore, line: object) -> None:
    """Append one JSON document; lines that several processes write at once stay whole.

    Where the store can only be read nothing is written. Raises StoreError.
    """
    if not isinstance(store, LocalStore):
        return
    data = orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE)
    try:
        # One write to a file that is only appended to: no other process's bytes get in between.
        handle = os.open(store.locate(JOURNAL), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(handle, data)
        finally:
            os.close(handle)
    except OSError as error:
        raise StoreError(f"{store.locate(JOURNAL)}: {error.strerror}.") from error


def read_lines(store: ObjectStore) -> Iterator[dict[str, Any]]:
    """The lines that there are, oldest first; a last one that is torn is left out."""
    path = Path(store.locate(JOURNAL))
    if not path.exists():
        return
    with path.open("rb") as file:
        for line in file:
            if line.endswith(b"\n"):
                yield orjson.loads(line)
