"""DuckDB queries the tables of a database as of one epoch."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import colonnade
from colonnade.manifests.errors import InvalidInputError, NotFoundError


@pytest.fixture
def shop(tmp_path: Path) -> colonnade.ArrowDatabase:
    database = colonnade.create_database(tmp_path / "shop")
    database.create_table("orders", pa.table({"id": [1, 2, 3], "buyer": [10, 20, 10]}))
    database.create_table("buyers", pa.table({"buyer": [10, 20], "name": ["Ann", "Bo"]}))
    return database


JOIN = (
    "SELECT name, count(*) FROM orders JOIN buyers USING (buyer)"
    " WHERE id > {} GROUP BY name ORDER BY name"
)


def test_a_query_joins_tables_with_parameters(shop: colonnade.ArrowDatabase) -> None:
    assert shop.sql(JOIN.format(0)).fetchall() == [("Ann", 2), ("Bo", 1)]
    assert shop.sql(JOIN.format("?"), [1]).fetchall() == [("Ann", 1), ("Bo", 1)]
    assert shop.sql(JOIN.format("$least"), {"least": 2}).fetchall() == [("Ann", 1)]
    assert shop.sql('SELECT count(*) FROM "Orders"').fetchone() == (3,)
    assert shop.sql("WITH orders AS (SELECT 1) FROM orders").fetchall() == [(1,)]
    assert shop.sql("SELECT 1 + 1 AS two").fetchall() == [(2,)]


def test_a_query_with_a_limit_of_a_parameter_is_in_order(shop: colonnade.ArrowDatabase) -> None:
    query = "SET threads = 2; SELECT id AS k, buyer AS k FROM orders ORDER BY id DESC LIMIT ?;"
    result = shop.sql(query, [2])
    assert (result.columns, result.fetchall()) == (["k", "k_1"], [(3, 10), (2, 20)])


MANY_JOINS = """
import sys, colonnade
shop = colonnade.open_database(sys.argv[1])
for _ in range(150):
    assert shop.sql(sys.argv[2] + sys.argv[3], [1]).fetchall()
    assert shop.sql(sys.argv[2] + sys.argv[3].replace("?", "1")).fetchall()
