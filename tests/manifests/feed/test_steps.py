"""The epochs of a span, each with the states around it."""

from __future__ import annotations

import pyarrow as pa
import pytest

from colonnade import ArrowTable, CorruptionError, NotFoundError
from colonnade.manifests.feed.steps import Step, read_steps
from colonnade.manifests.object_names import epoch_name
from colonnade.manifests.store import MemoryStore
from colonnade.tableformat.table.database import ArrowDatabase
from tests.tableformat.statements.tables import made

SCHEMA = pa.schema([("k", pa.int64())])


def rows(*keys: int) -> pa.Table:
    return pa.table({"k": keys}, SCHEMA)


def steps(table: ArrowTable, first: int, last: int) -> list[Step]:
    reader, id_ = table._log.reader, table._state.id
    return [*read_steps(reader, id_, reader.read_at(first - 1), last)]


def test_only_epochs_that_changed_the_table_are_steps() -> None:
    table = made(MemoryStore(), SCHEMA)
    table.append(rows(1))
    database = ArrowDatabase(table._location.store, table._log, table._snapshot)
    database.create_table("other", rows(5))
    table.append(rows(2))
    last = table.refresh().epoch
    found = steps(table, 1, last)
    assert [each.number for each in found] == [1, 2, last]
    assert found[0].earlier is None
    for each in found:
        assert each.before.epoch == each.number - 1
        assert each.later.changed_epoch == each.number
    assert found[1].later == found[2].earlier


def test_the_steps_end_where_the_table_is_dropped() -> None:
    table = made(MemoryStore(), SCHEMA)
    table.append(rows(1))
    reader, id_, before = table._log.reader, table._state.id, table.epoch
    table.drop()
    head = reader.read_head()
    found = read_steps(reader, id_, reader.read_at(before - 1), head.epoch)
    assert [each.number for each in found] == [before]


def test_a_removed_epoch_and_a_missing_one_are_told_apart() -> None:
    table = made(MemoryStore(), SCHEMA)
    for key in range(5):
        table.append(rows(key))
    reader, id_ = table._log.reader, table._state.id
    begun = reader.read_at(2)
    store = table._location.store
    kept = store.get(epoch_name(4))
    store.delete(epoch_name(4))
    with pytest.raises(CorruptionError, match="missing"):
        [*read_steps(reader, id_, begun, table.epoch)]
    store.put(epoch_name(4), kept, sync=False)
    table.vacuum(retention_hours=0, force=True)
    store.delete(epoch_name(4))  # a vacuum may leave some of the slots that it frees
    with pytest.raises(NotFoundError):
        [*read_steps(reader, id_, begun, table.epoch)]
