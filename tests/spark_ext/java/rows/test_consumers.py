"""A transaction of Spark reads each change once for a consumer, and moves it with its results."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

import colonnade
from colonnade import ArrowDatabase
from tests.spark_ext.java.kept import KeptDatabase, kept_database
from tests.spark_ext.java.spark_shell import SparkShell

pytestmark = [pytest.mark.spark, pytest.mark.spark_compat]

BEGIN = "CALL colonnade.system.begin(database => 'feed')"
COMMIT, ROLLBACK = "CALL colonnade.system.commit()", "CALL colonnade.system.rollback()"
UNREAD = "colonnade.feed.orders.changes WITH (consumer = 'gold')"
MERGE = (
    "MERGE INTO colonnade.feed.totals t USING"
    f" (SELECT shop, sum(price) AS price FROM {UNREAD} GROUP BY shop) n ON t.shop = n.shop"
    " WHEN MATCHED THEN UPDATE SET price = t.price + n.price WHEN NOT MATCHED THEN INSERT *"
)

database = kept_database(
    "feed",
    "CREATE TABLE colonnade.feed.orders (shop STRING, price BIGINT)",
    "CREATE TABLE colonnade.feed.totals (shop STRING, price BIGINT)",
    "INSERT INTO colonnade.feed.orders VALUES ('Lyon', 5), ('Oslo', 2)",
    "CALL colonnade.system.create_consumer('gold', 'feed.orders', epoch => 0)",
)


@pytest.fixture
def spark(database: KeptDatabase) -> Iterator[SparkShell]:
    yield database.ready()
    database.shell.run("spark.conf.unset('spark.colonnade.transaction')")


def path(spark: SparkShell) -> str:
    return f"{spark.folder}/warehouse/feed"


def opened(spark: SparkShell) -> ArrowDatabase:
    """The database as another process sees it."""
    return colonnade.open_database(path(spark))


def totals(spark: SparkShell) -> dict[str, int]:
    return {row["shop"]: row["price"] for row in opened(spark)["totals"].to_pylist()}


def seen(spark: SparkShell) -> int:
    [consumer] = opened(spark).consumers()
    return consumer.epoch


def test_a_merge_of_what_a_consumer_has_not_read_counts_each_change_once(
    spark: SparkShell,
) -> None:
    for row, expected in (
        (None, {"Lyon": 5, "Oslo": 2}),
        ("('Lyon', 7)", {"Lyon": 12, "Oslo": 2}),
        ("('Rome', 1)", {"Lyon": 12, "Oslo": 2, "Rome": 1}),
    ):
        if row is not None:
            spark.sql(f"INSERT INTO colonnade.feed.orders VALUES {row}")
        base = opened(spark).epoch
        spark.sql(BEGIN)
        spark.sql(MERGE)
        assert spark.sql(COMMIT) == [[base + 1]]
        assert totals(spark) == expected
        assert seen(spark) == base
    spark.sql(BEGIN)
    assert spark.sql(f"SELECT * FROM {UNREAD}") == []
    assert spark.sql(COMMIT) == [[base + 1]]


def test_a_query_that_spark_only_explains_leaves_the_consumer_where_it_is(
    spark: SparkShell,
) -> None:
    base = opened(spark).epoch
    spark.sql(BEGIN)
    for how in ("EXPLAIN", "EXPLAIN EXTENDED", "EXPLAIN COST", "EXPLAIN FORMATTED"):
        spark.sql(f"{how} SELECT shop, sum(price) FROM {UNREAD} GROUP BY shop")
    spark.sql(f"EXPLAIN INSERT INTO colonnade.feed.totals SELECT shop, price FROM {UNREAD}")
    spark.run(f"spark.sql('SELECT * FROM {UNREAD.replace(chr(39), chr(34))}').schema.names")
    assert spark.sql(COMMIT) == [[base]]
    assert seen(spark) == 0


def test_a_consumer_moves_wherever_a_plan_reads_its_changes(spark: SparkShell) -> None:
    for query in (
        f"SELECT * FROM colonnade.feed.totals WHERE price IN (SELECT price FROM {UNREAD})",
        f"SELECT /*+ BROADCAST(n) */ * FROM {UNREAD} n JOIN colonnade.feed.orders o USING (shop)",
        f"SELECT (SELECT max(price) FROM {UNREAD})",
        f"SELECT * FROM {UNREAD} WHERE _change_type = 'delete'",
    ):
        base = opened(spark).epoch
        spark.sql(BEGIN)
        spark.sql(query)
        spark.sql(COMMIT)
        assert seen(spark) == base, query
        spark.sql("INSERT INTO colonnade.feed.orders VALUES ('Lyon', 7)")


def test_a_rolled_back_or_refused_transaction_leaves_the_consumer_where_it_is(
    spark: SparkShell,
) -> None:
    before = seen(spark)
    spark.sql(BEGIN)
    spark.sql(MERGE)
    spark.sql(ROLLBACK)
    spark.sql(BEGIN)
    spark.sql(MERGE)
    spark.sql("UPDATE colonnade.feed.orders SET price = 6 WHERE shop = 'Lyon'")
    opened(spark)["orders"].delete("shop = 'Lyon'")
    assert spark.refusal(COMMIT).startswith("[COLONNADE_CONFLICT]")
    assert seen(spark) == before


def test_two_processes_that_work_as_one_consumer_get_a_conflict_and_no_double(
    spark: SparkShell,
) -> None:
    spark.sql(BEGIN)
    spark.sql(f"INSERT INTO colonnade.feed.totals SELECT shop, price FROM {UNREAD}")
    with opened(spark).transaction() as rival:
        new = rival.changes("orders", "gold", columns=["shop", "price"]).to_arrow()
        rival.table("totals").append(new.select(["shop", "price"]))
    text = spark.refusal(COMMIT)
    assert text.startswith("[COLONNADE_CONFLICT] Consumer 'gold' has read up to epoch")
    assert totals(spark) == {"Lyon": 5, "Oslo": 2}


def test_a_transaction_of_pyspark_has_the_changes_as_a_dataframe(spark: SparkShell) -> None:
    spark.run(f"globals().update(db=colonnade.Database.forPath(spark, {path(spark)!r}), tx=None)")
    spark.sql("UPDATE colonnade.feed.orders SET price = price + 1")
    spark.run("globals().update(tx=db.transaction())")
    changes = "tx.changes('orders', 'gold')"
    kinds = spark.run(f"{changes}.groupBy('_change_type').count().orderBy('_change_type')")
    assert kinds == [["insert", 2], ["update_postimage", 2], ["update_preimage", 2]]
    net = "tx.changes('orders', consumer='gold', net=True).select('shop', 'price')"
    assert sorted(spark.run(net)) == [["Lyon", 6], ["Oslo", 3]]
    spark.run(f"tx.table('totals').append({net})")
    base = opened(spark).epoch
    assert spark.run("tx.commit()") == base + 1
    assert (totals(spark), seen(spark)) == ({"Lyon": 6, "Oslo": 3}, base)
    assert "begin another one" in spark.refused_run(changes)
    spark.run("globals().update(tx=db.transaction())")
    assert "Table 'nope' does not exist in this transaction" in spark.refused_run(
        "tx.changes('nope', 'gold')"
    )
    assert spark.refused_run("tx.changes('orders', 'x')").startswith(
        "[COLONNADE_NOT_FOUND] Consumer 'x' does not exist; the consumers are: gold."
    )
    spark.run("tx.rollback()")


def test_methods_of_the_database_and_procedures_care_for_consumers(spark: SparkShell) -> None:
    db = f"colonnade.Database.forPath(spark, {path(spark)!r})"
    spark.run(f"{db}.createConsumer('silver', 'orders', 0, keep='2 hours')")
    assert spark.run(f"[(c.name, c.table, c.epoch) for c in {db}.consumers()]") == [
        ["gold", "orders", 0],
        ["silver", "orders", 0],
    ]
    [[name, table, epoch, lag, until]] = spark.sql(
        "CALL colonnade.system.reset_consumer('silver', database => 'feed')"
    )
    assert (name, table, lag) == ("silver", "orders", 1)
    assert until is not None
    assert epoch == opened(spark).epoch - 1
    spark.run(f"{db}.resetConsumer('silver', '2020-01-01')")
    rows = spark.sql("CALL colonnade.system.consumers(database => 'feed')")
    assert [row[:3] for row in rows] == [["gold", "orders", 0], ["silver", "orders", 0]]
    spark.sql("CALL colonnade.system.drop_consumer('gold', table => 'feed.orders')")
    spark.run(f"{db}.dropConsumer('silver')")
    assert opened(spark).consumers() == []


REFUSED = [
    ("SELECT * FROM colonnade.feed.orders.changes WITH (consumer = 'x')", "NOT_FOUND", "'x' does"),
    (
        "SELECT * FROM colonnade.feed.totals.changes WITH (consumer = 'gold')",
        "INVALID_INPUT",
        "reads the changes of table 'orders', and not of table 'totals'",
    ),
    (
        "SELECT * FROM colonnade.feed.orders"
        " WITH (readChangeFeed = 'true', consumer = 'gold', startingVersion = 1)",
        "INVALID_INPUT",
        "Options consumer and startingVersion exclude each other",
    ),
    (
        "CALL colonnade.system.drop_consumer('gold', database => 'feed')",
        "INVALID_INPUT",
        "Consumer 'gold' cannot be dropped within a transaction",
    ),
]


def test_wrong_reads_are_refused_in_one_sentence_and_move_nothing(spark: SparkShell) -> None:
    before = seen(spark)
    outside = spark.refusal(f"SELECT * FROM {UNREAD}")
    assert outside.startswith("[COLONNADE_INVALID_INPUT] Consumer 'gold' is moved by the commit")
    spark.sql(BEGIN)
    for statement, condition, part in REFUSED:
        refusal = spark.refusal(statement)
        assert refusal.startswith(f"[COLONNADE_{condition}] "), (statement, refusal)
        assert part in refusal, (statement, refusal)
        assert refusal.endswith("."), (statement, refusal)
    spark.sql(COMMIT)
    assert seen(spark) == before


def test_cached_rows_of_another_transaction_are_no_answer(spark: SparkShell) -> None:
    count = f"SELECT count(*) FROM {UNREAD}"
    spark.sql(BEGIN)
    query = f"SELECT * FROM {UNREAD}"
    assert spark.run(f"spark.sql({query!r}).cache().count()") == 2
    assert spark.sql(count) == [[2]]
    spark.sql(ROLLBACK)
    spark.sql(BEGIN)
    assert spark.sql(count) == [[2]]
    base = opened(spark).epoch
    spark.sql(COMMIT)
    assert seen(spark) == base


def test_a_consumer_that_was_not_used_in_time_says_so(spark: SparkShell) -> None:
    spark.sql("CALL colonnade.system.reset_consumer('gold', database => 'feed')")
    spark.sql("CALL colonnade.system.create_consumer('late', 'feed.orders', keep => '1 second')")
    spark.sql("INSERT INTO colonnade.feed.orders VALUES ('Bern', 1)")
    time.sleep(1.1)
    spark.sql("INSERT INTO colonnade.feed.orders VALUES ('Bern', 2)")
    opened(spark).drop_consumer("gold")
    opened(spark).vacuum(retention_hours=0, force=True)
    spark.sql(BEGIN)
    refusal = spark.refusal("SELECT * FROM colonnade.feed.orders.changes WITH (consumer = 'late')")
    assert refusal.startswith("[COLONNADE_NOT_FOUND] Consumer 'late' of table 'orders' has read")
    assert "they were kept for 1 second, and then removed. Reset it to a later epoch" in refusal
