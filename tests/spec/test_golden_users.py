"""A log whose epochs name users, as an earlier writer left it, is read and written the same again.

`python -m tests.spec.make_golden` makes the files.
Specification: docs/spec/epoch-log.md#epoch-files
"""

from __future__ import annotations

import json
from typing import Any

from colonnade.manifests.engine import Author, working_for
from colonnade.manifests.model.operations import CreateTable
from colonnade.manifests.reading.reader import LogReader
from colonnade.manifests.store import MemoryStore, ObjectStore
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

ADA, BOB = Author("ada", "nightly"), Author("«bób»" * 100)


def write(writer: Writer) -> None:
    """Write epochs of two users, and epochs without a user."""
    orders = CreateTable(table=ORDERS, name="orders", table_schema=SCHEMA, next_column_id=12)
    with working_for(ADA):
        writer.commit("create_table", orders)
    for number, author in enumerate((Author(), ADA, BOB), start=1):
        with working_for(author):
            writer.commit("append", *add(rowset(number)))


def read(store: ObjectStore) -> dict[str, Any]:
    """The states, and the user and parameters of each epoch."""
    log = LogReader(store)
    found = states(store)
    for epoch in log.read_epochs(log.read_head().epoch):
        found[str(epoch.epoch)]["author"] = [epoch.user, epoch.parameters]
    return found


class LogOfUsers(GoldenLog):
    """A golden log of a database that Ada has created."""

    def written(self) -> MemoryStore:
        store = MemoryStore(now_ms=lambda: START_MS)
        with counted_ids(), working_for(ADA):
            writer = Writer(store, self.limits, self.slot_block)
            with working_for(Author()):
                self.write(writer)
        return store


LOG = LogOfUsers("log-v1-users", write, read, LIMITS)


def test_every_state_and_user_of_an_earlier_log_is_read() -> None:
    found = json.loads(json.dumps(LOG.read(LOG.store())))
    assert found == LOG.expected()
    authors = [found[str(number)]["author"] for number in range(5)]
    assert [user for user, _ in authors] == ["ada", "ada", None, "ada", ("«bób»" * 100)[:255]]
    texts = [parameters.get("userMetadata") for _, parameters in authors]
    assert texts == ["nightly", "nightly", None, "nightly", None]


def test_the_same_changes_make_the_same_bytes() -> None:
    assert contents(LOG.written()) == contents(LOG.store())
