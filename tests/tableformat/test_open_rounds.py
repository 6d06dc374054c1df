"""Opening a table far away and reading a row takes few rounds of requests, however long its log.

Each of three ways to read ahead is still needed for that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import cache
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pytest

from colonnade import ArrowTable
from colonnade.manifests.reading.early_segments import EarlySegments
from colonnade.manifests.store import MemoryStore, StoreAddress
from colonnade.tableformat import location
from colonnade.tableformat.scan.open_rowsets import OpenedAhead
from colonnade.tableformat.statements import commit
from colonnade.tableformat.table import scans
from colonnade.tableformat.table import table as tables
from tests.far_store import FarStore

LAKE = "far://bucket/lake"
EPOCHS = (1, 20, 68, 90)
"""Few epochs, several, and few or several of them after a checkpoint."""

Stores = dict[str, MemoryStore]


@pytest.fixture(autouse=True)
def _stores() -> Iterator[None]:
    """Colonnade sees no other store than those of a test."""
    with patch.object(location, "open_store"), patch.object(commit, "open_store"):
        yield


def seen(stores: Stores) -> dict[str, FarStore]:
    """Let Colonnade see these stores far away, each with a count of its rounds."""
    far: dict[str, FarStore] = {}

    def open_store(address: StoreAddress | str, options: object = None) -> FarStore:
        url = StoreAddress.of(address).url
        inner = stores.setdefault(url, MemoryStore(url))
        return far.setdefault(url, FarStore(inner))

    for module in (location, commit):
        opener: Any = module.open_store
        opener.side_effect = open_store
    return far


@cache
def world(epochs: int) -> Stores:
    """A table with a RowSet of an object for each epoch."""
    stores: Stores = {}
    seen(stores)
    table = ArrowTable.create(LAKE, pa.schema([("id", pa.int64()), ("x", pa.float64())]))
    for number in range(epochs):
        ids = range(number * 20_000, (number + 1) * 20_000)
        table.append(pa.table({"id": ids, "x": [each / 7 for each in ids]}))
    return stores


def rounds(epochs: int) -> int:
    """The rounds that opening the table and reading a row take. Stores are asked side by side."""
    stores = world(epochs)
    far = seen(stores)
    found = ArrowTable.open(LAKE).scan(["id"], "id = 5").to_arrow()
    assert found["id"].to_pylist() == [5]
    return max(store.rounds for store in far.values())


@pytest.mark.slow
@pytest.mark.parametrize("epochs", EPOCHS)
def test_a_row_of_a_table_that_was_just_opened_is_read_in_four_rounds(epochs: int) -> None:
    assert rounds(epochs) <= (2 if epochs == 1 else 4)


WITHOUT: dict[str, Callable[[], AbstractContextManager[Any]]] = {
    "a head before its proof": lambda: patch.object(tables, "begin_head", return_value=None),
    "segments before they are asked for": lambda: patch.object(
        EarlySegments, "reads", return_value=[]
    ),
    "RowSets beside the look for newer epochs": lambda: patch.object(
        scans, "open_ahead", side_effect=lambda *_: OpenedAhead()
    ),
}


@pytest.mark.parametrize("name", WITHOUT)
def test_without_one_way_to_read_ahead_there_is_a_log_that_takes_five_rounds(name: str) -> None:
    with WITHOUT[name]():
        assert max(map(rounds, EPOCHS)) == 5
