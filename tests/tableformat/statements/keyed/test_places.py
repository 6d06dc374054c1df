"""A key has moved when another row of the table has it, or none, or the row has other values."""

from __future__ import annotations

import pyarrow as pa

from colonnade import ArrowTable
from colonnade.manifests.model.schema import TableSchema
from colonnade.tableformat.keys.key_set import KeySet
from colonnade.tableformat.statements.keyed.places import KeyPlaces
from tests.tableformat.statements.tables import filled, rows

KEYS = (3, 7, 55, 105)


def moved(places: KeyPlaces, table: ArrowTable) -> list[int]:
    """The keys that have moved since the last call, and what is known of all of them."""
    table.refresh()
    mask = places.follow(table._state, table._log.rowsets.view(table._state, None, None))
    return [key for key, each in zip(KEYS, mask, strict=True) if each]


def test_only_keys_whose_rows_have_changed_have_moved() -> None:
    table = filled()
    key = TableSchema(fields=(table._state.schema.field("id"),))
    places = KeyPlaces(table._log.store, KeySet.of(pa.table({"id": KEYS}), key), len(KEYS))
    assert moved(places, table) == [3, 7, 105]
    assert places.is_there.tolist() == [True, True, False, True]
    assert [(e.rows.tolist(), e.keys.tolist()) for e in places.found(places.is_there)] == [
        ([3, 7], [0, 1]),
        ([5], [2]),
    ]
    table.delete("id = 4")
    assert moved(places, table) == []
    table.delete("id = 7")
    table.append(rows(55))
    assert moved(places, table) == [7, 55]
    table.update({"text": "'x'"}, "id = 105")
    assert moved(places, table) == [105]
    replaced = places.replaced(table._state.id)
    assert sorted(row for each in replaced for row in each.rows or ()) == [0, 0, 3]
