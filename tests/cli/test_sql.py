"""`colonnade sql` prints what a query finds, of any epoch, from an argument, a file or a pipe."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path

import pytest

import colonnade
from colonnade.cli.exit_codes import ExitCode
from tests.cli.runner import Run, run_command


@pytest.mark.slow
def test_a_query_is_printed_as_a_table_as_json_and_as_csv(run: Run, shop: Path) -> None:
    query = "SELECT id, price FROM orders WHERE id < 3 ORDER BY id"
    assert run("sql", shop, query).out.split()[:2] == ["id", "price"]
    rows = run("sql", shop, query, "--json").json
    assert [row["id"] for row in rows] == sorted(row["id"] for row in rows) != []
    lines = run("sql", shop, query, "--csv").out.splitlines()
    assert lines[0] == '"id","price"'
    assert len(lines) == len(rows) + 1
    first = run("sql", shop, "FROM orders", "--limit", 2)
    assert len(first.out.splitlines()) == 3
    assert "more than 2 rows" in first.err


def test_a_query_comes_from_a_file_or_from_standard_input(
    run: Run, shop: Path, tmp_path: Path
) -> None:
    query = "SELECT count(*) AS n FROM orders"
    (tmp_path / "query.sql").write_text(query)
    wanted = [{"n": colonnade.open(shop / "orders").count()}]
    assert run("sql", shop, "--file", tmp_path / "query.sql", "--json").json == wanted
    assert run_command("sql", shop, "-", "--json", answer=query).json == wanted
    assert run_command("sql", shop, "--json", answer=query).json == wanted
    assert "There is no file" in run("sql", shop, "-f", tmp_path / "nothing").err
    assert "not both" in run("sql", shop, query, "-f", tmp_path / "query.sql").err


def test_a_query_has_parameters_and_an_epoch(run: Run, shop: Path) -> None:
    query = "SELECT $n + 1 AS n, $text AS text"
    found = run("sql", shop, query, "-p", "n=41", "-p", "text=a=b", "--json").json
    assert found == [{"n": 42, "text": "a=b"}]
    assert "NAME=VALUE" in run("sql", shop, query, "-p", "n").err
    orders = colonnade.open(shop / "orders")
    before, rows = orders.epoch, orders.count()
    orders.delete("TRUE")
    count = "SELECT count(*) AS n FROM orders"
    assert run("sql", shop, count, "--json").json == [{"n": 0}]
    assert run("sql", shop, count, "--epoch", before, "--json").json == [{"n": rows}]


@pytest.mark.parametrize("form", ["--json", "--csv", None])
def test_columns_of_one_name_keep_their_values(run: Run, shop: Path, form: str | None) -> None:
    query = "SELECT 1 AS a, 2 AS a, 3 AS a_1, 4 AS a"
    told = run("sql", shop, query, *([] if form is None else [form]))
    if form == "--json":
        assert told.json == [{"a": 1, "a_1": 2, "a_1_1": 3, "a_2": 4}]
    else:
        names, values, *_ = told.out.replace('"', "").replace(",", " ").splitlines()
        assert names.split() == ["a", "a_1", "a_1_1", "a_2"]
        assert values.split() == ["1", "2", "3", "4"]


NESTED = (
    "SELECT 1 AS n, {'a': 'x', 'd': DATE '2026-01-31'} AS \"s,t\", [1.50, NULL] AS l,"
    " '\\x00\\xFF'::BLOB AS b, INTERVAL '1 month' AS i, TIMETZ '01:02:03+05' AS z, ''::BLOB AS e"
)


def test_what_has_no_form_in_a_cell_is_text_as_duckdb_writes_it(run: Run, shop: Path) -> None:
    texts = ["{'a': x, 'd': 2026-01-31}", "[1.50, NULL]", "\\x00\\xFF", "1 month", "01:02:03+05"]
    rows = list(csv.reader(run("sql", shop, NESTED, "--csv").out.splitlines()))
    assert rows == [["n", "s,t", "l", "b", "i", "z", "e"], ["1", *texts, ""]]
    assert all(each in run("sql", shop, NESTED).out for each in texts)
    assert run("sql", shop, NESTED, "--json").json == [
        {
            "n": 1,
            "s,t": {"a": "x", "d": "2026-01-31"},
            "l": ["1.50", None],
            "b": "AP8=",
            "i": "1 month",
            "z": "01:02:03+05",
            "e": "",
        }
    ]


@pytest.mark.slow
def test_a_reader_of_a_pipe_may_leave_early(shop: Path) -> None:
    """`head` does, for example."""
    words = [sys.executable, "-m", "colonnade", "sql", str(shop), "FROM range(100000)", "--csv"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as command:
        assert command.stdout is not None
        assert command.stderr is not None
        command.stdout.readline()
        command.stdout.close()
        assert command.stderr.read() == b""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a disk that is full")
def test_a_full_disk_is_no_fault_of_the_query(shop: Path) -> None:
    words = [sys.executable, "-m", "colonnade", "sql", str(shop), "FROM range(100000)", "--csv"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == ExitCode.STORE
    assert b"No space left" in done.stderr


def test_a_query_in_another_encoding_and_a_repeated_parameter_are_refused(
    run: Run, shop: Path, tmp_path: Path
) -> None:
    (tmp_path / "query.sql").write_bytes(b"SELECT '\xff'")
    assert "is not UTF-8" in run("sql", shop, "-f", tmp_path / "query.sql").err
    repeated = run("sql", shop, "SELECT $n", "-p", "n=1", "-p", "n=2")
    assert "--param gives 'n' more than once" in repeated.err


def test_a_wrong_query_and_a_missing_duckdb_are_one_sentence(
    run: Run, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed = run("sql", shop, "SELECT CAST(name AS INT) FROM orders", "--json")
    assert "The query failed: " in failed.err
    assert "DuckDB refuses the query: Parser Error" in run("sql", shop, "SELEC 1").err
    assert "not both" in run("sql", shop, "SELECT 1", "--csv", "--json").err
    monkeypatch.setitem(sys.modules, "duckdb", None)
    assert "sql needs DuckDB: install duckdb." in run("sql", shop, "SELECT 1").err
