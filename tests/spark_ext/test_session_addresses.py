"""Paths in a session get its settings; a stand-in for the session records what it is asked."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql.types import LongType

import colonnade
from colonnade import Database, InvalidInputError, Table
from colonnade.manifests.errors import StoreError
from colonnade.spark_ext.options.read import parse_read_options
from colonnade.spark_ext.session_storage import address_in
from tests.vault import OPTIONS, SECRET, VaultFiles, open_vault

PREFIX = "spark.colonnade.storage."
LAKE = "vault://lake"


@pytest.fixture(autouse=True)
def files(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    with open_vault(monkeypatch) as files:
        yield files


class Reader:
    """Keeps the options of a read, and returns them by name."""

    def __init__(self) -> None:
        self.given: dict[str, str] = {}

    def format(self, name: str) -> Reader:
        assert name == "colonnade"
        return self

    def options(self, **options: str) -> Reader:
        self.given |= options
        return self

    def option(self, name: str, value: object) -> Reader:
        return self.options(**{name: str(value)})

    def load(self, path: str) -> dict[str, str]:
        return {**self.given, "path": path}


def session(**settings: str) -> Any:
    """A session without the jar, with these settings by the end of their names."""
    given = {f"{PREFIX}{name}": value for name, value in settings.items()}
    known = {**given, "spark.sql.session.timeZone": "UTC"}
    conf = SimpleNamespace(getAll=given, get=lambda name, default=None: known.get(name, default))
    return SimpleNamespace(conf=conf, read=Reader(), client=SimpleNamespace(_user_id=None))


def test_settings_are_read_as_text_and_options_replace_them_by_name() -> None:
    spark = session(secret="no", port="21", client_kwargs='{"a": true}')
    found = address_in(spark, LAKE, OPTIONS)
    assert found.storage_options == {"secret": SECRET, "port": 21, "client_kwargs": {"a": True}}
    assert address_in(spark, LAKE).storage_options["secret"] == "no"
    assert address_in(session(), LAKE).options is None
    assert address_in(spark, found) == found


def test_a_local_path_does_not_use_settings_and_refuses_options() -> None:
    spark = session(kwargs="{")
    assert address_in(spark, "/data/t").options is None
    with pytest.raises(InvalidInputError, match="takes no storage options"):
        address_in(spark, "/data/t", OPTIONS)
    with pytest.raises(InvalidInputError, match="Storage option kwargs is not valid JSON"):
        address_in(spark, LAKE)


@pytest.mark.parametrize("of_call", [False, True])
def test_tables_of_a_database_are_made_opened_and_read_with_its_options(of_call: bool) -> None:
    spark = session() if of_call else session(**OPTIONS)
    own = OPTIONS if of_call else None
    database = Database.createIfNotExists(spark, LAKE, own)
    made = database.createTable("t").addColumn("id", LongType()).execute()
    assert (made.path, database.tables()) == (f"{LAKE}/t", ["t"])
    again = Database.createIfNotExists(spark, LAKE, own).createTableIfNotExists("t")
    assert again.addColumn("id", LongType()).execute().path == made.path
    read: Any = made.toDF()
    assert read == {"epoch": "1", "path": f"{LAKE}/t", "storage.secret": SECRET}
    opened = parse_read_options(read)
    assert colonnade.open(opened.path, opened.storage).refresh().epoch == 1
    assert SECRET not in repr(made) + repr(database)
    assert Table.isColonnadeTable(spark, f"{LAKE}/t", own)
    assert not Table.isColonnadeTable(spark, f"{LAKE}/u", own)
    lone = Table.create(spark, own).location("vault://lone").addColumn("a", LongType()).execute()
    assert Table.forPath(spark, "vault://lone", own).path == lone.path
    database.dropTable("t")
    assert database.tables() == []


def test_a_statement_in_sql_that_would_lose_the_options_of_a_call_is_refused() -> None:
    database = Database.create(session(), LAKE, OPTIONS)
    table = database.createTable("t").addColumn("id", LongType()).execute()
    for call in (lambda: table.delete(), database.transaction):
        with pytest.raises(InvalidInputError, match=f"as {PREFIX}<name>") as refused:
            call()
        assert SECRET not in str(refused.value)
    same = Database.forPath(session(**OPTIONS), LAKE, OPTIONS)
    for call in (lambda: same.table("t").delete(), same.transaction):
        with pytest.raises(InvalidInputError, match="needs Colonnade's jar"):
            call()


def test_a_local_table_reaches_sql_whatever_the_settings_are(tmp_path: Path) -> None:
    spark = session(secret="no")
    database = Database.create(spark, str(tmp_path / "lake"))
    table = database.createTable("t").addColumn("id", LongType()).execute()
    read: Any = table.toDF()
    assert read == {"epoch": "1", "path": str(tmp_path / "lake" / "t")}
    for call in (lambda: table.delete(), database.transaction):
        with pytest.raises(InvalidInputError, match="needs Colonnade's jar"):
            call()


def test_a_wrong_setting_does_not_open_the_store_and_is_not_shown() -> None:
    Database.create(session(), LAKE, OPTIONS)
    with pytest.raises(StoreError) as refused:
        Database.forPath(session(secret=f"not {SECRET}"), LAKE)
    assert SECRET not in str(refused.value)


def test_a_table_on_a_file_system_of_python_is_refused_to_spark_in_one_sentence() -> None:
    files, schema = VaultFiles(SECRET), pa.schema({"id": pa.int64()})
    database = colonnade.create_database("/own", filesystem=files)
    table = colonnade.create("/own/t", schema, filesystem=files)
    for handle in (lambda: Table(session(), table), lambda: Database(session(), database)):
        with pytest.raises(InvalidInputError, match="which Spark's tasks do not have; open it for"):
            handle()
