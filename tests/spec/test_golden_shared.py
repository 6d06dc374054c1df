"""A log with shared epochs, as an earlier writer left it, is read and written the same again.

`python -m tests.spec.make_golden` makes the files.
Specification: docs/spec/epoch-log.md#shared-epochs
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from typing import Any

from colonnade.manifests.commit.change import Change
from colonnade.manifests.model.members import changes_of
from colonnade.manifests.model.operations import CreateTable
from colonnade.manifests.reading.reader import LogReader
from colonnade.manifests.store import MemoryStore, ObjectStore
from tests.noted_store import NotedStore
from tests.spec.golden_logs import (
    LIMITS,
    ORDERS,
    SCHEMA,
    START_MS,
    GoldenLog,
    Writer,
    add,
    contents,
    counted_ids,
    rowset,
    states,
)


def append(number: int, *rowsets: int) -> Change:
    """An append with a transaction id that is its number."""
    ops = add(*(rowset(each) for each in rowsets))
    return Change(f"{number:032x}", "append", ops, {"by": f"«{number}»"}, metrics={"n": number})


def write(writer: Writer) -> None:
    """Write an epoch of three changes, an epoch of one change, and an epoch of two changes."""
    store, log = writer.store, writer.log
    assert isinstance(store, NotedStore)
    orders = CreateTable(table=ORDERS, name="orders", table_schema=SCHEMA, next_column_id=12)
    writer.commit("create_table", orders)
    base = writer.state

    def wait(change: Change) -> None:
        log.commit(change, base)

    def wait_twice() -> None:
        store.meanwhile = partial(wait, append(0xA3, 4))
        wait(append(0xA2, 2, 3))

    store.meanwhile = wait_twice
    writer.state = log.commit(append(0xA1, 1), base)
    writer.commit("append", *add(rowset(5)))
    base = writer.state
    store.meanwhile = partial(wait, replace(append(0xA5, 7), parameters={}, metrics={}))
    log.commit(append(0xA4, 6), base)


def read(store: ObjectStore) -> dict[str, Any]:
    """The states, and the changes of each epoch."""
    log = LogReader(store)
    found = states(store)
    for epoch in log.read_epochs(log.read_head().epoch):
        found[str(epoch.epoch)]["changes"] = [
            [each.transaction, each.base, each.parameters, each.metrics, len(each.ops)]
            for each in changes_of(epoch)
        ]
    return found


class SharedLog(GoldenLog):
    """A golden log of a database with shared epochs."""

    def written(self) -> MemoryStore:
        store = NotedStore(now_ms=lambda: START_MS)
        with counted_ids():
            self.write(Writer(store, self.limits, self.slot_block))
        return store


LOG = SharedLog("log-v1-shared", write, read, LIMITS)


def test_every_state_and_change_of_an_earlier_log_is_read() -> None:
    found = json.loads(json.dumps(LOG.read(LOG.store())))
    assert found == LOG.expected()
    assert [len(each["changes"]) for each in found.values()] == [1, 1, 3, 1, 2]


def test_the_same_changes_make_the_same_bytes() -> None:
    assert contents(LOG.written()) == contents(LOG.store())
