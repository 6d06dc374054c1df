"""Tables with damage, and repairs of them whose dry runs say exactly what the repair then does."""

from __future__ import annotations

from dataclasses import replace

import pytest

from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.limits import LIMITS, Limits
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.store import MemoryStore
from colonnade.tableformat.repair.caches import LogRepairResult, rebuild_caches
from colonnade.tableformat.table.database import ArrowDatabase
from tests.faults import FaultyStore
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


def repair_as_planned(log: Log, *, give_up_lost_epochs: bool = False) -> LogRepairResult:
    """Repair a log. A dry run before that writes nothing, and has the same result or error."""
    store = log.store
    files = {info.name: store.get(info.name) for info in store.list("")}
    watched = FaultyStore(store)
    watching = Log(watched, clock_ms=log.reader.now_ms, pause=log.pause, limits=log.limits)
    planned: LogRepairResult | CorruptionError
    try:
        planned = rebuild_caches(watching, give_up_lost_epochs=give_up_lost_epochs, dry_run=True)
    except CorruptionError as error:
        planned = error
    assert {call.operation for call in watched.trace} <= {"get", "get_ranges", "list"}
    assert files == {info.name: store.get(info.name) for info in store.list("")}
    if isinstance(planned, CorruptionError):
        with pytest.raises(CorruptionError) as raised:
            rebuild_caches(log, give_up_lost_epochs=give_up_lost_epochs)
        assert raised.value.message == planned.message
        raise raised.value
    result = rebuild_caches(log, give_up_lost_epochs=give_up_lost_epochs)
    assert planned == replace(result, dry_run=True)
    return result


def file_of(db: ArrowDatabase, rowset: int, leaf: str) -> str:
    state = db._refresh().table("a")
    [live] = [r for r in db._log.rowsets.read(state) if r.id == rowset]
    return f"{state.prefix}{live.entry.object}/{leaf}"
