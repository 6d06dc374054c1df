"""Blocks of columns: the same bytes in the order of the rows, however many threads encode them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pytest

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.schema import SchemaField
from colonnade.tableformat.rowset.block import encode_block
from colonnade.tableformat.rowset.bloom_filter import encode_filter
from colonnade.tableformat.rowset.column import StoredColumn, column_of
from colonnade.tableformat.rowset.write import encode
from colonnade.tableformat.rowset.write.encode import encode_blocks

MANY = 20_000


@dataclass
class Target:
    """One column, whose blocks have filters."""

    column: StoredColumn
    has_filters: bool = True


TARGETS = [
    Target(column_of(SchemaField(id=1, name="n", type="long"))),
    Target(column_of(SchemaField(id=2, name="t", type="string")), has_filters=False),
]


def arrays(rows: int) -> Iterator[tuple[Target, pa.Array]]:
    numbers = np.random.default_rng(1).integers(0, 1_000, rows)
    yield TARGETS[0], pa.array(numbers)
    yield TARGETS[1], pa.array(map(str, numbers.tolist()))


@pytest.mark.parametrize("rows", [1, 1_000, MANY])
def test_threads_change_neither_the_bytes_nor_the_order(rows: int) -> None:
    given = list(arrays(rows))
    with closing(encode_blocks(given, rows, 2**30)) as blocks:
        found = [(target, block.entry, list(block.data), block.bloom) for target, block in blocks]
    alone = [(target, *encode_block(array, target.column)) for target, array in given]
    # A block of equal values has no data, and no filter.
    filters = [encode_filter(given[0][1], TARGETS[0].column) if rows > 1 else b"", b""]
    assert found == [
        (target, entry, list(data), bloom)
        for (target, entry, data), bloom in zip(alone, filters, strict=True)
    ]


def test_small_blocks_come_in_the_order_of_the_rows() -> None:
    given = list(arrays(MANY))
    with closing(encode_blocks(given, MANY, 4_096)) as blocks:
        found = [(target.column.id, block.entry.rows) for target, block in blocks]
    assert sum(rows for column, rows in found if column == 1) == MANY
    assert [column for column, _ in found] == sorted(column for column, _ in found)
    assert len(found) > 50


def test_few_rows_start_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert len(list(encode_blocks(arrays(100), 100, 2**20))) == 2


def test_an_error_of_a_block_ends_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    def encoded(array: pa.Array, column: StoredColumn) -> object:
        raise InvalidInputError("no")

    monkeypatch.setattr(encode, "encode_block", encoded)
    with pytest.raises(InvalidInputError, match="no"):
        list(encode_blocks(arrays(MANY), MANY, 2**20))
    assert not [each for each in threading.enumerate() if each.name.startswith("colonnade-job")]
