"""Each row of the page of words that Spark runs: its code runs, and does what the row says."""

from __future__ import annotations

from typing import Any

import pytest

from tests.spark_ext.java.spark_shell import SparkShell
from tests.words import ROWS, WordRow, untried

pytestmark = pytest.mark.spark

AFTER = "ids()"
NEW = "ids('new')"
PRICES = "sorted(row.price for row in spark.table('orders').collect())"
COLUMNS = "columns()"
PROPERTIES = "table.detail().first().properties"
HISTORY = "[(row['version'], row['operation']) for row in rows(found)]"
EMPTIED = "table.delete() and again() and ids()"
THEN = "table.delete() and ids(again())"
CHANGES = "sorted((r['_commit_version'], r['_change_type'], r['id']) for r in found)"
CHANGES_AGAIN = CHANGES.replace("found", "again()")
AT_PATH = "ids(spark.read.format('colonnade').load(f'{lake}/new'))"

SQL: dict[str, tuple[str, Any]] = {
    "CREATE TABLE new (id BIGINT, day DATE) USING colonnade": ("columns('new')", ["id", "day"]),
    "CREATE TABLE spark_catalog.default.new (id BIGINT) USING colonnade LOCATION '/lake/new'": (
        "columns('spark_catalog.default.new')",
        ["id"],
    ),
    "CREATE OR REPLACE TABLE new USING colonnade AS SELECT * FROM news": (NEW, [3, 4]),
    "CREATE TABLE new LIKE orders": (
        "Table.forName(spark, 'new').detail().first().properties",
        {"primaryKey": "id"},
    ),
    "CREATE TABLE new (id BIGINT, day DATE) PARTITIONED BY (day)": (
        "Table.forName(spark, 'new').detail().first().partitionColumns",
        ["day"],
    ),
    "CREATE TABLE new (id BIGINT, day DATE) CLUSTER BY (day)": (
        "Table.forName(spark, 'new').detail().first().clusteringColumns",
        ["day"],
    ),
    "CREATE TABLE new (id BIGINT GENERATED ALWAYS AS IDENTITY, item STRING)": (
        "rows(\"INSERT INTO new (item) VALUES ('a'), ('b')\") or ids('new')",
        [1, 2],
    ),
    "CREATE TABLE new (id BIGINT, twice BIGINT GENERATED ALWAYS AS (id * 2))": (
        "rows('INSERT INTO new (id) VALUES (4)') or rows('SELECT * FROM new')",
        [{"id": 4, "twice": 8}],
    ),
    "SELECT * FROM colonnade.`/lake/shop/orders`": ("len(found)", 3),
    "SELECT * FROM orders VERSION AS OF 1": ("table.delete() and len(again())", 3),
    "SELECT * FROM orders TIMESTAMP AS OF '2026-01-31 12:00'": (
        "table.delete() and len(again())",
        3,
    ),
    "SELECT * FROM table_changes('orders', 1)": (CHANGES, [[1, "insert", id] for id in (1, 2, 3)]),
    "SELECT * FROM orders.changes WHERE _commit_version >= 1": (
        f"table.delete('id < 3') and rows('DELETE FROM orders') or {CHANGES_AGAIN}",
        [
            *([1, "insert", id] for id in (1, 2, 3)),
            *([3, "delete", id] for id in (1, 2)),
            [4, "delete", 3],
        ],
    ),
    "SELECT _rowset FROM orders": ("found", [{"_rowset": 0}] * 3),
    "INSERT INTO orders VALUES (4, 'cap', 1.5)": (AFTER, [1, 2, 3, 4]),
    "INSERT INTO orders BY NAME SELECT 'cap' AS item, 4 AS id": (AFTER, [1, 2, 3, 4]),
    "INSERT OVERWRITE orders SELECT * FROM news": (AFTER, [3, 4]),
    "INSERT INTO orders REPLACE WHERE id >= 3 SELECT * FROM news": (AFTER, [1, 2, 3, 4]),
    "UPDATE orders SET price = 3 WHERE id = 1": (PRICES, [1.0, 3.0, 5.0]),
    "DELETE FROM orders WHERE id = 1": (AFTER, [2, 3]),
    "MERGE INTO orders t USING news s ON t.id = s.id WHEN MATCHED THEN UPDATE SET * WHEN NOT"
    " MATCHED THEN INSERT *": (PRICES, [1.5, 2.0, 5.0, 9.0]),
    "MERGE INTO orders t USING news s ON t.id = s.id WHEN NOT MATCHED BY SOURCE THEN DELETE": (
        AFTER,
        [3],
    ),
    "MERGE WITH SCHEMA EVOLUTION INTO orders t USING (SELECT *, true AS paid FROM news) s ON t.id"
    " = s.id WHEN NOT MATCHED THEN INSERT *": (COLUMNS, ["id", "item", "price", "paid"]),
    "ALTER TABLE orders ADD COLUMNS (tip DOUBLE)": (COLUMNS, ["id", "item", "price", "tip"]),
    "ALTER TABLE orders RENAME COLUMN item TO what": (COLUMNS, ["id", "what", "price"]),
    "ALTER TABLE orders DROP COLUMN item": (COLUMNS, ["id", "price"]),
    "ALTER TABLE orders ADD CONSTRAINT paid CHECK (price > 0)": (
        "table.detail().first().constraints",
        {"paid": "price > 0"},
    ),
    "ALTER TABLE news CLUSTER BY (id, price)": (
        "Table.forName(spark, 'news').detail().first().clusteringColumns",
        ["id", "price"],
    ),
    "ALTER TABLE orders SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name')": (
        PROPERTIES,
        {"primaryKey": "id"},
    ),
    "ALTER TABLE orders SET TBLPROPERTIES ('retention.hours' = '720')": (
        PROPERTIES,
        {"primaryKey": "id", "retention.hours": "720"},
    ),
    "ALTER TABLE orders SET TBLPROPERTIES ('isolation' = 'serializable')": (
        PROPERTIES,
        {"primaryKey": "id", "isolation": "serializable"},
    ),
    "ALTER TABLE orders RENAME TO sales": ("ids('sales')", [1, 2, 3]),
    "OPTIMIZE orders WHERE id > 1": ("(len(found), files())", [1, 1]),
    "OPTIMIZE orders FULL": (
        "(rows(\"INSERT INTO orders VALUES (4, 'cap', 1.5)\"), again(), files())[2]",
        1,
    ),
    "OPTIMIZE news ZORDER BY (id, price)": ("(len(found), ids('news'))", [1, [3, 4]]),
    "VACUUM orders DRY RUN": (AFTER, [1, 2, 3]),
    "CALL colonnade.system.vacuum(table => 'shop.orders', retention_hours => 24, force => true)": (
        AFTER,
        [1, 2, 3],
    ),
    "DESCRIBE HISTORY orders LIMIT 1": (
        HISTORY.replace("rows(found)", "found"),
        [[1, "CREATE TABLE AS SELECT"]],
    ),
    "DESCRIBE DETAIL orders": ("[row['numRows'] for row in found]", [3]),
    "RESTORE TABLE orders TO VERSION AS OF 1": (EMPTIED, [1, 2, 3]),
    "RESTORE TABLE orders TO TIMESTAMP AS OF '2026-01-31 12:00'": (EMPTIED, [1, 2, 3]),
    "CREATE TABLE new AS SELECT * FROM parquet.`/lake/files`": (NEW, [4]),
    "CALL colonnade.system.tag('v1', 'shop.orders')": (
        "len(rows(\"SELECT * FROM orders VERSION AS OF 'v1'\"))",
        3,
    ),
    "CREATE TABLE new AS SELECT * FROM orders": (NEW, [1, 2, 3]),
    "SHOW TBLPROPERTIES orders": ("found", [{"key": "primaryKey", "value": "id"}]),
    "DROP TABLE orders": ("[row['tableName'] for row in rows('SHOW TABLES')]", ["news"]),
}
"""What is true after a statement: an expression (`delta_words.py`), and its value as JSON."""

