"""A batch that is sent again, or an older one, changes nothing, whichever way it is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import colonnade
from tests.spark_ext.java.spark_shell import SparkShell

pytestmark = [pytest.mark.spark, pytest.mark.spark_compat]

FRAME = "spark.sql(\"SELECT «n» * 1L AS id, 'p' AS p\")"
BATCH = ".options(txnAppId='a', txnVersion='«n»')"
OPTIONS = "(txnAppId = 'a', txnVersion = '«n»')"
WRITE = f"{FRAME}.write.format('colonnade'){BATCH}"
OVERWRITE = f"{WRITE}.mode('overwrite')"
OTHER_COLUMNS = f"{OVERWRITE}.option('overwriteSchema', True)"
WIDER = f"{FRAME}.selectExpr('*', '«n» AS c«n»').write.format('colonnade'){BATCH}"
TO = f"{FRAME}.writeTo('«table»'){BATCH}"
QUERY = f"«table» USING colonnade OPTIONS {OPTIONS} AS SELECT «n» * 1L AS id, 'p' AS p"


def within(statement: str) -> str:
    """A statement within a transaction that names the batch."""
    begin = "CALL colonnade.system.begin('batches', txn_app_id => 'a', txn_version => «n»)"
    statements = (begin, statement, "CALL colonnade.system.commit()")
    return f"[spark.sql(text).collect() for text in {statements!r}] and None"


WAYS = {
    "save append": f"{WRITE}.mode('append').save('«path»')",
    "save append with other columns": f"{WIDER}.mode('append').option('mergeSchema', True)"
    ".save('«path»')",
    "save overwrite": f"{OVERWRITE}.save('«path»')",
    "save replaceWhere": f"{OVERWRITE}.option('replaceWhere', 'id > 0').save('«path»')",
    "save partitions": f"{OVERWRITE}.option('partitionOverwriteMode', 'dynamic').save('«path»')",
    "save overwriteSchema": f"{OTHER_COLUMNS}.save('«path»')",
    "save other partitions": f"{OTHER_COLUMNS}.partitionBy('id').save('«path»')",
    "saveAsTable append": f"{WRITE}.mode('append').saveAsTable('«table»')",
    "saveAsTable overwrite": f"{OVERWRITE}.saveAsTable('«table»')",
    "saveAsTable overwriteSchema": f"{OTHER_COLUMNS}.saveAsTable('«table»')",
    "insertInto append": f"{FRAME}.write{BATCH}.insertInto('«table»')",
    "insertInto overwrite": f"{FRAME}.write{BATCH}.insertInto('«table»', overwrite=True)",
    "writeTo append": f"{TO}.append()",
    "writeTo overwrite": f"{TO}.overwrite(F.lit(True))",
    "writeTo overwritePartitions": f"{TO}.overwritePartitions()",
    "writeTo replace": f"{TO}.replace()",
    "writeTo createOrReplace": f"{TO}.createOrReplace()",
    "INSERT": f"spark.sql(\"INSERT INTO «table» WITH {OPTIONS} VALUES («n», 'p')\")",
    "INSERT OVERWRITE": f"spark.sql(\"INSERT OVERWRITE «table» WITH {OPTIONS} VALUES («n», 'p')\")",
    "CREATE OR REPLACE": f'spark.sql("CREATE OR REPLACE TABLE {QUERY}")',
    "REPLACE": f'spark.sql("REPLACE TABLE {QUERY}")',
    "upsert": f"colonnade.Table.forName(spark, '«table»').upsert({FRAME},"
    " dict(txnAppId='a', txnVersion='«n»'))",
    "transaction": within("INSERT INTO «table» VALUES («n», 'p')"),
    "transaction that replaces": within(
        "CREATE OR REPLACE TABLE «table» AS SELECT «n» * 1L AS id, 'p' AS p"
    ),
}
CREATING = {
    "save error": f"{WRITE}.save('«path»')",
    "save ignore": f"{WRITE}.mode('ignore').save('«path»')",
    "saveAsTable error": f"{WRITE}.saveAsTable('«table»')",
    "saveAsTable ignore": f"{WRITE}.mode('ignore').saveAsTable('«table»')",
    "writeTo create": f"{TO}.create()",
    "CREATE": f'spark.sql("CREATE TABLE {QUERY}")',
}
"""Ways that write only where there is no table."""


@pytest.fixture(scope="module")
def spark(spark_shell: SparkShell) -> SparkShell:
    spark_shell.sql("CREATE DATABASE colonnade.batches")
    return spark_shell


def name_of(way: str) -> str:
    return f"colonnade.batches.{way.lower().replace(' ', '_')}"


def path_of(spark: SparkShell, way: str) -> Path:
    return spark.folder / "warehouse" / "batches" / name_of(way).rpartition(".")[2]


def send(spark: SparkShell, way: str, number: int) -> str:
    """The code that sends a batch; its version is also the id of its row."""
    code = {**WAYS, **CREATING}[way].replace("«table»", name_of(way))
    return code.replace("«path»", str(path_of(spark, way))).replace("«n»", str(number))


def found(spark: SparkShell, way: str) -> Any:
    """All that a batch could change."""
    table = colonnade.open(path_of(spark, way))
    rows = sorted(map(str, table.scan().to_arrow().to_pylist()))
    return table.epoch, rows, table.schema.names, table.partitioning, dict(table._state.batches)


@pytest.mark.parametrize("way", WAYS)
def test_a_batch_that_is_sent_again_or_an_older_one_changes_nothing(
    spark: SparkShell, way: str
) -> None:
    key = ", PRIMARY KEY (id)" if way == "upsert" else ""
    spark.sql(f"CREATE TABLE {name_of(way)} (id BIGINT NOT NULL, p STRING{key}) USING colonnade")
    for number in (3, 5):
        before = found(spark, way)
        spark.run(send(spark, way, number))
        landed = found(spark, way)
        assert landed[1] != before[1], "the batch did not land"
        assert landed[-1] == {"a": number}
    for number in (5, 3, 4, 5):
        spark.run(send(spark, way, number))
        assert found(spark, way) == landed, f"batch {number} changed the table"
    spark.run(send(spark, way, 6))
    assert found(spark, way)[-1] == {"a": 6}


@pytest.mark.parametrize("way", CREATING)
def test_a_batch_that_creates_its_table_is_remembered(spark: SparkShell, way: str) -> None:
    spark.run(send(spark, way, 5))
    landed = found(spark, way)
    assert landed[-1] == {"a": 5}
    for number in (5, 3):
        if "ignore" in way:
            spark.run(send(spark, way, number))
        else:
            assert "ALREADY_EXISTS" in spark.refused_run(send(spark, way, number))
        assert found(spark, way) == landed
    again = OPTIONS.replace("«n»", "5")
    spark.sql(f"INSERT INTO {name_of(way)} WITH {again} VALUES (9, 'q')")
    assert found(spark, way) == landed


def test_an_option_of_a_statement_that_is_unknown_is_refused(spark: SparkShell) -> None:
    statement = "CREATE TABLE colonnade.batches.unknown OPTIONS (maxRecordPerFile = 5) AS SELECT 1"
    assert "did you mean maxRecordsPerFile?" in spark.refusal(statement)
    assert not spark.run("spark.catalog.tableExists('colonnade.batches.unknown')")
