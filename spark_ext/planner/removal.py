"""Remove a managed table of Spark's own catalog, together with its files.

A database of several tables keeps the files of a dropped table until vacuum. The log of a lone
table is stored beside its rows, so nothing would find them after Spark has forgotten the name.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from colonnade.manifests.errors import CorruptionError, UnsupportedFormatError
from colonnade.manifests.object_names import MANIFEST, is_of_lone_table
from colonnade.manifests.store import LocalStore
from colonnade.manifests.store.checks import finished_name
from colonnade.spark_ext.planner.catalog import drop_table
from colonnade.spark_ext.planner.storage import place
from colonnade.tableformat.location import locate


def remove_table(args: Mapping[str, Any]) -> dict[str, Any]:
    """Drop the table at `path`, and remove the files of a lone table on a local disk.

    The reply's `dropped` is false if the path has no table. Files that are not Colonnade's stay. A
    lone table is removed even if its log is damaged. On an object store its files stay.
    """
    location = locate(place(args["path"]))
    if not location.exists:
        return {"dropped": False}
    lone = location.table is None
    try:
        done = drop_table(args)  # first, so that a concurrent writer learns of it
    except (CorruptionError, UnsupportedFormatError):
        if not lone:
            raise
        done = {"dropped": True}
    if lone and isinstance(location.store, LocalStore):
        _remove_files(location.store.url)
    return done


def _remove_files(folder: str) -> None:
    # The files are moved away first, so that a crash leaves no half of a table.
    parent, number = os.path.dirname(folder), secrets.token_hex(8)
    moved, dropped = f"{parent}/_moved-{number}", f"{parent}/_dropped-{number}"
    os.mkdir(moved)
    names = sorted(os.listdir(folder), key=lambda name: name != MANIFEST)
    for name in filter(_is_ours, names):
        os.rename(f"{folder}/{name}", f"{moved}/{name}")
    os.rename(moved, dropped)
    # A concurrent drop may be removing the same files.
    shutil.rmtree(dropped, ignore_errors=True)
    with suppress(OSError):  # raised if the folder has other files, too
        os.rmdir(folder)


def _is_ours(entry: str) -> bool:
    """Return whether the folder of a lone table has this entry, finished or not."""
    return is_of_lone_table(finished_name(entry) or entry)


OPS = {"remove_table": remove_table}
