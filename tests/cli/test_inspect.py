"""What the log says is printed for people and for programs, and no command takes a home folder."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import colonnade
from tests.cli.runner import Run


def test_a_database_is_listed_by_name_and_sums_up_in_json(run: Run, shop: Path) -> None:
    orders, users = run("ls", shop, "--json").json
    assert (orders["name"], orders["rows"], orders["deleted_rows"]) == ("orders", 28, 2)
    assert (users["name"], users["rows"], users["rowsets"]) == ("users", 0, 0)
    whole = run("show", shop, "--json").json
    assert (whole["tables"], whole["rows"], whole["rowsets"]) == (2, 28, 3)
    assert whole["bytes"] == orders["bytes"] > 0


def test_people_get_one_line_a_table(run: Run, shop: Path) -> None:
    lines = run("ls", shop).out.splitlines()
    assert lines[0].split() == [
        "table",
        "rows",
        "deleted",
        "RowSets",
        "size",
        "changed",
        "at",
        "epoch",
    ]
    assert lines[1].split()[:5] == ["orders", "28", "6.7", "%", "3"]
    assert lines[2].startswith("users")


def test_a_table_is_described_by_what_it_was_made_with(run: Run, shop: Path) -> None:
    facts = run("show", shop / "orders", "--json").json
    assert facts["sort_key"] == ["day desc"]
    assert facts["comment"] == "of 2026"
    assert facts["epoch"] > facts["changed_epoch"] > facts["created_epoch"] == 1
    assert "day desc" in run("show", shop / "orders").out


def test_columns_are_listed_with_their_types_also_of_an_earlier_epoch(run: Run, shop: Path) -> None:
    columns = run("schema", shop / "orders", "--json").json
    assert [(c["name"], c["type"], c["nullable"]) for c in columns[:3]] == [
        ("id", "long", False),
        ("day", "date", True),
        ("price", "decimal(12,2)", True),
    ]
    colonnade.open_database(shop).rename_table("users", "people")
    assert run("schema", shop / "people", "--epoch", 6).code == 0
    assert "NOT NULL" in run("schema", shop / "orders").out


@pytest.mark.slow
def test_history_of_a_database_names_the_tables_that_changed(run: Run, shop: Path) -> None:
    epochs = run("history", shop, "--json").json
    assert [epoch["epoch"] for epoch in epochs] == [6, 5, 4, 3, 2, 1, 0]
    assert (epochs[0]["operation"], epochs[0]["tables"]) == ("create_table", ["users"])
    assert epochs[1]["metrics"]["rows_deleted"] == 2
    assert len(run("history", shop, "--limit", 2, "--json").json) == 2
    every = run("history", shop / "orders", "--json").json
    assert run("history", shop / "orders", "--limit", 10**20, "--json").json == every
    assert "rows_deleted 2" in run("history", shop).out


def test_history_of_a_table_leaves_other_tables_out(run: Run, shop: Path) -> None:
    changes = run("history", shop / "orders", "--json").json
    assert [change["operation"] for change in changes] == [
        "delete",
        *3 * ["append"],
        "create_table",
    ]
    assert "+1 -0" in run("history", shop / "orders").out


def test_rowsets_show_bounds_as_values_and_are_sorted_on_demand(run: Run, shop: Path) -> None:
    rowsets = run("rowsets", shop / "orders", "--json").json
    assert [each["id"] for each in rowsets] == [0, 1, 2]
    assert (rowsets[0]["bounded_by"], rowsets[0]["low"], rowsets[0]["high"]) == (
        "day",
        "2026-01-01",
        "2026-01-10",
    )
    by_deleted = run("rowsets", shop / "orders", "--by", "deleted", "--json").json
    assert (by_deleted[0]["id"], by_deleted[0]["deleted_rows"]) == (0, 2)
    few = run("rowsets", shop / "orders", "--limit", 1)
    assert "1 of 3 RowSets" in few.err
    assert "20.0 %" in few.out


def test_static_columns_are_named_as_such_and_their_values_have_a_path(
    run: Run, tmp_path: Path
) -> None:
    schema = pa.schema([(name, pa.int64()) for name in ("k", "n", "x")])
    table = colonnade.create(tmp_path / "t", schema, primary_key=["k", "n"], static=["x"])
    table.append(pa.table({"k": [1, 1, 2], "n": [1, 2, 1], "x": [5, 5, 6]}))
    columns = run("schema", table.path, "--json").json
    assert [each["name"] for each in columns if each["static"]] == ["x"]
    assert "static" in run("schema", table.path).out
    assert run("count", table.statics.path).out.strip() == "2"


def test_a_lone_table_is_a_table_and_a_database(run: Run, tmp_path: Path) -> None:
    schema = colonnade.TableSchema(fields=(colonnade.SchemaField(name="n", type="long"),))
    table = colonnade.create(tmp_path / "lone", schema)
    assert [each["path"] for each in run("ls", table.path, "--json").json] == [table.path]
    assert run("show", table.path, "--json").json["name"] == "lone"


@pytest.mark.parametrize("command", ["ls", "show", "history", "schema", "rowsets", "head", "count"])
def test_a_missing_table_or_database_is_reported_in_one_sentence(
    run: Run, tmp_path: Path, command: str
) -> None:
    ran = run(command, tmp_path / "nothing")
    assert ran.code == 3
    assert ran.err == (
        f"Error: {tmp_path}/nothing is not a Colonnade database or table; check the path, or create"
        " one there.\n"
    )


def test_a_name_that_a_database_lacks_is_never_taken_for_all_of_it(run: Run, shop: Path) -> None:
    for command in ("ls", "show", "head"):
        ran = run(command, shop / "nothing")
        assert ran.code == 3
        assert "whose tables are: orders, users" in ran.err
    assert run("ls", shop / "orders").code == 2


def test_no_command_takes_a_home_folder_that_is_in_use(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, rows = tmp_path / "home", tmp_path / "rows.parquet"
    home.mkdir()
    (home / ".profile").touch()
    pq.write_table(pa.table({"a": [1]}), rows)
    monkeypatch.setenv("HOME", str(home))
    for command in (("create", "~"), ("import", "~", rows)):
        done = run(*command)
        assert done.code == 2
        assert "is the home folder and has other files, such as .profile" in done.err
    assert [each.name for each in home.iterdir()] == [".profile"]


def test_a_database_is_created_once_and_holds_what_is_imported(run: Run, tmp_path: Path) -> None:
    assert run("create", tmp_path / "db", "--json").json["tables"] == 0
    assert run("create", tmp_path / "db").code == 4
    (tmp_path / "a.csv").write_text("id\n1\n")
    assert run("import", tmp_path / "db" / "t", tmp_path / "a.csv").code == 0
    assert [each["name"] for each in run("ls", tmp_path / "db", "--json").json] == ["t"]


WIDTHS = (32, 60, 80)


@pytest.fixture(params=WIDTHS)
def width(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """The columns of the terminal that the command runs on."""
    monkeypatch.setenv("COLUMNS", str(request.param))
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    return int(request.param)


def printed_words(run: Run, *line: object) -> tuple[list[str], int]:
    """Return the words that a command prints, and the width of its longest line."""
    out = re.sub("\x1b\\[[0-9;]*m", "", run(*line).out)
    return out.split(), max(len(line.rstrip()) for line in out.splitlines())


@pytest.mark.parametrize("what", [["history"], ["rowsets"], ["history", "whole"]])
def test_no_word_is_folded_or_left_out_however_narrow_the_terminal_is(
    run: Run, shop: Path, width: int, what: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = shop if "whole" in what else shop / "orders"
    words, longest = printed_words(run, what[0], path)
    assert longest <= width
    monkeypatch.setenv("COLUMNS", "1000")
    assert set(words) == set(printed_words(run, what[0], path)[0])


def test_all_columns_of_a_wide_table_are_shown_on_a_narrow_terminal(
    run: Run, tmp_path: Path, width: int
) -> None:
    names = [f"column_{number}" for number in range(100)]
    table = colonnade.create(tmp_path / "t", pa.schema([(name, pa.int64()) for name in names]))
    table.append(pa.table({name: [number] for number, name in enumerate(names)}))
    words, longest = printed_words(run, "head", tmp_path / "t")
    assert longest <= width
    assert {*names, "0", "99"} <= set(words)


def test_a_wide_table_without_rows_shows_its_columns_on_a_narrow_terminal(
    run: Run, tmp_path: Path, width: int
) -> None:
    names = [f"column_{number}" for number in range(100)]
    colonnade.create(tmp_path / "t", pa.schema([(name, pa.int64()) for name in names]))
    words, longest = printed_words(run, "head", tmp_path / "t")
    assert longest <= width
    assert words == names
