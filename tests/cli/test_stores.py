"""Every command works on a store that needs options, and shows none of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import colonnade
from colonnade.cli.addresses import address_of
from colonnade.cli.commands import COMMANDS
from colonnade.manifests.log.log import Log
from colonnade.manifests.object_names import JOURNAL
from colonnade.manifests.store import open_store
from tests.cli.runner import SCHEMA, Ran, Run, order_rows, run_command
from tests.setup.minio import SECRET as KEY_OF_MINIO
from tests.setup.minio import Minio
from tests.vault import OPTIONS, SECRET, open_vault

VARIABLE = "COLONNADE_STORAGE_OPTIONS"
GIVEN = ("--storage-option", f"secret={SECRET}")


@pytest.fixture
def vault(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.delenv(VARIABLE, raising=False)
    with open_vault(monkeypatch) as files:
        yield files


class Asked:
    """Runs commands with options in the environment; no output may show the secret."""

    def __init__(self, secret: str) -> None:
        self._secret = secret

    def __call__(self, *arguments: object, code: int | None = 0) -> Ran:
        ran = run_command(*arguments)
        assert code in (None, ran.code), (arguments, ran.out, ran.err)
        assert self._secret not in ran.out + ran.err, arguments
        return ran


def walk(ask: Asked, lake: str, folder: Path) -> None:
    """Run every command, without Spark, on a new database at `lake`."""
    orders, file = f"{lake}/orders", folder / "orders.parquet"
    pq.write_table(order_rows(0, 20_000), file)
    ask("create", lake)
    ask("create", lake, code=4)
    ask("import", orders, file, "--mode", "create", "--sort-key", "id")
    for _ in range(3):
        ask("import", orders, file)
    assert [each["rows"] for each in ask("ls", lake, "--json").json] == [80_000]
    assert ask("show", lake, "--json").json["path"] == lake
    assert ask("show", orders, "--json").json["path"] == orders
    assert len(ask("schema", orders, "--json").json) == len(SCHEMA)
    assert len(ask("history", orders, "--json").json) == 4
    assert len(ask("rowsets", orders, "--json").json) == 4
    assert len(ask("head", orders, "--json").json) == 10
    assert ask("count", orders, "--where", "id < 5").out.strip() == "20"
    ask("tag", lake, "four", "--yes")
    assert ask("compact", orders, "--option", "min-rowsets=2", "--json").json["groups"] == 1
    ask("erase", orders, "--where", "id = 3", "--yes", code=1)  # the tag keeps the rows
    ask("tag", lake, "four", "--remove", "--yes")
    ask("erase", orders, "--where", "id = 3", "--yes")
    ask("export", orders, folder / "out.parquet", "--where", "id < 5")
    assert pq.read_metadata(folder / "out.parquet").num_rows == 16
    before = ask("show", lake, "--json").json["epoch"]
    ask("import", orders, file)
    ask("restore", orders, "--epoch", before, "--yes")
    assert ask("count", orders).out.strip() == "79996"
    assert ask("vacuum", lake, "--retention-hours", "0", "--yes", "--json").json["floor"] > before
    assert ask("verify", lake, "--depth", "4", "--json").json["sound"]
    assert ask("verify", orders, "--json").json["sound"]
    ask("repair", lake, "--yes")
    ask("report", lake, "-o", folder / "report.html")
    assert str(lake) in (folder / "report.html").read_text()
    assert {"what": "store", "status": "ok", "found": "commits are atomic and durable"} in (
        ask("doctor", lake, "--json", code=None).json  # the machine may lack Java
    )
    ask("maintain", lake, "--dry-run")
    ran = ask("maintain", lake, "--json")
    assert (ran.json["database"], ran.json["errors"]) == (lake, [])
    rounds = [*open_store(address_of(lake)).list("_manifest/maintenance/")]
    assert len(rounds) == 1
    lose_rows(ask, lake, folder)


def lose_rows(ask: Asked, lake: str, folder: Path) -> None:
    """Lose the object of the only RowSet, find out, and repair the table."""
    (rowset,) = ask("rowsets", f"{lake}/orders", "--json").json
    store = open_store(address_of(lake))
    lost = [each.name for each in store.list("") if each.name.endswith(".rowset")]
    assert lost
    for name in lost:
        store.delete(name)
    assert ask("verify", lake, "--json", code=8).json["findings"]
    rescue = ("--rescue", folder / "rescued.parquet", "--yes", "--json")
    repaired = ask("repair", f"{lake}/orders", "--rowsets", rowset["id"], *rescue).json
    assert repaired["rows_lost"] == 79_996
    assert ask("count", f"{lake}/orders").out.strip() == "0"
    assert ask("verify", lake, "--json").json["sound"]


@pytest.mark.slow
def test_every_command_works_in_a_store_that_needs_a_secret_and_shows_no_secret(
    vault: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, json.dumps(OPTIONS))
    walk(Asked(SECRET), "vault://lake", tmp_path)
    assert not list(open_store("vault://lake", OPTIONS).list(JOURNAL))


@pytest.mark.slow
def test_every_command_works_in_a_bucket_and_shows_no_secret(
    minio: Minio, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, json.dumps(minio.options()))
    lake = f"s3://{minio.new_bucket()}/lake"
    walk(Asked(KEY_OF_MINIO), lake, tmp_path)
    found = colonnade.open_database(lake, minio.options())
    assert found.tables() == ["orders"]
    assert Log(open_store(found._store.address)).reader.read_head().epoch > 0


def test_an_option_of_the_command_line_opens_a_store_and_replaces_that_of_the_variable(
    vault: Any, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    colonnade.create("vault://lake", SCHEMA, storage_options=OPTIONS).append(order_rows(0, 3))
    assert run("count", "vault://lake", *GIVEN).out == "3\n"
    monkeypatch.setenv(VARIABLE, json.dumps({"secret": "no"}))
    assert run("count", "vault://lake", *GIVEN).out == "3\n"
    assert run("count", "vault://lake").code == 9
    monkeypatch.setenv(VARIABLE, "")
    assert run("count", "vault://lake").code == 9


@pytest.mark.slow
def test_every_command_has_the_option_and_says_where_secrets_go(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    for each in COMMANDS:
        said = run(each, "--help").out
        assert "--storage-option" in said, each
        assert f"give secrets as JSON in the variable {VARIABLE}" in said, each


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--storage-option", SECRET], "no name or no value"),
        (["--storage-option", f"={SECRET}"], "no name or no value"),
        ([*GIVEN, *GIVEN], "secret is given twice"),
        (["--storage-option", f"kwargs={{{SECRET}"], "Storage option kwargs is not valid JSON"),
    ],
)
def test_a_badly_written_option_is_named_and_its_value_is_not_shown(
    vault: Any, run: Run, given: list[str], said: str
) -> None:
    ran = run("ls", "vault://lake", *given)
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert said in ran.err
    assert SECRET not in ran.out + ran.err


@pytest.mark.parametrize("text", [SECRET, f'["{SECRET}"]', f'{{"secret": "{SECRET}"'])
def test_a_variable_that_is_no_json_object_is_refused_without_showing_it(
    vault: Any, run: Run, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setenv(VARIABLE, text)
    ran = run("ls", "vault://lake", "--json")
    assert (ran.code, SECRET in ran.err) == (2, False)
    assert VARIABLE in ran.err


def test_a_local_path_refuses_options_and_does_not_use_the_variable(
    run: Run, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "{")
    assert run("ls", shop).code == 0
    ran = run("ls", shop, *GIVEN)
    assert (ran.code, SECRET in ran.err) == (2, False)
    assert "takes no storage options" in ran.err
