"""The setting `spark.colonnade.userMetadata` is in each epoch of a session, and so is its user."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import colonnade
from colonnade.manifests.model.epoch import Epoch
from tests.spark_ext.java.spark_shell import SparkShell

pytestmark = [pytest.mark.spark, pytest.mark.spark_compat]

SETTING = "spark.colonnade.userMetadata"
CALL = "CALL colonnade.system"
STATEMENTS = (
    "CREATE TABLE colonnade.said.t (id BIGINT NOT NULL, part INT NOT NULL, v STRING)"
    " USING colonnade TBLPROPERTIES (primaryKey = 'id')",
    "CREATE TABLE colonnade.said.made AS SELECT 1 AS a",
    "CREATE OR REPLACE TABLE colonnade.said.made AS SELECT 2 AS a",
    "INSERT INTO colonnade.said.t SELECT id, 1, repeat('v', 99) FROM range(20)",
    "INSERT INTO colonnade.said.t VALUES (30, 2, 'w')",
    "INSERT INTO colonnade.said.t VALUES (31, 2, 'w')",
    "INSERT INTO colonnade.said.made VALUES (3)",
    "INSERT OVERWRITE colonnade.said.made VALUES (4)",
    "INSERT INTO colonnade.said.made REPLACE WHERE a = 4 VALUES (4)",
    "UPDATE colonnade.said.t SET v = 'u' WHERE id = 3",
    "UPDATE colonnade.said.t SET part = 3",  # replaces the column
    "MERGE INTO colonnade.said.t USING (SELECT 4L AS id) s ON t.id = s.id"
    " WHEN MATCHED THEN UPDATE SET v = 'm'",
    "DELETE FROM colonnade.said.t WHERE id = 5",
    "DELETE FROM colonnade.said.t WHERE id >= 30",
    "ALTER TABLE colonnade.said.t ADD COLUMN w INT",
    "ALTER TABLE colonnade.said.t RENAME COLUMN w TO x",
    "ALTER TABLE colonnade.said.t SET TBLPROPERTIES (team = 'a')",
    "ALTER TABLE colonnade.said.t ADD CONSTRAINT small CHECK (id < 1000)",
    "ALTER TABLE colonnade.said.t DROP CONSTRAINT small",
    "ALTER TABLE colonnade.said.made CLUSTER BY (a)",
    "ALTER TABLE colonnade.said.made RENAME TO colonnade.said.other",
    "COMMENT ON TABLE colonnade.said.t IS 'a table'",
    f"{CALL}.set_partitioning('said.other', 'bucket(2, a)')",
    f"{CALL}.add_column('said.t', 'y', 'int', 'part + 1')",
    f"{CALL}.backfill('said.t', 'y', '7')",
    f"{CALL}.tag('kept', 'said.t')",
    "OPTIMIZE colonnade.said.t FULL",
    "RESTORE TABLE colonnade.said.t TO VERSION AS OF 'kept'",
    f"{CALL}.untag('kept', 'said.t')",
    "TRUNCATE TABLE colonnade.said.other",
    "DROP TABLE colonnade.said.other",
    f"{CALL}.vacuum('said.t', retention_hours => 0, force => true)",
)
"""Statements that commit, on a database `colonnade.said`."""

TABLE = "colonnade.Table.forPath(spark, f'{folder}/warehouse/said/t')"
DATABASE = "colonnade.Database.forPath(spark, f'{folder}/warehouse/said')"
METHODS = (
    f"{DATABASE}.createTable('t').addColumn('id', 'bigint', nullable=False)"
    ".addColumn('v', 'string').primaryKey('id').execute()",
    f"{TABLE}.upsert(spark.sql('SELECT id, repeat(\"v\", 99) AS v FROM range(20)'))",
    f"{TABLE}.upsert(spark.sql('SELECT 90L AS id, \"v\" AS v'))",
    f"{TABLE}.update('id = 1', {{'v': F.lit('u')}})",
    f"{TABLE}.update(set={{'v': F.lit('all')}})",
    f"{TABLE}.delete('id = 2')",
    f"{TABLE}.deleteKeys(spark.sql('SELECT 3L AS id'))",
    f"{TABLE}.deleteRange('id >= 18')",
    f"{TABLE}.alias('t').merge(spark.sql('SELECT 6L AS id').alias('s'), 't.id = s.id')"
    ".whenMatchedUpdate(set={'v': F.lit('m')}).execute()",
    f"{TABLE}.addColumn('y', 'int', 'length(v)')",
    f"{TABLE}.backfill('y', '7')",
    f"{DATABASE}.tag('kept')",
    f"{DATABASE}.pin('reader', 60.0)",
    f"{TABLE}.optimize().option('deleted-share', 0).executeCompaction()",
    f"{TABLE}.restoreToVersion('kept')",
    f"{DATABASE}.restoreToVersion(3)",
    f"{DATABASE}.untag('kept')",
    f"{DATABASE}.unpin('reader')",
    f"{TABLE}.vacuum(0, force=True)",
    "spark.range(3).selectExpr('id', '\"w\" AS v').write.mode('overwrite').format('colonnade')"
    ".save(f'{folder}/warehouse/said/t')",
    f"{DATABASE}.dropTable('t')",
)
"""Methods that commit, on the same database."""


@pytest.fixture
def shell(spark_shell: SparkShell) -> Iterator[SparkShell]:
    """A session whose setting says `nightly`."""
    spark_shell.run(f"spark.conf.set('{SETTING}', 'nightly')")
    spark_shell.sql("CREATE NAMESPACE colonnade.said")
    yield spark_shell
    spark_shell.run(f"spark.conf.unset('{SETTING}')")
    spark_shell.sql("DROP NAMESPACE colonnade.said CASCADE")


def epochs(shell: SparkShell, after: int) -> list[Epoch]:
    """The epochs of the database after one of them, the newest first."""
    database = colonnade.open_database(shell.folder / "warehouse" / "said")
    return list(database._log.reader.read_epochs(database.epoch, database.epoch - after))


def check(shell: SparkShell, what: str, after: int) -> int:
    """Check the epochs that something has committed, and return the newest one."""
    user = shell.run("spark.sparkContext.sparkUser()")
    found = epochs(shell, after)
    assert found, f"{what} committed nothing"
    for each in found:
        assert (each.parameters.get("userMetadata"), each.user) == ("nightly", user), what
    return found[0].epoch


def test_each_statement_that_commits_has_the_text_of_the_setting(shell: SparkShell) -> None:
    newest = check(shell, "CREATE NAMESPACE", -1)
    for statement in STATEMENTS:
        shell.sql(statement)
        newest = check(shell, statement, newest)


def test_each_method_that_commits_has_the_text_of_the_setting(shell: SparkShell) -> None:
    newest = check(shell, "CREATE NAMESPACE", -1)
    for method in METHODS:
        shell.run(f"str({method})")
        newest = check(shell, method, newest)
    assert colonnade.open_database(shell.folder / "warehouse" / "said").tables() == []


def test_a_commit_with_a_text_of_its_own_keeps_it(shell: SparkShell) -> None:
    shell.sql("CREATE TABLE colonnade.said.t (id BIGINT)")
    write = "spark.range(1).write.format('colonnade').mode('append').option('userMetadata', 'own')"
    shell.run(f"{write}.saveAsTable('colonnade.said.t')")
    shell.sql(f"{CALL}.begin('said', user_metadata => 'whole')")
    shell.sql("INSERT INTO colonnade.said.t VALUES (1)")
    shell.sql(f"{CALL}.commit()")
    shell.sql(f"{CALL}.begin('said')")
    shell.sql("INSERT INTO colonnade.said.t VALUES (2)")
    shell.sql(f"{CALL}.commit()")
    told = shell.sql("SELECT userMetadata FROM colonnade.said.t.history ORDER BY version")
    assert told == [["nightly"], ["own"], ["whole"], ["nightly"]]
