"""A key has moved when another row of the table has it, or none, or the row has other values."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from colonnade import ArrowTable
from colonnade.manifests.model.schema import TableSchema
from colonnade.tableformat.keys.key_parts import KeyPart
from colonnade.tableformat.statements.keyed.existing import ExistingRows
from tests.tableformat.statements.tables import filled, rows

KEYS = (3, 7, 55, 105)


def moved(existing: ExistingRows, table: ArrowTable) -> list[int]:
    """The keys that have moved since the last call, and what is known of all of them."""
    table.refresh()
    mask = existing.follow(table._state, table._log.rowsets.view(table._state, None, None))
    return [key for key, each in zip(KEYS, mask, strict=True) if each]


def test_only_keys_whose_rows_have_changed_have_moved() -> None:
    table = filled()
    key = TableSchema(fields=(table._state.schema.field("id"),))
    nowhere = np.zeros(len(KEYS), np.int64), np.arange(len(KEYS))
    part = KeyPart.of(key, pa.table({"id": KEYS}), nowhere)
    existing = ExistingRows(table._log.store, part)
    assert moved(existing, table) == [3, 7, 105]
    assert existing.is_there.tolist() == [True, True, False, True]
    assert [(e.rows.tolist(), e.keys.tolist()) for e in existing.matching(existing.is_there)] == [
        ([3, 7], [0, 1]),
        ([5], [2]),
    ]
    table.delete("id = 4")
    assert moved(existing, table) == []
    table.delete("id = 7")
    table.append(rows(55))
    assert moved(existing, table) == [7, 55]
    table.update({"text": "'x'"}, "id = 105")
    assert moved(existing, table) == [105]
    replaced = existing.replaced(table._state.id)
    assert sorted(row for each in replaced for row in each.rows or ()) == [0, 0, 3]
