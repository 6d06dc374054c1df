"""Rows of a DataFrame whose session is not the one in which the table was opened.

`foreachBatch` gives the rows of a batch such a session, a clone of the stream's.
"""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

import colonnade
from colonnade.spark_ext.table.transaction import TransactionTable
from tests.spark_ext.java.kept import KeptDatabase, kept_database
from tests.spark_ext.java.spark_shell import SparkShell

TABLE = "colonnade.db.t"
CLONE = "type(spark)(spark.sparkContext, spark._jsparkSession.cloneSession())"
MERGE = "merge({rows}.alias('s'), 't.id = s.id').whenMatchedUpdateAll()"
CALLS = {
    "merge": f"alias('t').{MERGE}.whenNotMatchedInsertAll().execute()",
    "upsert": "upsert({rows})",
    "deleteKeys": "deleteKeys({rows}.select('id'))",
    "append": "append({rows}.where('id > 9'))",
    "overwrite": "overwrite({rows})",
}
OLD, NEW = {n: 0 for n in range(8)}, {n: 1 for n in range(8, 12)}
AFTER = {
    "merge": {**OLD, **NEW},
    "upsert": {**OLD, **NEW},
    "deleteKeys": OLD,
    "append": {n: int(n > 9) for n in range(12)},
    "overwrite": NEW,
}

database = kept_database(
    "db",
    f"CREATE TABLE {TABLE} (id BIGINT NOT NULL PRIMARY KEY, v INT)",
    f"INSERT INTO {TABLE} SELECT id, 0 FROM range(10)",
)


@pytest.fixture
def shell(database: KeptDatabase) -> SparkShell:
    return database.ready()


def place(shell: SparkShell) -> str:
    return str(shell.folder / "warehouse" / "db")


def rows_of(session: str) -> str:
    """Rows that only this session can find, because they come from a view of its own."""
    view = "s.range(8, 12).selectExpr('id', '1 AS v').createOrReplaceTempView('news')"
    return f"[({view}, s.table('news'))[1] for s in [{session}]][0]"


def values(shell: SparkShell) -> dict[int, int]:
    return dict(map(tuple, shell.sql(f"SELECT id, v FROM {TABLE} ORDER BY id")))


def taking_frames(kind: type) -> set[str]:
    """The public methods of a class that take a DataFrame."""
    found = set()
    for name, method in inspect.getmembers(kind, inspect.isfunction):
        taken = [each.annotation for each in inspect.signature(method).parameters.values()]
        if not name.startswith("_") and "DataFrame" in taken:
            found.add(name)
    return found


def test_the_tests_know_every_method_that_takes_a_frame() -> None:
    table, within = taking_frames(colonnade.Table), taking_frames(TransactionTable)
    assert table | within == CALLS.keys()
    assert taking_frames(colonnade.Database) == set()


@pytest.mark.parametrize("method", sorted(taking_frames(colonnade.Table)))
def test_a_method_of_a_table_runs_in_the_session_of_the_frame(
    shell: SparkShell, method: str
) -> None:
    call = CALLS[method].format(rows=rows_of(CLONE))
    counted = shell.run(f"colonnade.Table.forPath(spark, '{place(shell)}/t').{call}.metrics()")
    assert values(shell) == AFTER[method]
    assert counted["rows_deleted"] + counted["rows_updated"] + counted["rows_inserted"] > 0


@pytest.mark.parametrize("method", sorted(taking_frames(TransactionTable)))
def test_in_a_transaction_the_session_of_the_frame_takes_part_meanwhile(
    shell: SparkShell, method: str
) -> None:
    setting = "spark.colonnade.transaction"
    call = CALLS[method].format(rows="rows")
    begin = f"colonnade.Database.forPath(spark, '{place(shell)}').transaction()"
    epochs = len(colonnade.open(f"{place(shell)}/t").history())
    steps = f"(tx.table('t').{call}, rows.sparkSession.conf.get('{setting}', None), tx.commit())"
    _, left, epoch = shell.run(f"[{steps} for rows in [{rows_of(CLONE)}] for tx in [{begin}]][0]")
    assert left is None
    assert values(shell) == AFTER[method]
    [newest, *older] = colonnade.open(f"{place(shell)}/t").history()
    assert (newest.epoch, newest.operation, len(older)) == (epoch, "transaction", epochs)


def test_a_frame_whose_session_is_in_another_transaction_is_refused(shell: SparkShell) -> None:
    path = place(shell)
    begin = f"colonnade.Database.forPath({{}}, '{path}').transaction()"
    append = "tx.table('t').append(s.range(20, 22).selectExpr('id', '1 AS v'))"
    text = shell.refused_run(
        f"[{append} for s in [{CLONE}] for _ in [{begin.format('s')}]"
        f" for tx in [{begin.format('spark')}]]"
    )
    assert "session of the DataFrame is in another transaction" in text
    shell.sql("CALL colonnade.system.rollback()")


def test_a_stream_merges_each_batch_into_a_table_that_was_opened_before(
    shell: SparkShell,
) -> None:
    source = f"{shell.folder}/incoming"
    shell.run(f"spark.range(8, 12).selectExpr('id', '1 AS v').write.parquet('{source}')")
    call = CALLS["merge"].format(rows="rows")
    table = f"colonnade.Table.forPath(spark, '{place(shell)}/t')"
    stream = f"spark.readStream.schema('id BIGINT, v INT').parquet('{source}').writeStream"
    stream += f".foreachBatch((lambda table: lambda rows, number: table.{call} and None)({table}))"
    stream += f".option('checkpointLocation', '{shell.folder}/checkpoint')"
    shell.run(f"{stream}.trigger(availableNow=True).start().awaitTermination()")
    assert values(shell) == {**OLD, **NEW}


@pytest.mark.parametrize("end", ["commit", "rollback"])
def test_a_stream_that_starts_during_a_transaction_has_no_part_in_it(
    shell: SparkShell, tmp_path: Path, end: str
) -> None:
    """Its batches are committed when its checkpoint says so, before and after the end."""
    shell.run(f"spark.range(20, 21).selectExpr('id', '1 AS v').write.parquet('{tmp_path}/in')")
    shell.sql(f"CALL colonnade.system.begin('{place(shell)}')")
    write = f"rows.write.format('colonnade').mode('append').save('{place(shell)}/t')"
    stream = f"spark.readStream.schema('id BIGINT, v INT').parquet('{tmp_path}/in').writeStream"
    stream += f".foreachBatch(lambda rows, number: {write})"
    stream += f".option('checkpointLocation', '{tmp_path}/checkpoint')"
    shell.run(f"globals().update(query={stream}.start())")
    shell.run("query.processAllAvailable()")
    assert len(colonnade.open(f"{place(shell)}/t").scan().to_arrow()) == 11
    shell.sql(f"CALL colonnade.system.{end}()")
    more = "spark.range(21, 22).selectExpr('id', '1 AS v')"
    shell.run(f"{more}.write.mode('append').parquet('{tmp_path}/in')")
    shell.run("query.processAllAvailable()")
    shell.run("query.stop()")
    assert len(colonnade.open(f"{place(shell)}/t").scan().to_arrow()) == 12
