"""After each statement of Spark, the log says which rows were inserted, deleted and moved."""

from __future__ import annotations

import pytest

import colonnade
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.operations import ReplaceRows
from colonnade.manifests.store import open_store
from tests.row_changes import changes_of, places, row_changes
from tests.spark_ext.java.kept import KeptDatabase, kept_database
from tests.spark_ext.java.spark_shell import SparkShell

FORMS = {
    "plain": "",
    "sorted": "PARTITIONED BY (bucket(3, v)) TBLPROPERTIES ('sortKey' = 'v')",
    "keyed": "TBLPROPERTIES ('primaryKey' = 'k')",
    "merging": "TBLPROPERTIES ('primaryKey' = 'k', 'onDuplicate' = 'merge', 'merge.v' = 'add')",
}
database = kept_database("moved")

SOURCE = "(SELECT (id * 7) % 60 AS k, id AS v, 'new' AS s FROM range(20))"
MERGE = f"""MERGE INTO {{t}} t USING {SOURCE} s ON t.k = s.k
    WHEN MATCHED AND s.v % 5 = 0 THEN DELETE
    WHEN MATCHED THEN UPDATE SET v = s.v
    WHEN NOT MATCHED THEN INSERT *"""
STATEMENTS = (
    "UPDATE {t} SET v = v + 1 WHERE k % 3 = 0",
    MERGE,
    f"{MERGE} WHEN NOT MATCHED BY SOURCE AND t.k % 4 = 0 THEN UPDATE SET s = 'none'",
    f"MERGE INTO {{t}} t USING {SOURCE} s ON t.k = s.k WHEN MATCHED THEN UPDATE SET * "
    "WHEN NOT MATCHED THEN INSERT *",
    "UPDATE {t} SET s = 'all'",
    "DELETE FROM {t} WHERE k % 7 = 1",
)
INSERT = f"INSERT INTO {{t}} SELECT * FROM {SOURCE}"


class Moves:
    """A table of the keys 0 to 39, and what the log says of its newest epoch."""

    def __init__(self, spark: SparkShell, form: str) -> None:
        self.spark, self.name = spark, f"colonnade.moved.{form}"
        spark.sql(f"CREATE TABLE {self.name} (k BIGINT NOT NULL, v BIGINT, s STRING) {FORMS[form]}")
        spark.sql(f"INSERT INTO {self.name} SELECT id, id * 3, 'old' FROM range(40)")
        self.form, self.path = form, spark.folder / "warehouse" / "moved"
        self.log = Log(open_store(str(self.path)))

    @property
    def epoch(self) -> int:
        return colonnade.open(self.path / self.form).epoch

    def check(self, since: int) -> int:
        """Compare the only epoch since another one with the rows; return how many were moved."""
        assert self.epoch == since + 1
        before, after = self.log.read_at(since), self.log.read_at(since + 1)
        [epoch] = self.log.read_epochs(since + 1, 1)
        table = after.table(self.form).id
        old, new = (places(self.log, state, self.form) for state in (before, after))
        expected = changes_of(old, new, set())
        assert row_changes(self.log, before, epoch, after, table) == expected
        assert any(isinstance(op, ReplaceRows) for op in epoch.ops) == bool(expected.moved)
        return len(expected.moved)


@pytest.mark.parametrize("form", FORMS)
def test_each_row_that_a_statement_writes_says_whether_it_is_new_or_which_one_it_was(
    database: KeptDatabase, form: str
) -> None:
    moves = Moves(database.ready(), form)
    statements = (*STATEMENTS, INSERT, *STATEMENTS[:2]) if form == "merging" else STATEMENTS
    moved = []
    for text in statements:
        since = moves.epoch
        moves.spark.sql(text.format(t=moves.name))
        moved.append(moves.check(since))
    assert all(moved[:5])
    assert not moved[5]
    if form == "merging":
        assert moved[6]


def test_a_transaction_says_it_of_all_its_statements_together(database: KeptDatabase) -> None:
    moves = Moves(database.ready(), "plain")
    since = moves.epoch
    moves.spark.sql("CALL colonnade.system.begin(database => 'moved')")
    for text in (INSERT.replace("% 60", "% 60 + 100"), *STATEMENTS[:2], STATEMENTS[5]):
        moves.spark.sql(text.format(t=moves.name))
    moves.spark.sql("CALL colonnade.system.commit()")
    assert moves.check(since)


def test_an_update_by_a_method_says_it_too(database: KeptDatabase) -> None:
    moves = Moves(database.ready(), "sorted")
    since = moves.epoch
    path = str(moves.path / "sorted")
    table = f"colonnade.Table.forPath(spark, {path!r})"
    moves.spark.run(f"{table}.update('k > 30', {{'v': 'v * 2'}}).metrics()")
    assert moves.check(since) == 9
