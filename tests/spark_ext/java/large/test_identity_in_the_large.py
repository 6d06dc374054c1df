"""Many writers of both languages at once on one table with an identity column."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pytest

import colonnade
from tests.spark_ext.java.spark_shell import SparkShell

WRITERS, TURNS = 4, 10

SPARK = """
[
    list(pool.map(lambda _: [
        spark.range(0, 3000, numPartitions=3).selectExpr("'spark' AS v")
            .writeTo('colonnade.default.raced').append()
        for _ in range({turns})
    ], range({writers})))
    for pool in [__import__('concurrent.futures').futures.ThreadPoolExecutor({writers})]
]
"""


@pytest.mark.spark
@pytest.mark.long
@pytest.mark.parametrize("kind", ["ALWAYS", "BY DEFAULT"])
def test_writers_at_once_get_each_value_once_and_none_is_refused(
    spark_shell: SparkShell, kind: str
) -> None:
    name = "colonnade.default.raced"
    spark_shell.sql(f"CREATE TABLE {name} (id BIGINT GENERATED {kind} AS IDENTITY, v STRING)")
    path = str(spark_shell.folder / "warehouse" / "default" / "raced")
    rows = pa.table({"v": ["python"] * 500})

    def append(_: int) -> None:
        for _ in range(TURNS):
            colonnade.open(path).append(rows)

    with ThreadPoolExecutor(WRITERS) as pool:
        others = [pool.submit(append, each) for each in range(WRITERS)]
        spark_shell.run(SPARK.format(turns=TURNS, writers=WRITERS).strip())
        for each in others:
            each.result()
    ids = colonnade.open(path).scan(["id"]).to_arrow()["id"]
    assert len(ids) == WRITERS * TURNS * 3500
    assert len(ids.unique()) == len(ids)
    following = colonnade.open(path).next_identities["id"]
    assert following is not None
    assert following <= 2 * len(ids)
    assert colonnade.verify(path).is_sound
    spark_shell.sql(f"DROP TABLE {name}")
