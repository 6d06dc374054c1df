"""Remove a managed table of Spark's own catalog, together with its files.

A database of several tables keeps the files of a dropped table until vacuum. The log of a lone
table is stored beside its rows, so nothing would find them after Spark has forgotten the name.
"""

from __future__ import annotations

from contextlib import suppress

from colonnade.manifests.errors import CorruptionError, NotFoundError, UnsupportedFormatError
from colonnade.manifests.log.dropping import drop_lone_table
from colonnade.manifests.log.log import Log
from colonnade.manifests.store import LocalStore
from colonnade.spark_ext.planner.catalog.databases import drop_at
from colonnade.spark_ext.planner.messages.base import Answer, operation
from colonnade.spark_ext.planner.messages.catalog import RemoveTable
from colonnade.spark_ext.planner.state.storage import place
from colonnade.spark_ext.planner.state.transactions import TRANSACTIONS
from colonnade.tableformat.location import locate


@operation
def remove_table(request: RemoveTable) -> Answer:
    """Leave files that are not Colonnade's, and files on an object store.

    A lone table is removed even if its log is damaged. A killed removal is finished by the next
    one.
    """
    location = locate(place(request.path))
    lone = location.table is None and isinstance(location.store, LocalStore)
    if not (lone and location.exists):
        return Answer(yes=drop_at(request.path))
    TRANSACTIONS.refuse(location.url, "dropped")
    log = Log(location.store)
    # Each look refuses a database of several tables. The newest epoch names them, but it may be
    # damaged, or a killed removal has ended the log. Epoch 0 never changes.
    for look in (log.reader.read_head, log.reader.follower.read_first):
        with suppress(CorruptionError, UnsupportedFormatError, NotFoundError):
            location.find(look())
    drop_lone_table(log)
    return Answer(yes=True)
