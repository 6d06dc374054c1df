"""A read for a consumer belongs to one transaction, which moves the consumer if a query reads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import colonnade
from colonnade import ArrowDatabase, ConflictError, InvalidInputError, NotFoundError
from colonnade.spark_ext.planner.messages.feed import LoadedChanges, MoveConsumer
from colonnade.spark_ext.planner.read.feed import move_consumer
from colonnade.spark_ext.planner.state.transactions import TRANSACTIONS
from colonnade.tableformat.location import locate_existing
from colonnade.tableformat.write.settings import CommitSettings
from tests.spark_ext.planner.read.test_feed import condition, loaded, parts, told


@pytest.fixture
def shop(tmp_path: Path) -> ArrowDatabase:
    """Epoch 1 makes `orders`, 2 and 3 insert a row, and consumer `gold` has read none of them."""
    database = colonnade.create_database(tmp_path / "shop")
    orders = database.create_table("orders", {"id": "long"})
    orders.append([{"id": 1}])
    orders.append([{"id": 2}])
    database.create_consumer("gold", "orders", 0)
    return database


@contextmanager
def transaction(database: ArrowDatabase, *, commits: bool = True) -> Iterator[None]:
    id_ = TRANSACTIONS.begin(locate_existing(Path(database.path)), CommitSettings())
    with TRANSACTIONS.within(id_):
        try:
            yield
        finally:
            TRANSACTIONS.end(lambda each: each.commit() if commits else each.rollback())


def unread(database: ArrowDatabase, **options: str) -> LoadedChanges:
    return loaded(database["orders"], consumer="gold", **options)


def versions(changes: LoadedChanges) -> list[int]:
    """Read the changes as a query does that runs, and return the epoch of each part."""
    found = [version for part in parts(changes) for _, version in told(part)]
    move_consumer.run(MoveConsumer(view=changes.view, changes=changes.changes))
    return found


def seen(database: ArrowDatabase) -> int:
    [consumer] = database.consumers()
    return consumer.epoch


def test_a_commit_moves_the_consumer_to_the_base_if_a_query_has_read(shop: ArrowDatabase) -> None:
    base = shop.refresh().epoch
    with transaction(shop):
        assert versions(unread(shop)) == [2, 3]
        shop["orders"].append([{"id": 3}])
        assert versions(unread(shop)) == [2, 3]
    assert seen(shop) == base
    with transaction(shop):
        assert versions(unread(shop)) == [base + 1]
    with transaction(shop):
        assert versions(unread(shop)) == []


def test_changes_that_no_query_reads_stay_unread(shop: ArrowDatabase) -> None:
    with transaction(shop):
        parts(unread(shop))  # planned, as for EXPLAIN
    assert seen(shop) == 0
    with transaction(shop, commits=False):
        assert versions(unread(shop)) == [2, 3]
    assert seen(shop) == 0


def test_filters_and_options_choose_rows_and_all_of_the_range_counts_as_read(
    shop: ArrowDatabase,
) -> None:
    base = shop.refresh().epoch
    with transaction(shop):
        late = condition(">=", "_commit_version", "bigint", "3")
        assert [told(part) for part in parts(unread(shop), late)] == [[("insert", 3)]]
        net = unread(shop, deduplicationMode="netChanges")
        assert {each for part in parts(net) for each in told(part)} == {("insert", 3)}
        assert versions(net) == [3]
    assert seen(shop) == base


def test_two_transactions_that_read_for_one_consumer_are_a_conflict(shop: ArrowDatabase) -> None:
    slow = TRANSACTIONS.begin(locate_existing(Path(shop.path)), CommitSettings())
    with TRANSACTIONS.within(slow):
        assert versions(unread(shop)) == [2, 3]
    with transaction(shop):
        assert versions(unread(shop)) == [2, 3]
    with (
        TRANSACTIONS.within(slow),
        pytest.raises(ConflictError, match="'gold' has read up to epoch"),
    ):
        TRANSACTIONS.end(lambda each: each.commit())


def test_changes_of_a_transaction_that_ended_are_read_by_no_other(shop: ArrowDatabase) -> None:
    with transaction(shop, commits=False):
        before = unread(shop)
    with pytest.raises(InvalidInputError, match="has ended; load them again"):
        versions(before)
    with transaction(shop):
        with pytest.raises(InvalidInputError, match="has ended; load them again"):
            versions(before)
        assert unread(shop) != before  # so no cached rows of the other one are an answer
    assert seen(shop) == 0


def test_wrong_reads_are_refused_in_one_sentence(shop: ArrowDatabase, tmp_path: Path) -> None:
    other = shop.create_table("other", {"id": "long"})
    lone = colonnade.create(tmp_path / "lone", {"id": "long"})
    with pytest.raises(InvalidInputError, match="is moved by the commit of a transaction; begin"):
        unread(shop)
    with transaction(shop):
        with pytest.raises(NotFoundError, match="'x' does not exist; the consumers are: gold"):
            loaded(shop["orders"], consumer="x")
        with pytest.raises(InvalidInputError, match="changes of table 'orders', and not of"):
            loaded(other, consumer="gold")
        with pytest.raises(InvalidInputError, match="begin one on database"):
            loaded(lone, consumer="gold")
        for option, value in (
            ("startingVersion", "1"),
            ("endingTimestamp", "2030-01-01"),
            ("startingBoundInclusive", "true"),
            ("allowFuture", "true"),
        ):
            with pytest.raises(InvalidInputError, match=f"consumer and {option} exclude"):
                unread(shop, **{option: value})
    assert seen(shop) == 0
