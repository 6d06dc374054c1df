"""A row that has expired gives its key free, and no key is ever stored twice."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from colonnade.manifests.errors import InvalidInputError
from colonnade.tableformat.table.alteration import AlterProperties
from tests.clocked import HOUR_MS, MINUTE_MS, Clocked, moment

SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        ("ts", pa.timestamp("us", tz="UTC")),
        ("note", pa.string()),
        ("tags", pa.list_(pa.string())),
    ]
)


def rows(at_ms: int, note: str, *ids: int) -> pa.Table:
    values: list[dict[str, Any]] = [
        {"id": id, "ts": moment(at_ms), "note": f"{note}{id}", "tags": [note]} for id in ids
    ]
    return pa.Table.from_pylist(values, SCHEMA)


def world_of(policy: str, **more: str) -> Clocked:
    """Rows 0 to 4 that expire in an hour, 5 and 6 that expire in three."""
    given = {"ttl": "1 hour", "ttl.column": "ts", "onDuplicate": policy, **more}
    world = Clocked(SCHEMA, given, primary_key=["id"])
    world.table.append(rows(world.now_ms, "old", 0, 1, 2))
    both = [rows(world.now_ms, "old", 3, 4), rows(world.now_ms + 2 * HOUR_MS, "old", 5, 6)]
    world.table.append(pa.concat_tables(both))
    world.now_ms += HOUR_MS + MINUTE_MS
    return world


def notes(world: Clocked) -> list[str]:
    return sorted(world.table.scan(["note"]).to_arrow()["note"].to_pylist())


def stored_keys(world: Clocked) -> list[int]:
    """The keys of all rows once nothing expires any more."""
    world.table.alter(AlterProperties(remove=("ttl", "ttl.column")))
    return sorted(world.table.scan(["id"]).to_arrow()["id"].to_pylist())


@pytest.mark.parametrize("policy", ["error", "ignore", "merge"])
def test_a_new_row_replaces_an_expired_one_whatever_happens_to_others(policy: str) -> None:
    world = world_of(policy)
    assert notes(world) == ["old5", "old6"]
    world.table.append(rows(world.now_ms, "new", 1, 3, 9))
    assert notes(world) == ["new1", "new3", "new9", "old5", "old6"]
    if policy == "error":
        with pytest.raises(InvalidInputError, match="a row of the table has the key"):
            world.table.append(rows(world.now_ms, "new", 5))
    assert stored_keys(world) == [0, 1, 2, 3, 4, 5, 6, 9]


def test_an_upsert_takes_nothing_from_an_expired_row_or_value() -> None:
    world = world_of("error")
    world.table.alter(AlterProperties({"ttl.note": "1 minute"}))
    given = pa.table({"id": [2, 5, 9], "tags": [["up"]] * 3})
    counts = world.table.upsert(given)
    assert (counts.rows_updated, counts.rows_inserted) == (1, 2)
    found = {each["id"]: each for each in world.table.scan().to_arrow().to_pylist()}
    assert found[2] == {"id": 2, "ts": None, "note": None, "tags": ["up"]}
    assert found[5]["tags"] == ["up"]
    assert found[5]["ts"] is not None
    world.table.alter(AlterProperties(remove=("ttl.note",)))
    assert stored_keys(world) == [0, 1, 2, 3, 4, 5, 6, 9]


def test_upserts_by_other_columns_and_updates_of_keys_take_expired_keys() -> None:
    world = world_of("error")
    world.table.upsert(rows(world.now_ms, "on", 0), on="note")
    world.table.update({"id": 3}, "id = 6")
    assert notes(world) == ["old5", "old6", "on0"]
    assert stored_keys(world) == [0, 1, 2, 3, 4, 5]


def test_a_transaction_takes_expired_keys_too() -> None:
    for policy in ("error", "merge"):
        world = world_of(policy)
        with world.database.transaction() as both:
            both.table("t").append(rows(world.now_ms, "tx", 0, 4))
        assert notes(world) == ["old5", "old6", "tx0", "tx4"]
        assert stored_keys(world) == [0, 1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("policy", ["error", "merge"])
def test_a_row_that_another_writer_has_moved_meanwhile_is_replaced_where_it_is(
    policy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = world_of(policy, **{"ttl.grace": "9 hours"})
    world.table.delete("id = 5", count_rows=True)
    other = world.reopened()
    done: list[int] = []
    commit = world.log.commit_change

    def between(change: Any, base: Any) -> Any:
        if not done:
            begun = other.optimize().option("deleted-share", 0)
            done.append(begun.executeCompaction().groups)
        return commit(change, base)

    monkeypatch.setattr(world.log, "commit_change", between)
    world.table.append(rows(world.now_ms, "new", 0, 3))
    assert done == [1]
    assert notes(world) == ["new0", "new3", "old6"]
    world.table.alter(AlterProperties(remove=("ttl.grace",)))
    assert stored_keys(world) == [0, 1, 2, 3, 4, 6]