"""


@pytest.mark.slow
@pytest.mark.parametrize("before", ["", "EXPLAIN ANALYZE "])
def test_threads_of_duckdb_never_wait_for_a_query_that_waits_for_them(
    shop: colonnade.ArrowDatabase, tmp_path: Path, before: str
) -> None:
    command = [sys.executable, "-c", MANY_JOINS, str(tmp_path / "shop"), before, JOIN.format("?")]
    subprocess.run(command, check=True, timeout=250)  # without an end, no signal stops it


def test_a_result_stays_at_the_epoch_of_its_query(shop: colonnade.ArrowDatabase) -> None:
    result = shop.sql("SELECT sum(id) FROM orders")
    before = shop.epoch
    shop["orders"].append(pa.table({"id": [4], "buyer": [10]}))
    shop.tag("end")
    assert result.fetchone() == (6,)
    assert shop.sql("SELECT sum(id) FROM orders").fetchone() == (10,)
    assert shop.sql("SELECT sum(id) FROM orders", epoch=before).fetchone() == (6,)
    assert shop.sql("SELECT sum(id) FROM orders", tag="end").fetchone() == (10,)
    shop.drop_table("orders")
    assert shop.sql("SELECT sum(id) FROM orders", epoch=before).fetchone() == (6,)
    with pytest.raises(NotFoundError):
        shop.sql("SELECT 1 FROM orders", epoch=1000)


def test_only_the_tables_that_a_query_names_are_opened(
    shop: colonnade.ArrowDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = list[str]()
    dataset = colonnade.ArrowTable.dataset

    def noted(table: colonnade.ArrowTable, **state: object) -> object:
        opened.append(table.name)
        return dataset(table, **state)  # type: ignore[arg-type]

    monkeypatch.setattr(colonnade.ArrowTable, "dataset", noted)
    assert shop.sql("SELECT count(*) FROM buyers").fetchone() == (2,)
    assert opened == ["buyers"]


@pytest.mark.parametrize("query", ["SHOW TABLES", "FROM duckdb_views() SELECT view_name"])
def test_a_query_that_names_no_table_lists_all(shop: colonnade.ArrowDatabase, query: str) -> None:
    assert {("buyers",), ("orders",)} <= {*shop.sql(query).fetchall()}


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ("SELEC 1", "DuckDB refuses the query: Parser Error"),
        ("SELECT x FROM orders", 'DuckDB refuses the query: Binder Error.*"x" not found'),
        ("SELECT 1 FROM nothing", "DuckDB refuses the query: Catalog Error.*nothing"),
        ("SELECT ?", "Parameter '1' of the query has no value"),
        ("SELECT $Name", "Parameter 'Name' of the query has no value"),
        ("CREATE TABLE t (a INT)", "The query returns no rows; give a SELECT."),
        ("-- nothing", "The query returns no rows; give a SELECT."),
    ],
)
def test_a_wrong_query_is_refused_in_one_sentence(
    shop: colonnade.ArrowDatabase, query: str, problem: str
) -> None:
    with pytest.raises(InvalidInputError, match=problem) as found:
        shop.sql(query)
    assert "\n" not in found.value.message


def test_a_query_that_is_refused_for_returning_no_rows_has_written_none(
    shop: colonnade.ArrowDatabase, tmp_path: Path
) -> None:
    for query in ("COPY buyers TO '{}'", "SELECT 1; COPY buyers TO '{}'"):
        with pytest.raises(InvalidInputError, match="returns no rows"):
            shop.sql(query.format(tmp_path / "buyers.csv"))
    assert not (tmp_path / "buyers.csv").exists()
    pivot = "PIVOT (SELECT buyer, name FROM buyers) ON name USING sum(buyer)"
    assert shop.sql(pivot).fetchall() == [(10, 20)]


@pytest.mark.parametrize("query", [None, 5, b"SELECT 1"])
def test_a_query_is_text(shop: colonnade.ArrowDatabase, query: Any) -> None:
    with pytest.raises(InvalidInputError, match="A query is SQL text, not"):
        shop.sql(query)


@pytest.mark.parametrize("parameters", [1, "1", {1}])
def test_parameters_are_a_list_or_a_dict(shop: colonnade.ArrowDatabase, parameters: Any) -> None:
    with pytest.raises(InvalidInputError, match="a list of the values of each"):
        shop.sql("SELECT ?", parameters)


@pytest.mark.parametrize("name", ["names", "connection", "parameters", "library"])
def test_a_name_of_python_is_no_table(shop: colonnade.ArrowDatabase, name: str) -> None:
    with pytest.raises(InvalidInputError, match=f"Table with name {name} does not exist"):
        shop.sql(f"FROM {name}")


def test_a_table_is_a_view_of_a_connection(shop: colonnade.ArrowDatabase) -> None:
    with duckdb.connect() as connection:
        orders = shop["orders"].to_duckdb(connection)
        assert orders.filter("id > 1").count("*").fetchone() == (2,)
        shop["orders"].to_duckdb(connection, name="bought", epoch=shop.epoch)
        query = "SELECT count(*) FROM orders JOIN bought USING (id)"
        assert connection.execute(query).fetchone() == (3,)
    assert shop["buyers"].to_duckdb().order("name").fetchall() == [(10, "Ann"), (20, "Bo")]


def test_a_table_is_a_view_of_nothing_but_a_connection(shop: colonnade.ArrowDatabase) -> None:
    with pytest.raises(InvalidInputError, match=r"such as duckdb.connect\(\), not 'o'; name= is"):
        shop["orders"].to_duckdb("o")
