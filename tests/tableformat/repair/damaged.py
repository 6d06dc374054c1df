"""Tables with damage that a repair meets."""

from __future__ import annotations

from colonnade.manifests.limits import LIMITS, Limits
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.store import MemoryStore
from colonnade.tableformat.table.database import ArrowDatabase
from tests.tableformat.verify.damaged import SCHEMA, rows


def make(store: MemoryStore, limits: Limits = LIMITS) -> ArrowDatabase:
    """RowSet 0 has rows 0 to 299; 7 and 250 are deleted. RowSet 1 has the next 300 rows."""
    log = Log(store, checkpoint_interval=4, pause=lambda _: None, limits=limits)
    db = ArrowDatabase(store, log, create_database(store, lone_table=False))
    table = db.create_table("a", SCHEMA)
    table.append(rows())
    table.append(rows(300))
    table.delete("id IN (7, 250)")
    return db


def file_of(db: ArrowDatabase, rowset: int, leaf: str) -> str:
    state = db._refresh().table("a")
    [live] = [r for r in db._log.read_rowsets(state) if r.id == rowset]
    return f"{state.prefix}{live.entry.object}/{leaf}"
