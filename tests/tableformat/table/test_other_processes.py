"""Handles work in other processes: each one opens its table anew, forked or pickled."""

from __future__ import annotations

import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import colonnade
from colonnade import col
from tests.tableformat.table.elsewhere import append_and_count, rows_of, tables_of

METHODS = ["fork", "spawn"]


@pytest.fixture
def database(tmp_path: Path) -> colonnade.ArrowDatabase:
    database = colonnade.create_database(tmp_path / "db")
    table = database.create_table("t", [{"id": number} for number in range(100)])
    assert table.count("id > 3") == 96
    return database


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_tables_databases_and_scans_go_to_workers(
    method: str, database: colonnade.ArrowDatabase
) -> None:
    table, context = database["t"], multiprocessing.get_context(method)
    scan = table.scan(where=col("id") >= 98).select("id").limit(5)
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        counts = sorted(pool.map(append_and_count, [table] * 6, range(100, 106)))
        assert counts[-1] == 106
        assert pool.submit(rows_of, scan).result() == [{"id": 98}, {"id": 99}]
        assert pool.submit(tables_of, database).result() == ["t", "t1"]
    assert (table.count(), table.refresh().epoch, len(database)) == (106, table.epoch, 2)


def test_a_forked_process_uses_the_handle_of_its_parent(
    database: colonnade.ArrowDatabase,
) -> None:
    """A handle that was used before the fork serves both processes, without a new one."""
    table, queue = database["t"], multiprocessing.get_context("fork").SimpleQueue()
    children = [
        multiprocessing.get_context("fork").Process(
            target=lambda number: queue.put(append_and_count(table, number)), args=(number,)
        )
        for number in range(3)
    ]
    for child in children:
        child.start()
    table.append([{"id": 7}])
    for child in children:
        child.join(60)
        assert child.exitcode == 0
    assert max(queue.get() for _ in children) >= 103
    assert table.count() == 104


def test_a_pickled_handle_has_no_rows_and_follows_the_table(
    database: colonnade.ArrowDatabase,
) -> None:
    table = database["t"]
    stored = pickle.dumps(table)
    assert len(stored) < 1000
    table.rename("renamed")
    again = pickle.loads(stored)
    assert (again.name, again.count(), again.epoch) == ("renamed", 100, table.epoch)
    table.drop()
    with pytest.raises(colonnade.NotFoundError, match="dropped"):
        pickle.loads(stored).count()


def test_a_pickled_scan_reads_its_epoch(database: colonnade.ArrowDatabase) -> None:
    table = database["t"]
    stored = pickle.dumps(table.scan(["id"], "id < 2"))
    table.delete()
    assert pickle.loads(stored).to_pylist() == [{"id": 0}, {"id": 1}]


def test_a_transaction_stays_in_its_process(database: colonnade.ArrowDatabase) -> None:
    with database.transaction() as tx:
        parts: list[Any] = [tx, tx.table("t"), tx.table("t").scan()]
        for part in parts:
            with pytest.raises(colonnade.InvalidInputError, match="cannot be pickled"):
                pickle.dumps(part)
