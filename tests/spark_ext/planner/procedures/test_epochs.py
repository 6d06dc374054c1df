"""The procedures restore, tag, untag and tags, called as Java calls them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import colonnade
from colonnade.manifests.clock import EPOCH_START, MILLISECOND
from colonnade.manifests.errors import AlreadyExistsError, InvalidInputError, NotFoundError
from colonnade.spark_ext.planner.procedures.by_name import PROCEDURES, call_procedure

ROWS = pa.table({"id": [1, 2]})


def call(name: str, /, **arguments: Any) -> list[list[Any]]:
    """The rows of a procedure; parameters that are left out are None, as Java sends them."""
    given = {each.name: arguments.pop(each.name, None) for each in PROCEDURES[name].parameters}
    assert arguments == {}
    rows: list[list[Any]] = call_procedure({"name": name, "arguments": given})["rows"]
    return rows


@pytest.fixture
def shop(tmp_path: Path) -> colonnade.ArrowDatabase:
    """Epoch 2 makes `orders`, 3 adds two rows, 4 makes `news`, 5 adds two rows to `orders`."""
    database = colonnade.create_database(tmp_path / "shop")
    orders = database.create_table("orders", ROWS.schema)
    orders.append(ROWS)
    database.create_table("news", ROWS.schema)
    orders.append(ROWS)
    return database


def micros_of(database: colonnade.ArrowDatabase, epoch: int) -> int:
    """When an epoch was committed, as Java sends a timestamp."""
    moment = database.table("orders").time_of(epoch)
    assert moment is not None
    return (moment - EPOCH_START) // MILLISECOND * 1000


def restore(**arguments: Any) -> list[Any]:
    """The new epoch and the restored one, which come after the counts of the restore."""
    [row] = call("restore", **arguments)
    return list(row[-2:])


def count(database: colonnade.ArrowDatabase) -> int:
    return database.table("orders").scan().to_arrow().num_rows


def test_a_table_is_restored_to_an_epoch_a_tag_and_a_time(shop: colonnade.ArrowDatabase) -> None:
    orders = f"{shop.path}/orders"
    first, *_, newest = [entry.epoch for entry in reversed(shop.table("orders").history())]
    assert restore(table=orders, epoch=first) == [newest + 1, first]
    assert count(shop) == 0
    shop.tag("full", newest)
    assert restore(table=orders, tag="full") == [newest + 3, newest]
    assert count(shop) == 4
    epoch, restored = restore(table=orders, timestamp=micros_of(shop, first))
    assert epoch == newest + 4
    assert restored <= first
    assert shop.tables() == ["news", "orders"]


def test_a_database_is_restored_with_all_its_tables(shop: colonnade.ArrowDatabase) -> None:
    before = shop.refresh().epoch
    shop.drop_table("orders")
    assert restore(database=shop.path, epoch=before) == [before + 2, before]
    assert count(shop) == 4


def test_a_tag_names_an_epoch_until_it_is_taken_away(shop: colonnade.ArrowDatabase) -> None:
    newest = shop.refresh().epoch
    assert call("tag", name="now", table=f"{shop.path}/orders") == [["now", newest]]
    assert call("tag", name="then", database=shop.path, epoch=2) == [["then", 2]]
    at = micros_of(shop, newest)
    assert call("tag", name="at", database=shop.path, timestamp=at) == [["at", newest]]
    assert call("tags", database=shop.path) == [["at", newest], ["now", newest], ["then", 2]]
    assert call("untag", name="now", database=shop.path) == [["now", newest]]
    assert call("tags", table=f"{shop.path}/news") == [["at", newest], ["then", 2]]
    with pytest.raises(AlreadyExistsError, match="then"):
        call("tag", name="then", database=shop.path)
    with pytest.raises(NotFoundError, match="now"):
        call("untag", name="now", database=shop.path)


@pytest.mark.parametrize(
    ("name", "arguments", "sentence"),
    [
        ("restore", {"epoch": 2}, "Name either a table or a database"),
        ("tags", {"table": "/orders", "database": ""}, "Name either a table or a database"),
        ("restore", {"database": "/orders", "epoch": 2}, "is a table, not a database"),
        ("restore", {"database": ""}, "Give exactly one of epoch, timestamp and tag"),
        ("restore", {"table": "/orders", "epoch": 2, "tag": "x"}, "exactly one of"),
        ("restore", {"table": "", "epoch": 2}, "is a database, not a table"),
        ("tag", {"name": "x", "database": "", "epoch": 2, "timestamp": 1}, "not both"),
        ("tag", {"name": "7", "database": ""}, "add a letter"),
    ],
)
def test_an_epoch_or_time_without_a_state_is_refused(
    shop: colonnade.ArrowDatabase, name: str, arguments: dict[str, Any], sentence: str
) -> None:
    for key in {"table", "database"} & arguments.keys():
        arguments = {**arguments, key: shop.path + arguments[key]}
    epoch = shop.refresh().epoch
    with pytest.raises(InvalidInputError, match=sentence):
        call(name, **arguments)
    assert shop.refresh().epoch == epoch


def test_a_table_that_does_not_exist_has_no_tags(shop: colonnade.ArrowDatabase) -> None:
    with pytest.raises(NotFoundError, match="none"):
        call("tags", table=f"{shop.path}/none")
