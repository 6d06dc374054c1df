"""Static columns at real sizes, against a model: Spark writes, and Spark and Python read."""

from __future__ import annotations

import datetime as dt
import hashlib
import random
from collections.abc import Iterator
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import colonnade
from tests.spark_ext.java.spark_shell import SparkShell

T = "colonnade.large_statics.t"
ROWS = 25_000
"""The rows of each of three batches."""

KEY = "k STRING NOT NULL, day DATE NOT NULL, n DECIMAL(30,2) NOT NULL, x DOUBLE NOT NULL"
OWN = "ts INT NOT NULL, v STRUCT<a: BIGINT, b: ARRAY<STRING>>"
STATIC = "owner STRING, place STRUCT<a: ARRAY<DECIMAL(30,2)>, b: STRING>, tags MAP<STRING, INT>"
SCHEMA = pa.schema(
    [
        ("k", pa.string()),
        ("day", pa.date32()),
        ("n", pa.decimal128(30, 2)),
        ("x", pa.float64()),
        ("ts", pa.int32()),
        ("v", pa.struct([("a", pa.int64()), ("b", pa.list_(pa.string()))])),
        ("owner", pa.string()),
        ("place", pa.struct([("a", pa.list_(pa.decimal128(30, 2))), ("b", pa.string())])),
        ("tags", pa.map_(pa.string(), pa.int32())),
    ]
)
NAMES = ("k", "day", "n", "x")
STATICS = ("owner", "place", "tags")
TEXTS = ("", "a", "\U0001f600", "é", "z" * 300, " ", "日本", "NULL")
DAYS = (dt.date(1969, 12, 31), dt.date(1970, 1, 1), dt.date(1, 1, 1), dt.date(9999, 12, 31))
NUMBERS = (Decimal("0.00"), Decimal("-0.01"), Decimal("9" * 28 + ".99"))
REALS = (0.0, 1.5, float("inf"), -5e-324)

Key = tuple[Any, ...]


