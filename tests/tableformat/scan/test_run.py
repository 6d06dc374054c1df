"""A scan leaves deleted rows out, and returns no row where it cannot know which are deleted."""

from __future__ import annotations

from typing import Any

import pytest

from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.store import MemoryStore
from colonnade.tableformat.predicate import col
from tests.tableformat.scan.tables import PLACES, append, delete, new, numbers, reopened


@pytest.mark.parametrize("inline", [True, False], ids=["vector inline", "vector object"])
@pytest.mark.parametrize("place", PLACES)
def test_deleted_rows_are_gone_from_the_epoch_of_their_vector_on(place: str, inline: bool) -> None:
    store = MemoryStore()
    table = new(store, {"n": "long"})
    append(store, table, numbers(0, 50), place)
    append(store, table, numbers(50, 50), place)
    assert {each.rowset.entry.place for each in table.scan()._plan.rowsets} == {place}
    whole = table.epoch
    # First and last row of a block and of the RowSet.
    delete(store, table, 0, [0, 15, 16, 49], inline)
    delete(store, table, 1, range(50), inline)
    delete(store, table, 0, [0, 15, 16, 17, 49], not inline)

    def found(**ask: Any) -> list[int]:
        scan = reopened(table, store).scan(["n"], **ask)
        rows: list[int] = scan.to_arrow()["n"].to_pylist()
        assert scan.to_reader().read_all()["n"].to_pylist() == rows
        return rows

    left = [n for n in range(50) if n not in (0, 15, 16, 17, 49)]
    assert found() == left
    assert found(where="n BETWEEN 14 AND 18") == [14, 18]
    assert found(where="n IN (0, 49, 60)") == []
    assert found(where=~(col("n") > 14)) == list(range(1, 15))
    assert table.scan([]).to_arrow().num_rows == len(left)
    assert found(epoch=whole) == list(range(100))
    assert found(epoch=whole + 1) == sorted({*range(100)} - {0, 15, 16, 49})
    assert found(epoch=whole + 2) == sorted({*range(50)} - {0, 15, 16, 49})
    assert found(epoch=whole + 1, where="n >= 48") == [48, *range(50, 100)]
    table.overwrite(numbers(7, 1))
    assert found() == [7]


def test_a_vector_that_is_missing_or_damaged_is_named_and_no_row_returned() -> None:
    store = MemoryStore()
    table = new(store, {"n": "long"})
    append(store, table, numbers(0, 50), "packed")
    delete(store, table, 0, [3], inline=False)
    (name,) = [info.name for info in store.list("") if info.name.endswith(".dv")]
    data = store.get(name)
    store.delete(name)
    for damaged in (None, data[:-1], bytes([data[0] ^ 1]) + data[1:]):
        if damaged is not None:
            store.put(name, damaged, sync=False)
        batches = table.scan().to_batches()
        with pytest.raises(CorruptionError, match=name):
            next(batches)
