"""A log whose epochs name users, as an earlier writer left it, is read and written the same again.

`python -m tests.spec.test_golden_users` makes the files; existing ones are never edited.
Specification: docs/spec/epoch-log.md#epoch-files
"""

from __future__ import annotations

import json
from functools import partial
from typing import Any

from colonnade.manifests.engine import Author, working_for
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
from tests.spec.test_golden_shared import append

ADA, BOB = Author("ada", "nightly"), Author("«bób»" * 100)


def write(writer: Writer) -> None:
    """Write an epoch of a user, one without a user, and one of nobody and two users."""
    store, log = writer.store, writer.log
    assert isinstance(store, NotedStore)
    orders = CreateTable(table=ORDERS, name="orders", table_schema=SCHEMA, next_column_id=12)
    with working_for(ADA):
        writer.commit("create_table", orders)
    writer.commit("append", *add(rowset(1)))
    base = writer.state

    def wait(author: Author, number: int) -> None:
        with working_for(author):
            log.commit(append(0xA0 + number, number), base)

    def wait_twice() -> None:
        store.meanwhile = partial(wait, Author(), 4)
        wait(BOB, 3)

    store.meanwhile = wait_twice
    wait(ADA, 2)


def read(store: ObjectStore) -> dict[str, Any]:
    """The states, and the user and parameters of each change."""
    log = LogReader(store)
    found = states(store)
    for epoch in log.read_epochs(log.read_head().epoch):
        found[str(epoch.epoch)]["changes"] = [
            [each.transaction, each.user, each.parameters] for each in changes_of(epoch)
        ]
    return found


class LogOfUsers(GoldenLog):
    """A golden log of a database that Ada has created."""

    def written(self) -> MemoryStore:
        store = NotedStore(now_ms=lambda: START_MS)
        with counted_ids(), working_for(ADA):
            writer = Writer(store, self.limits, self.slot_block)
            with working_for(Author()):
                self.write(writer)
        return store


LOG = LogOfUsers("log-v1-users", write, read, LIMITS)


def test_every_state_and_user_of_an_earlier_log_is_read() -> None:
    found = json.loads(json.dumps(LOG.read(LOG.store())))
    assert found == LOG.expected()
    users = [[each[1] for each in found[str(number)]["changes"]] for number in range(4)]
    assert users == [["ada"], ["ada"], [None], [None, "ada", ("«bób»" * 100)[:255]]]
    texts = [each[2].get("userMetadata") for each in found["3"]["changes"]]
    assert texts == [None, "nightly", None]


def test_the_same_changes_make_the_same_bytes() -> None:
    assert contents(LOG.written()) == contents(LOG.store())


if __name__ == "__main__":
    LOG.make()
