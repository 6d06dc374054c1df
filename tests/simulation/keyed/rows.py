"""The columns of keyed tables, and what rows of one key become."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import pyarrow as pa

from tests.merge_model import MergeModel
from tests.simulation.rows import Row, Rows, given_value

KEYS = range(12)
"""The values of `k` that writers choose from."""

REST = ("k", "at", "w", "m", "c")
"""The columns of `Row.rest`. Beside them, `g` follows from `k`."""

SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        ("v", pa.int64()),
        ("g", pa.string()),
        *((name, pa.int64()) for name in REST),
    ]
)

MERGES = {"merge.id": "first", "merge.v": "add", "merge.m": "max"}

TABLES: Mapping[str, tuple[tuple[str, ...], Mapping[str, str]]] = MappingProxyType({
    "sums": (("k",), {**MERGES, "merge.c": "coalesce"}),
    "late": (("g", "k"), {**MERGES, "sequence": "at", "sequence.w": "c"}),
    "dated": (("k",), {**MERGES, "sequence": "at"}),
})  # fmt: skip
"""The primary key and the properties of each keyed table.

In two of them, late rows lose against newer ones. One of these remembers deleted keys.
"""

STRICT = "sums"
"""The table that is serializable."""

DATED = "dated"
"""The table that remembers deleted keys."""

COLUMNS = ("v", *REST[1:])
"""The columns beside the id and the key. Rows may have some of them."""


def group(k: int) -> str:
    """The value of `g` of a key."""
    return "ab"[k % 2]


def cells(row: int, v: int | None, k: int, salt: int) -> dict[str, Any]:
    """All values of a row that a statement brings."""
    return {
        "id": row,
        "v": v,
        "g": group(k),
        "k": k,
        "at": given_value(row * 5, salt),
        "w": 100 * row + salt,
        "m": (row + salt) % 11,
        "c": row if (row + salt) % 3 else None,
    }


def key_of(row: Row) -> int:
    """The key of a row."""
    k = row.rest[0]
    assert k is not None
    return k


def is_older(one: int | None, other: int | None) -> bool:
    """Whether a value of the sequence is older than another one; NULL is the oldest."""
    return other is not None and (one is None or one < other)


def as_cells(row: int, it: Row) -> dict[str, Any]:
    """All values of a row of a table."""
    rest = dict(zip(REST, it.rest, strict=True))
    return {"id": row, "v": it.v, "g": group(key_of(it)), **rest}


def as_row(values: Mapping[str, Any], born: int, epoch: int) -> Row:
    """The row with these values; a column that is missing is NULL."""
    return Row(values.get("v"), born, epoch, tuple(values.get(name) for name in REST))


def merged(
    kept: Rows, given: Sequence[Mapping[str, Any]], properties: Mapping[str, str], epoch: int
) -> dict[int, Row]:
    """What rows with different keys and the rows of a batch become, in an epoch."""
    model = MergeModel.of(properties, {"id", "v", *REST[1:]}, {})
    places = {key_of(it): row for row, it in kept.items()}
    batch: dict[int, list[dict[str, Any]]] = {}
    for each in given:
        batch.setdefault(each["k"], []).append(dict(each))
    found = dict(kept)
    for k, rows in batch.items():
        place = places.get(k)
        stored = None if place is None else as_cells(place, kept[place])
        one = model.merge(stored, rows, dict.fromkeys(SCHEMA.names))
        born = epoch if place is None else kept[place].born
        found[one["id"]] = as_row(one, born, epoch)
    return found


def check_keyed(name: str, epoch: int, found: pa.Table, want: Rows) -> None:
    """Compare rows that were read with those of the model."""
    rows = found.select(SCHEMA.names).to_pylist()
    wanted = [as_cells(row, it) for row, it in want.items()]
    wrong = [each for each in rows if each not in wanted]
    lost = [each for each in wanted if each not in rows]
    assert [wrong, lost] == [[], []], f"table {name} at epoch {epoch} has {wrong} and not {lost}"
    assert len(rows) == len(wanted), f"table {name} at epoch {epoch} has a row twice"