class Model:
    """The table as dictionaries: rows by key and `ts`, and static values by key."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.keys = list(product(TEXTS, DAYS, NUMBERS, REALS))
        self.rows: dict[tuple[Key, int], Any] = {}
        self.statics: dict[Key, list[Any]] = {}

    def batch(self, first: int) -> pa.Table:
        """New rows. Those of a key agree about each static value, or have NULL."""
        rng = self.rng
        brought = {key: self._values() for key in rng.sample(self.keys, len(self.keys) // 2)}
        rows = []
        for ts in range(first, first + ROWS):
            key = rng.choice(self.keys)
            value = {"a": rng.getrandbits(40), "b": [str(ts)] * rng.randrange(3)}
            self.rows[key, ts] = rng.choice((value, value, None))
            held = brought.get(key)
            given = held if held is not None and rng.random() < 0.3 else [None] * len(STATICS)
            self.bring(key, given)
            x = -0.0 if key[3] == 0.0 and rng.random() < 0.5 else key[3]
            rows.append([*key[:3], x, ts, self.rows[key, ts], *given])
        columns = zip(*rows, strict=True)
        arrays = [pa.array(c, f.type) for c, f in zip(columns, SCHEMA, strict=True)]
        return pa.table(arrays, schema=SCHEMA)

    def _values(self) -> list[Any]:
        rng = self.rng
        place = {"a": [Decimal("1.50"), None][: rng.randrange(3)], "b": rng.choice(TEXTS)}
        values = [f"o{rng.randrange(20)}", place, [("t", rng.randrange(9))]]
        return [value if rng.random() < 0.7 else None for value in values]

    def bring(self, key: Key, given: list[Any]) -> None:
        known = self.statics.setdefault(key, [None] * len(STATICS))
        for at, value in enumerate(given):
            known[at] = known[at] if value is None else value

    def owner(self, key: Key) -> Any:
        return self.statics[key][0]

    def content(self) -> list[list[Any]]:
        found = [[*key, ts, value, *self.statics[key]] for (key, ts), value in self.rows.items()]
        return sorted(found, key=lambda row: row[4])


def content(table: pa.Table) -> list[list[Any]]:
    rows = table.sort_by([("ts", "ascending")]).select(SCHEMA.names).to_pylist()
    for row in rows:
        row["x"] += 0.0
    return [list(row.values()) for row in rows]


@pytest.fixture
def spark(only_spark: SparkShell) -> Iterator[SparkShell]:
    only_spark.run("spark.conf.set('spark.sql.codegen.wholeStage', 'true')")
    only_spark.sql("CREATE DATABASE colonnade.large_statics")
    yield only_spark
    only_spark.sql("DROP DATABASE colonnade.large_statics CASCADE")


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2))
def test_spark_writes_and_both_read_as_the_model_says(
    seed: int, spark: SparkShell, tmp_path: Path
) -> None:
    model = Model(seed)
    spark.sql(
        f"CREATE TABLE {T} ({KEY}, {OWN}, {STATIC}) TBLPROPERTIES"
        f" ('static' = '{', '.join(STATICS)}', 'partitionKey' = '{', '.join(NAMES)}',"
        f" 'sortKey' = '{'ts' if seed else 'k, day'}')"
    )
    for at in range(3):
        pq.write_table(model.batch(at * ROWS), tmp_path / f"{at}.parquet", row_group_size=4000)
        spark.sql(f"INSERT INTO {T} SELECT * FROM parquet.`{tmp_path}/{at}.parquet`")
        check(spark, model, tmp_path, f"batch {at}")
    assert len(model.rows) == 3 * ROWS
    assert len(model.keys) > 300

    spark.sql(f"UPDATE {T} SET owner = concat(coalesce(owner, ''), '!') WHERE k = '' OR n < 0")
    for key in {key for key, _ in model.rows if key[0] == "" or key[2] < 0}:
        model.statics[key][0] = (model.owner(key) or "") + "!"
    check(spark, model, tmp_path, "static columns that are set")

    spark.sql(f"UPDATE {T} SET v = named_struct('a', ts, 'b', array(owner)) WHERE ts % 7 = 0")
    for key, ts in model.rows:
        if ts % 7 == 0:
            model.rows[key, ts] = {"a": ts, "b": [model.owner(key)]}
    check(spark, model, tmp_path, "own columns from static ones")

    spark.sql(f"DELETE FROM {T} WHERE owner = 'o5' OR place.b = '\U0001f600'")
    for key, ts in list(model.rows):
        place = model.statics[key][1]
        if model.owner(key) == "o5" or (place is not None and place["b"] == "\U0001f600"):
            del model.rows[key, ts]
    check(spark, model, tmp_path, "rows that static values select")

    extra = model.batch(3 * ROWS)
    pq.write_table(extra, tmp_path / "extra.parquet")
    spark.sql(
        f"MERGE INTO {T} USING parquet.`{tmp_path}/extra.parquet` s ON t.ts = s.ts"
        " WHEN NOT MATCHED THEN INSERT *"
    )
    check(spark, model, tmp_path, "merged rows")
    spark.sql("CALL colonnade.system.compact(table => 'large_statics.t')")
    check(spark, model, tmp_path, "compacted")


@pytest.mark.long
def test_tasks_read_the_part_of_many_static_values_that_they_need(spark: SparkShell) -> None:
    """All values have 1.3 GB, which a heap of 1 GiB does not hold. Those of one task have 65 MB."""
    spark.sql(
        f"CREATE TABLE {T} (k BIGINT NOT NULL, n INT NOT NULL, doc STRING) TBLPROPERTIES"
        " ('primaryKey' = 'k, n', 'static' = 'doc')"
    )
    text = "array_join(transform(sequence(1, 500), i -> sha2(concat(id, '.', i), 512)), '')"
    for first in range(0, 20_000, 1_000):
        spark.sql(
            f"INSERT INTO {T} SELECT id, n, IF(n = 1, {text}, NULL)"
            f" FROM range({first}, {first + 1_000}) LATERAL VIEW explode(array(1, 2, 3)) AS n"
        )
    digest = hashlib.sha512(b"777.1").hexdigest()
    found = spark.sql(f"SELECT n, length(doc), left(doc, 128) FROM {T} WHERE k = 777 ORDER BY n")
    assert found == [[n, 64_000, digest] for n in (1, 2, 3)]
    counted = spark.sql(
        f"SELECT count(*), sum(length(doc)), count(DISTINCT left(doc, 20)) FROM {T}"
    )
    assert counted == [[60_000, 60_000 * 64_000, 20_000]]
    found = spark.sql(f"SELECT k, n FROM {T} WHERE startswith(doc, '{digest}') ORDER BY n")
    assert found == [[777, 1], [777, 2], [777, 3]]


def check(spark: SparkShell, model: Model, folder: Path, when: str) -> None:
    wanted = model.content()
    path = spark.folder / "warehouse" / "large_statics" / "t"
    assert content(colonnade.open(path).scan().to_arrow()) == wanted, when
    spark.run(f"spark.table('{T}').write.mode('overwrite').parquet('{folder}/read')")
    assert content(pq.read_table(folder / "read")) == wanted, when
    counts: dict[Any, int] = {}
    for row in wanted:
        counts[row[6]] = counts.get(row[6], 0) + 1
    grouped = spark.sql(f"SELECT owner, count(*) FROM {T} GROUP BY owner")
    assert {owner: count for owner, count in grouped} == counts, when
    held = spark.sql(f"SELECT count(owner), count(place), count(*) FROM {T}")
    present = [sum(row[at] is not None for row in wanted) for at in (6, 7)]
    assert held == [[*present, len(wanted)]], when
