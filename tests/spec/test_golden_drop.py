"""A log that was ended, as an earlier writer left it, is refused by readers and written the same.

`python -m tests.spec.make_golden` makes the files.
Specification: docs/spec/layout.md#dropping
"""

from __future__ import annotations

from typing import Any

import pytest

from colonnade.manifests.errors import NotFoundError
from colonnade.manifests.model.operations import CreateTable, DropDatabase
from colonnade.manifests.reading.reader import LogReader
from colonnade.manifests.store import ObjectStore
from tests.spec.golden_logs import (
    ORDERS,
    SCHEMA,
    GoldenLog,
    Writer,
    add,
    contents,
    described,
    rowset,
)


def write(writer: Writer) -> None:
    orders = CreateTable(table=ORDERS, name="orders", table_schema=SCHEMA, next_column_id=12)
    writer.commit("create_table", orders)
    writer.commit("append", *add(rowset(1)))
    writer.commit("drop_database", DropDatabase())


def read(store: ObjectStore) -> dict[str, Any]:
    """The states before the end, which can be read while the files are there."""
    log = LogReader(store)
    assert log.is_dropped()
    return {str(number): described(log, log.read_at(number)) for number in range(3)}


LOG = GoldenLog("log-v1-drop", write, read)


def test_every_state_of_an_earlier_log_is_read() -> None:
    assert LOG.read(LOG.store()) == LOG.expected()


def test_the_same_changes_make_the_same_bytes() -> None:
    assert contents(LOG.written()) == contents(LOG.store())


def test_readers_say_that_the_database_was_dropped() -> None:
    with pytest.raises(NotFoundError, match="was dropped in epoch 3"):
        LogReader(LOG.store()).read_head()
