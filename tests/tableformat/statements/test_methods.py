"""Bad input of a statement is named, and changes nothing."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pytest

from colonnade import ArrowDatabase, ArrowTable, CommitSettings, WriteSettings
from colonnade.manifests.errors import InvalidInputError, NotFoundError
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.store import MemoryStore
from tests.tableformat.statements.tables import filled, rows

IGNORE, TTL = WriteSettings(on_duplicate="ignore"), WriteSettings(ttl="1 hour")


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        (lambda t: t.update({"nope": 1}), "Column 'nope' does not exist"),
        (lambda t: t.update({"text.x": 1}), "Only whole columns can be set"),
        (lambda t: t.update({"id": 1, "ID": 2}), "set more than once"),
        (lambda t: t.update({"text": "hello"}), "Write text in quotes"),
        (lambda t: t.update({"id": "id ^ 1"}), "'id' cannot be set: .*cannot contain 'id \\^ 1'"),
        (lambda t: t.update({"text": "hello all"}), "'text' cannot be set: .* not SQL from 'all'"),
        (lambda t: t.update({"id": "'7'"}), "is long and cannot be set to string 7"),
        (lambda t: t.update({"text": "id"}, "id = -1"), "'text' is string, but the data holds int"),
        (lambda t: t.update({"id": "id > 1"}, "id = -1"), "'id' is long, but the data holds bool"),
        (lambda t: t.update({"price": "1.555"}), "cannot be set to decimal 1.555"),
        (lambda t: t.update({"price": 10**8}), "cannot be set to integer"),
        (lambda t: t.update({"day": "'yesterday'"}), "yesterday"),
        (lambda t: t.update({"day": 7}), "is date and cannot be set"),
        (lambda t: t.update({"id": None}), "'id' is NULL|NULL"),
        (lambda t: t.update({"id": float("nan")}), "cannot be set to double nan"),
        (lambda t: t.update({"text": [1]}), "cannot be set to"),
        (lambda t: t.update({"text": "id"}), "'text'"),
        (lambda t: t.update({}), "takes a dict of values"),
        (lambda t: t.update({1: 2}), "given by its name"),
        (lambda t: t.delete("nope = 1"), "'nope'"),
        (lambda t: t.delete("id"), "boolean"),
        (lambda t: t.delete("rand() < 0.5"), "RAND"),
        (lambda t: t.delete("id IN (SELECT 1)"), "SELECT"),
        (lambda t: t.delete(7), "where must be SQL text"),
        (lambda t: t.upsert(rows(1, 1), on="id"), "is in more than one"),
        (lambda t: t.upsert(rows(1, text=None), on=["id", "text"]), "is a key and is NULL"),
        (lambda t: t.upsert(rows(1).drop_columns(["text"]), on="id"), "lacks 'text'"),
        (lambda t: t.upsert(rows(1), on=[]), "one or more columns"),
        (lambda t: t.upsert(pa.table({"q": []}), on="id"), "lacks 'id'"),
        (lambda t: t.upsert(rows(1), on=["id", "id"]), "each once"),
        (lambda t: t.upsert(7, on="id"), "no Arrow interface"),
        (lambda t: t.delete("id = 1", commit=7), "must be colonnade.CommitSettings"),
        (lambda t: t.update({"id": 1}, settings=IGNORE), "on_duplicate works only for"),
        (lambda t: t.upsert(rows(1), on="id", settings=IGNORE), "on_duplicate works only for"),
        (lambda t: t.merge(rows(1), "id", settings=IGNORE), "on_duplicate works only for"),
        (lambda t: t.backfill("id", 1, settings=IGNORE), "on_duplicate works only for"),
        (lambda t: t.backfill("id", 1, settings=TTL), "Option ttl is for new rows"),
    ],
)
def test_bad_input_is_named_and_changes_nothing(
    statement: Callable[[ArrowTable], Any], message: str
) -> None:
    table = filled()
    head = table.epoch
    with pytest.raises(InvalidInputError, match=message):
        statement(table)
    assert table.refresh().epoch == head


def test_an_unknown_key_column_and_a_dropped_table_are_not_found() -> None:
    table = filled()
    for data in (rows(1), rows(1).schema.empty_table()):
        with pytest.raises(NotFoundError, match="'nope'"):
            table.upsert(data, on="nope")


def unread() -> Iterator[pa.RecordBatch]:
    def read(_: int) -> pa.RecordBatch:
        raise AssertionError("The rows are read.")

    return map(read, [0])


WITH_ROWS: dict[str, Callable[[Any, Any], Any]] = {
    "upsert": lambda t, commit: t.upsert(unread(), commit=commit),
    "upsert by other columns": lambda t, commit: t.upsert(unread(), on="id", commit=commit),
    "delete_keys": lambda t, commit: t.delete_keys(unread(), commit=commit),
}
OF_A_TABLE: dict[str, Callable[[Any, Any], Any]] = {
    **WITH_ROWS,
    "append": lambda t, commit: t.append(unread(), commit=commit),
    "overwrite": lambda t, commit: t.overwrite(unread(), commit=commit),
    "overwrite_partitions": lambda t, commit: t.overwrite_partitions(unread(), commit=commit),
    "update": lambda t, commit: t.update({"id": 1}, commit=commit),
    "merge": lambda t, commit: (
        t.merge(unread(), "id", commit=commit).when_not_matched_insert_all().execute()
    ),
    "delete": lambda t, commit: t.delete(commit=commit),
    "delete_range": lambda t, commit: t.delete_range("id > 3", commit=commit),
    "add_column": lambda t, commit: t.add_column("n", "int", 1, commit=commit),
    "backfill": lambda t, commit: t.backfill("id", 1, commit=commit),
    "restore": lambda t, commit: t.restore(1, commit=commit),
}
OF_A_DATABASE: dict[str, Callable[[Any, Any], Any]] = {
    "restore": lambda db, commit: db.restore(0, commit=commit),
    "transaction": lambda db, commit: db.transaction(commit=commit),
}


def database() -> ArrowDatabase:
    log = Log(MemoryStore())
    db = ArrowDatabase(log.store, log, create_database(log.store, lone_table=False))
    db.create_table("t", rows(1).schema)
    return db


@pytest.mark.parametrize(
    ("made", "calls"), [(filled, OF_A_TABLE), (database, OF_A_DATABASE)], ids=["table", "database"]
)
def test_every_method_with_commit_settings_refuses_wrong_ones_before_rows_are_read(
    made: Callable[[], object], calls: dict[str, Callable[[Any, Any], Any]]
) -> None:
    methods = inspect.getmembers(type(made()), inspect.isfunction)
    taking = {name for name, each in methods if "commit" in inspect.signature(each).parameters}
    assert {name for name in taking if not name.startswith("_")} <= calls.keys()
    for call in calls.values():
        with pytest.raises(InvalidInputError, match=r"must be colonnade\.CommitSettings"):
            call(made(), 7)


@pytest.mark.parametrize("name", WITH_ROWS)
def test_rows_are_not_read_for_a_commit_of_a_part_of_a_transaction(name: str) -> None:
    with (
        database().transaction() as tx,
        pytest.raises(InvalidInputError, match="committed as a whole"),
    ):
        WITH_ROWS[name](tx.table("t"), CommitSettings())
