"""Several writers of one table at once: what is independent commits, and nothing is lost."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import pyarrow as pa
import pytest

import colonnade
from colonnade import ArrowTable

SCHEMA = pa.schema([("id", pa.int64()), ("count", pa.int64())])


def rows(ids: range, count: int = 0) -> pa.Table:
    return pa.table({"id": [*ids], "count": [count] * len(ids)}, SCHEMA)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A table of 200 rows in one RowSet."""
    colonnade.create(tmp_path / "t", SCHEMA).append(rows(range(200)))
    return tmp_path / "t"


Statement = Callable[[ArrowTable], Any]


def delete(n: int) -> Statement:
    return lambda table: table.delete(f"id = {n}")


def append(n: int) -> Statement:
    return lambda table: table.append(rows(range(n, n + 1)))


def upsert(ids: range, count: int) -> Statement:
    return lambda table: table.upsert(rows(ids, count), on="id")


def update(count: int) -> Statement:
    return lambda table: table.update({"count": count}, "id = 7")


def at_once(path: Path, statements: list[Statement]) -> list[Any]:
    """Run each statement by a writer of its own, all of them planned on the same epoch."""
    barrier = Barrier(len(statements))

    def run(statement: Statement) -> Any:
        table = colonnade.open(path)
        seen = table._snapshot
        barrier.wait(60)
        table._open.refresh = lambda: seen  # type: ignore[method-assign]
        return statement(table)

    with ThreadPoolExecutor(len(statements)) as pool:
        return list(pool.map(run, statements))


def contents(path: Path) -> dict[int, int]:
    found = colonnade.open(path).scan().to_arrow().to_pylist()
    assert len({r["id"] for r in found}) == len(found)
    return {r["id"]: r["count"] for r in found}


def test_twenty_deletions_of_disjoint_rows_in_one_rowset_all_land(path: Path) -> None:
    counts = at_once(path, [delete(n) for n in range(20)])
    assert [each.rows_deleted for each in counts] == [1] * 20
    assert {each.epoch for each in counts} == set(range(3, 23))
    assert contents(path) == dict.fromkeys(range(20, 200), 0)


def test_deletions_beside_appends_and_upserts_of_disjoint_keys_all_land(path: Path) -> None:
    at_once(
        path,
        [
            *(delete(n) for n in range(5)),
            *(append(200 + n) for n in range(5)),
            *(upsert(range(10 * n + 95, 10 * n + 100), 1) for n in range(1, 5)),
        ],
    )
    want = dict.fromkeys(range(5, 205), 0)
    want |= {i: 1 for n in range(1, 5) for i in range(10 * n + 95, 10 * n + 100)}
    assert contents(path) == want


def test_upserts_of_one_new_key_leave_it_once(path: Path) -> None:
    counts = at_once(path, [upsert(range(500, 501), n) for n in range(6)])
    assert sorted(each.rows_inserted for each in counts) == [0, 0, 0, 0, 0, 1]
    assert contents(path)[500] in range(6)


def test_updates_of_one_row_follow_each_other(path: Path) -> None:
    at_once(path, [update(n) for n in range(1, 5)])
    assert contents(path)[7] in range(1, 5)
    assert len(contents(path)) == 200
