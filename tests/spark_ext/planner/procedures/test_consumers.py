"""The procedures for consumers, called as Java calls them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import colonnade
from colonnade.manifests.errors import (
    AlreadyExistsError,
    ColonnadeError,
    InvalidInputError,
    NotFoundError,
)
from colonnade.spark_ext.planner.state.transactions import TRANSACTIONS
from colonnade.tableformat.location import locate_existing
from colonnade.tableformat.write.settings import CommitSettings
from tests.spark_ext.planner.procedures.test_epochs import ROWS, call, micros_of


@pytest.fixture
def shop(tmp_path: Path) -> colonnade.ArrowDatabase:
    """Epoch 1 makes `orders`, and 2 and 3 add two rows each."""
    database = colonnade.create_database(tmp_path / "shop")
    orders = database.create_table("orders", ROWS.schema)
    orders.append(ROWS)
    orders.append(ROWS)
    return database


def test_a_consumer_begins_with_an_epoch_a_time_a_tag_or_the_next_epoch(
    shop: colonnade.ArrowDatabase,
) -> None:
    shop.tag("last", 3)
    orders = f"{shop.path}/orders"
    for name, start, seen in (
        ("all", {"epoch": 0}, 0),
        ("epoch", {"epoch": 2}, 1),
        ("time", {"timestamp": micros_of(shop, 3)}, 2),
        ("tag", {"tag": "last"}, 2),
        ("next", {}, 8),
    ):
        [row] = call("create_consumer", name=name, table=orders, keep="2 hours", **start)
        assert row[:3] == [name, "orders", seen]
    assert [row[0] for row in call("consumers", table=orders)] == [
        "all",
        "epoch",
        "next",
        "tag",
        "time",
    ]
    [known] = [each for each in shop.consumers() if each.name == "all"]
    [row] = [row for row in call("consumers", database=shop.path) if row[0] == "all"]
    assert row[3] == known.lag == shop.epoch
    assert known.until is not None
    assert row[4] == known.until.timestamp() * 1e6


def test_a_consumer_is_reset_and_dropped(shop: colonnade.ArrowDatabase) -> None:
    call("create_consumer", name="gold", table=f"{shop.path}/orders")
    assert call("reset_consumer", name="gold", database=shop.path, epoch=3)[0][2] == 2
    newest = shop.refresh().epoch
    assert call("reset_consumer", name="gold", table=f"{shop.path}/orders")[0][2] == newest
    assert call("drop_consumer", name="gold", database=shop.path)[0][0] == "gold"
    assert call("consumers", database=shop.path) == []


REFUSED: list[tuple[str, dict[str, Any], type[ColonnadeError], str]] = [
    ("create_consumer", {"name": "gold", "table": "/orders"}, AlreadyExistsError, "'gold' exists"),
    ("create_consumer", {"name": "x", "table": "/none"}, NotFoundError, "none"),
    ("create_consumer", {"name": "x", "table": ""}, InvalidInputError, "is a database"),
    (
        "create_consumer",
        {"name": "x", "table": "/orders", "epoch": 3, "tag": "t"},
        InvalidInputError,
        "one of epoch, timestamp and tag",
    ),
    (
        "create_consumer",
        {"name": "x", "table": "/orders", "epoch": 99},
        NotFoundError,
        "newest epoch",
    ),
    (
        "create_consumer",
        {"name": "x", "table": "/orders", "keep": "soon"},
        InvalidInputError,
        "such as '7 days'",
    ),
    ("reset_consumer", {"name": "x", "database": ""}, NotFoundError, "the consumers are: gold"),
    ("reset_consumer", {"name": "gold"}, InvalidInputError, "Name either a table or a database"),
    ("drop_consumer", {"name": "x", "database": ""}, NotFoundError, "the consumers are: gold"),
    ("consumers", {"database": "/orders"}, InvalidInputError, "is a table, not a database"),
]


@pytest.mark.parametrize(("name", "arguments", "error", "part"), REFUSED)
def test_a_wrong_call_is_refused_and_changes_nothing(
    shop: colonnade.ArrowDatabase,
    name: str,
    arguments: dict[str, Any],
    error: type[ColonnadeError],
    part: str,
) -> None:
    call("create_consumer", name="gold", table=f"{shop.path}/orders")
    for key in {"table", "database"} & arguments.keys():
        arguments = {**arguments, key: shop.path + arguments[key]}
    epoch = shop.refresh().epoch
    with pytest.raises(error, match=part):
        call(name, **arguments)
    assert shop.refresh().epoch == epoch


def test_a_transaction_cannot_hold_what_needs_its_own_epoch(shop: colonnade.ArrowDatabase) -> None:
    call("create_consumer", name="gold", table=f"{shop.path}/orders")
    epoch = shop.refresh().epoch
    id_ = TRANSACTIONS.begin(locate_existing(Path(shop.path)), CommitSettings())
    with TRANSACTIONS.within(id_):
        for name in ("create_consumer", "reset_consumer", "drop_consumer"):
            with pytest.raises(InvalidInputError, match=r"'gold' cannot be \w+ within a trans"):
                call(name, name="gold", table=f"{shop.path}/orders")
        assert [row[0] for row in call("consumers", database=shop.path)] == ["gold"]
        TRANSACTIONS.end(lambda transaction: transaction.rollback())
    assert shop.refresh().epoch == epoch
