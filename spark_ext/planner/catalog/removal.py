"""Remove a managed table of Spark's own catalog, together with its files.

A database of several tables keeps the files of a dropped table until vacuum. The log of a lone
table is stored beside its rows, so nothing would find them after Spark has forgotten the name.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from colonnade.manifests.errors import CorruptionError, NotFoundError, UnsupportedFormatError
from colonnade.manifests.log.dropping import drop_lone_table
from colonnade.manifests.log.log import Log
from colonnade.manifests.store import LocalStore
from colonnade.spark_ext.planner.catalog.databases import drop_table
from colonnade.spark_ext.planner.state.storage import place
from colonnade.spark_ext.planner.state.transactions import TRANSACTIONS
from colonnade.tableformat.location import locate


def remove_table(args: Mapping[str, Any]) -> dict[str, Any]:
    """Drop the table at `path`, and remove the files of a lone table on a local disk.

    The reply's `dropped` is false if the path has no table. Files that are not Colonnade's stay. A
    lone table is removed even if its log is damaged. A killed removal is finished by the next one.
    On an object store the files stay.
    """
    location = locate(place(args["path"]))
    lone = location.table is None and isinstance(location.store, LocalStore)
    if not (lone and location.exists):
        return drop_table(args)
    TRANSACTIONS.refuse(location.url, "dropped")
    log = Log(location.store)
    # Each look refuses a database of several tables. The newest epoch names them, but it may be
    # damaged, or a killed removal has ended the log. Epoch 0 never changes.
    for look in (log.reader.read_head, log.reader.follower.read_first):
        with suppress(CorruptionError, UnsupportedFormatError, NotFoundError):
            location.find(look())
    drop_lone_table(log)
    return {"dropped": True}


OPS = {"remove_table": remove_table}
