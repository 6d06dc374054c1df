"""Removing a table of Spark's own catalog: the files of a table that Spark calls managed go, too.

A database of several tables keeps what it dropped until vacuum. The log of a lone table is stored
beside its rows, so neither vacuum nor a restore would find them after the name is gone.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from colonnade.manifests.errors import CorruptionError, UnsupportedFormatError
from colonnade.manifests.store import LocalStore
from colonnade.spark_ext.planner.catalog import drop_table
from colonnade.tableformat.location import locate

_OURS = re.compile(r"_manifest|[0-9a-f]{32}(\..+)?|\.tmp-.+")
"""The names in the folder of a lone table (docs/spec/layout.md)."""


def remove_table(args: Mapping[str, Any]) -> dict[str, Any]:
    """Drop the table at `path`, and remove the files of a lone one on a local disk.

    `dropped` is false where the path has no table. Files that are not Colonnade's stay. A table
    whose log is damaged is removed, too. On an object store the files of a lone table stay.
    """
    location = locate(args["path"])
    if not location.exists:
        return {"dropped": False}
    lone = location.table is None
    try:
        done = drop_table(args)  # first, so that a writer which is under way learns of it
    except (CorruptionError, UnsupportedFormatError):
        if not lone:
            raise
        done = {"dropped": True}
    if lone and isinstance(location.store, LocalStore):
        _remove_files(location.store.url)
    return done


def _remove_files(folder: str) -> None:
    # Moved away first, so that a crash in between leaves no half of a table.
    parent, number = os.path.dirname(folder), secrets.token_hex(8)
    moved, dropped = f"{parent}/_moved-{number}", f"{parent}/_dropped-{number}"
    os.mkdir(moved)
    names = sorted(os.listdir(folder), key=lambda name: name != "_manifest")
    for name in filter(_OURS.fullmatch, names):
        os.rename(f"{folder}/{name}", f"{moved}/{name}")
    os.rename(moved, dropped)
    # Another drop beside it may be removing the same files.
    shutil.rmtree(dropped, ignore_errors=True)
    with suppress(OSError):  # which says that it has other files, too
        os.rmdir(folder)


OPS = {"remove_table": remove_table}