MERGE = 'table.alias("t").merge(news.alias("s"), "t.id = s.id")'
WRITE = 'write.format("colonnade")'
AT = '"/lake/shop/orders"'

PYTHON: dict[str, tuple[str, Any]] = {
    "colonnade.configure(builder)": ("found is builder", True),
    f"Table.forPath(spark, {AT})": ("ids(found.toDF())", [1, 2, 3]),
    'Table.forName(spark, "orders")': ("ids(found.toDF())", [1, 2, 3]),
    f"Table.isColonnadeTable(spark, {AT})": ("found", True),
    'Table.create(spark).location("/lake/shop/new").addColumn("id", "bigint").execute()': (
        "columns('new')",
        ["id"],
    ),
    f'Table.createIfNotExists(spark).location({AT}).addColumn("id", "bigint").execute()': (
        "found.toDF().columns",
        ["id", "item", "price"],
    ),
    'Table.create(spark).tableName("new").addColumn("id", "bigint").clusterBy("id").execute()': (
        "Table.forName(spark, 'new').detail().first().clusteringColumns",
        ["id"],
    ),
    'Table.replace(spark).tableName("orders").addColumn("id", "bigint").execute()': (
        "(columns(), ids())",
        [["id"], []],
    ),
    'Table.createOrReplace(spark).tableName("new").addColumn("id", "bigint").execute()': (
        "columns('new')",
        ["id"],
    ),
    "colonnade.IdentityColumn(start=1, step=2)": ("(found.start, found.step)", [1, 2]),
    "table.toDF()": ("table.delete() and ids(found)", [1, 2, 3]),
    'table.delete("id = 1")': (AFTER, [2, 3]),
    'table.update("id = 1", {"price": "price + 1"})': (PRICES, [1.0, 3.0, 5.0]),
    'table.update(set={"price": F.lit(3.0)})': (PRICES, [3.0, 3.0, 3.0]),
    f"{MERGE}.whenMatchedUpdateAll().whenNotMatchedInsertAll().execute()": (
        PRICES,
        [1.5, 2.0, 5.0, 9.0],
    ),
    f'{MERGE}.whenMatchedUpdate(set={{"price": "s.price"}}).execute()': (PRICES, [1.5, 2.0, 5.0]),
    f"{MERGE}.whenNotMatchedBySourceDelete().execute()": (AFTER, [3]),
    f"{MERGE.replace('news', 'paid')}.withSchemaEvolution().whenNotMatchedInsertAll().execute()": (
        COLUMNS,
        ["id", "item", "price", "paid"],
    ),
    "table.history(1)": (HISTORY, [[1, "CREATE TABLE AS SELECT"]]),
    "table.detail()": ("found.first().numRows", 3),
    'table.optimize().where("id > 1").executeCompaction()': (
        "(found.first().metrics.numFilesAdded, ids())",
        [0, [1, 2, 3]],
    ),
    'Table.forName(spark, "news").optimize().executeZOrderBy("id", "price")': (
        "(found.first().metrics.numFilesAdded, ids('news'))",
        [1, [3, 4]],
    ),
    "table.vacuum(168)": (AFTER, [1, 2, 3]),
    "table.vacuum(0, force=True)": (AFTER, [1, 2, 3]),
    "table.restoreToVersion(1)": (EMPTIED, [1, 2, 3]),
    'table.restoreToTimestamp("2026-01-31 12:00")': (EMPTIED, [1, 2, 3]),
    f'spark.read.format("colonnade").load({AT})': ("ids(found)", [1, 2, 3]),
    f'spark.read.format("colonnade").option("versionAsOf", 1).load({AT})': (THEN, [1, 2, 3]),
    'spark.read.option("timestampAsOf", "2026-01-31 12:00").table("orders")': (THEN, [1, 2, 3]),
    f'news.{WRITE}.save("/lake/new")': (AT_PATH, [3, 4]),
    f'news.{WRITE}.partitionBy("item").saveAsTable("new")': (
        "Table.forName(spark, 'new').detail().first().partitionColumns",
        ["item"],
    ),
    f'fresh.{WRITE}.mode("append").save({AT})': (AFTER, [1, 2, 3, 4]),
    f'paid.{WRITE}.mode("append").option("mergeSchema", "true").save({AT})': (
        COLUMNS,
        ["id", "item", "price", "paid"],
    ),
    f'news.{WRITE}.mode("overwrite").option("replaceWhere", "id >= 3").save({AT})': (
        AFTER,
        [1, 2, 3, 4],
    ),
    f'paid.{WRITE}.mode("overwrite").option("overwriteSchema", "true").save({AT})': (
        "(ids(), columns())",
        [[4], ["id", "item", "price", "paid"]],
    ),
    f'fresh.{WRITE}.mode("append").option("txnAppId", "job").option("txnVersion", 1).save({AT})': (
        AFTER,
        [1, 2, 3, 4],
    ),
    'news.writeTo("new").using("colonnade").create()': (NEW, [3, 4]),
    'news.writeTo("orders").overwrite(F.col("id") >= 3)': (AFTER, [1, 2, 3, 4]),
    'spark.readStream.format("colonnade").option("maxFilesPerTrigger", 10)'
    '.load("/lake/shop/orders")': ("[found.isStreaming, found.columns[0]]", [True, "id"]),
    f'stream.writeStream.format("colonnade").outputMode("append").start({AT})': (
        "[found.processAllAvailable(), found.stop()] and ids()",
        [1, 2, 3, 4],
    ),
}
"""What is true after the Python of a row, in the same form."""

CHECKS = SQL | PYTHON
THERE = [row for row in ROWS if row.through_spark]


@pytest.mark.parametrize("row", THERE, ids=[" ".join(row[:2]) for row in THERE])
def test_the_code_of_a_row_does_what_its_word_means(row: WordRow, spark_shell: SparkShell) -> None:
    expression, value = CHECKS[row.code]
    module = "__import__('tests.spark_ext.delta_words', fromlist=['tried'])"
    in_sql = row.section == "Delta's SQL"
    call = f"tried(spark, folder, {row.code!r}, {in_sql}, {expression!r})"
    assert spark_shell.run(f"{module}.{call}") == value, row.word


def test_each_row_has_a_check_and_each_check_a_row() -> None:
    assert untried(CHECKS, through_spark=True) == set()
    assert {row.section for row in THERE} == {"Delta's SQL", "Delta's Python"}
