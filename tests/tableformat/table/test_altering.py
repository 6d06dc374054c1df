"""A table changes its columns, its name and its existence by methods of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

import colonnade
from tests.tableformat.table.trips import SCHEMA, ids, rows


@pytest.fixture
def database(tmp_path: Path) -> colonnade.ArrowDatabase:
    database = colonnade.create_database(tmp_path / "db")
    database.create_table("t", rows(1))
    return database


def test_columns_are_renamed_and_dropped_by_one_word(database: colonnade.ArrowDatabase) -> None:
    table = database["t"]
    table.rename_column("amount", "price")
    assert table.columns == ["id", "name", "price"]
    epoch = table.drop_column("name", "price")
    assert (table.columns, table.epoch) == (["id"], epoch)
    with pytest.raises(colonnade.NotFoundError, match="'no'"):
        table.drop_column("no")


def test_a_table_is_renamed_and_its_handle_follows(database: colonnade.ArrowDatabase) -> None:
    table = database["t"]
    epoch = table.rename("trips")
    assert (table.name, table.epoch) == ("trips", epoch)
    assert list(database) == ["trips"]
    with pytest.raises(colonnade.AlreadyExistsError):
        database.create_table("u", SCHEMA).rename("trips")


def test_a_dropped_table_is_gone_and_can_be_brought_back(database: colonnade.ArrowDatabase) -> None:
    table = database["t"]
    before = table.version
    assert table.drop() == before + 1
    assert "t" not in database
    with pytest.raises(colonnade.NotFoundError, match="dropped"):
        table.append(rows(2))
    assert ids(database.table("t", epoch=before).scan(epoch=before)) == [1]
    database.restore(before)
    assert ids(database["t"].scan()) == [1]


def test_a_lone_table_can_be_dropped_and_created_again(tmp_path: Path) -> None:
    colonnade.create(tmp_path / "t", rows(1)).drop()
    with pytest.raises(colonnade.NotFoundError):
        colonnade.open(tmp_path / "t")
    assert ids(colonnade.create(tmp_path / "t", rows(2)).scan()) == [2]


def test_static_values_are_dropped_and_renamed_with_their_table_alone(tmp_path: Path) -> None:
    table = colonnade.create_database(tmp_path / "db").create_table(
        "t", SCHEMA, primary_key=["id"], static=["name"]
    )
    epoch = table.epoch
    for call in (table.statics.drop, lambda: table.statics.rename("u")):
        with pytest.raises(colonnade.InvalidInputError):
            call()
    assert colonnade.open(table.path).epoch == epoch
