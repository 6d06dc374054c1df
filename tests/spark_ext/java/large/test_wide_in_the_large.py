"""A wide table that evolves between statements of Spark has the rows that DuckDB has, at each step.

Statements are random. Both engines execute the same text where they can. The jar and the reader in
Python read every column of every row after each step, and of earlier epochs at the end.
"""

from __future__ import annotations

import random
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pytest

import colonnade
from tests.spark_ext.java.spark_shell import SparkShell

COLUMNS, ROWS, STEPS = 200, 300_000, 14
WIDER = {
    "smallint": "int",
    "int": "bigint",
    "float": "double",
    "decimal(9,2)": "decimal(14,2)",
    "date": "timestamp_ntz",
}
KINDS = ("smallint", "int", "bigint", "float", "double", "decimal(9,2)", "date", "string")
DEFAULTS = {
    "smallint": "7",
    "int": "-5",
    "bigint": "5000000000",
    "double": "0.25",
    "decimal(9,2)": "1.50",
    "date": "DATE '2001-02-03'",
    "string": "'new'",
}


class Wide:
    """The table, a twin in DuckDB, and random steps for both."""

    def __init__(self, spark: SparkShell, folder: Path, seed: int) -> None:
        self.spark, self.folder, self.seed = spark, folder, seed
        self.random, self.numbers = random.Random(seed), np.random.default_rng(seed)
        self.duck = duckdb.connect()
        self.place = f"{folder}/t"
        self.kinds = {f"c{at}": self.random.choice(KINDS) for at in range(COLUMNS)}
        self.next_column, self.next_row = COLUMNS, ROWS
        self.epochs: dict[int, str] = {}
        rows = self.rows(0, ROWS)
        key = self.random.choice(((), ("k",)))
        self.table = colonnade.create(self.place, rows.schema, sort_key=key)
        for first in range(0, ROWS, ROWS // 3):
            self.table.append(rows.slice(first, ROWS // 3))
        self.duck.register("given", rows)
        self.duck.execute("CREATE TABLE t AS FROM given")

    def rows(self, first: int, count: int) -> pa.Table:
        """Rows with new keys, and NULL in no, some or most rows of a column."""
        found = {"k": pa.array(range(first, first + count), pa.int64())}
        for name, kind in self.kinds.items():
            found[name] = self.values(kind, count)
        schema = [pa.field("k", pa.int64(), nullable=False)]
        schema += [pa.field(name, each.type) for name, each in found.items() if name != "k"]
        return pa.table(found, pa.schema(schema))

    def values(self, kind: str, count: int) -> pa.Array:
        """Values of a type, of a few or of many."""
        share = self.random.choice((0.0, 0.0, 0.1, 0.9))
        nulls = self.numbers.random(count) < share
        numbers = self.numbers.integers(0, self.random.choice((1, 9, 30_000)), count) + 1
        if kind == "string":
            return pa.array(numbers).cast(pa.string()).take(pa.array(np.arange(count), mask=nulls))
        target = {
            "smallint": pa.int16(), "int": pa.int32(), "bigint": pa.int64(),
            "float": pa.float32(), "double": pa.float64(), "decimal(9,2)": pa.decimal128(9, 2),
            "decimal(14,2)": pa.decimal128(14, 2), "date": pa.date32(),
            "timestamp_ntz": pa.timestamp("us"),
        }[kind]  # fmt: skip
        if kind == "date":
            return pa.array(numbers.astype(np.int32), pa.int32(), mask=nulls).cast(target)
        if kind == "timestamp_ntz":
            return pa.array(numbers * 86_400_000_000, pa.int64(), mask=nulls).cast(target)
        whole = pa.array(numbers, pa.int64(), mask=nulls)
        return (whole.cast(pa.decimal128(21, 2)) if kind.startswith("dec") else whole).cast(target)

    def both(self, statement: str) -> None:
        """Execute one text in both engines; `{t}` is the table."""
        self.duck.execute(statement.replace("{t}", "t"))
        self.spark.sql(statement.replace("{t}", f"colonnade.`{self.place}`"))

    def some(self) -> str:
        """A condition on the key: most rows, few rows, or a range."""
        every = self.random.choice((2, 3, 50, 1_000))
        start = self.random.randrange(ROWS)
        plain = f"k % {every} = {self.random.randrange(every)}"
        return self.random.choice(
            (plain, f"k % {every} <> 1", f"k BETWEEN {start} AND {start + 999}")
        )

    def column(self, *kinds: str) -> str:
        """A column of one of these types."""
        return self.random.choice([name for name, kind in self.kinds.items() if kind in kinds])

    def changed(self, name: str) -> str:
        """An expression of the type of a column, that stays in its range."""
        kind = self.kinds[name]
        if kind == "string":
            return f"{name} || 'x'"
        if kind in ("date", "timestamp_ntz"):
            return f"CASE WHEN k % 5 = 0 THEN NULL ELSE {name} END"
        return f"CAST(CASE WHEN {name} > 20000 THEN 1 ELSE {name} + 1 END AS {kind})"

    def update(self) -> str:
        name = self.column(*KINDS)
        where = self.random.choice(("", f" WHERE {self.some()}"))
        self.both(f"UPDATE {{t}} SET {name} = {self.changed(name)}{where}")
        return f"update of {name}{where}"

    def merge(self) -> str:
        name, every = self.column("bigint", "double", "string"), self.random.choice((2, 7, 500))
        insert = f"INSERT (k, {name}) VALUES (s.k, s.v)"
        value = "CAST(id % 100 AS STRING)" if self.kinds[name] == "string" else "id % 100"
        first = self.random.randrange(every)
        source = f"SELECT id * {every} + {first} AS k, {value} AS v FROM range({{n}}) AS r(id)"
        count = self.next_row // every + 20
        self.next_row = max(self.next_row, (count - 1) * every + first + 1)
        self.both(
            f"MERGE INTO {{t}} AS t USING ({source.replace('{n}', str(count))}) AS s ON t.k = s.k"
            f" WHEN MATCHED AND t.k % 3 <> 0 THEN UPDATE SET {name} = s.v"
            f" WHEN MATCHED AND t.k % 99 = 0 THEN DELETE WHEN NOT MATCHED THEN {insert}"
        )
        return f"merge into {name} of every {every}"

    def delete(self) -> str:
        start = self.random.randrange(ROWS)
        where = self.random.choice(
            (f"k % 41 = {start % 41}", f"k BETWEEN {start} AND {start + 5_000}")
        )
        self.both(f"DELETE FROM {{t}} WHERE {where}")
        return f"delete of {where}"

    def backfill(self) -> str:
        name, where = self.column(*KINDS), self.random.choice((None, self.some()))
        value = self.changed(name)
        rule = "" if where is None else f" WHERE {where}"
        self.duck.execute(f"UPDATE t SET {name} = {value}{rule}")
        opened = f"colonnade.Table.forPath(spark, {self.place!r})"
        self.spark.run(f"{opened}.backfill({name!r}, {value!r}, {where!r}).metrics()")
        return f"backfill of {name}{rule}"

    def add(self) -> str:
        kind = self.random.choice([*DEFAULTS])
        name, given = f"c{self.next_column}", DEFAULTS[kind]
        self.next_column += 1
        self.duck.execute(f"ALTER TABLE t ADD COLUMN {name} {_duck(kind)} DEFAULT {given}")
        table = f"colonnade.`{self.place}`"
        self.spark.sql(f"ALTER TABLE {table} ADD COLUMNS ({name} {kind} DEFAULT {given})")
        self.kinds[name] = kind
        return f"add {name} {kind}"

    def compute(self) -> str:
        name, read = f"c{self.next_column}", self.column("smallint", "int")
        self.next_column += 1
        value = f"CAST({read} AS BIGINT) * 3"
        self.duck.execute(f"ALTER TABLE t ADD COLUMN {name} BIGINT")
        self.duck.execute(f"UPDATE t SET {name} = {value}")
        opened = f"colonnade.Table.forPath(spark, {self.place!r})"
        self.spark.run(f"{opened}.addColumn({name!r}, 'bigint', {value!r}).metrics()")
        self.kinds[name] = "bigint"
        return f"compute {name} from {read}"

    def widen(self) -> str:
        name = self.column(*WIDER)
        kind = WIDER[self.kinds[name]]
        self.duck.execute(f"ALTER TABLE t ALTER COLUMN {name} TYPE {_duck(kind)}")
        self.spark.sql(f"ALTER TABLE colonnade.`{self.place}` ALTER COLUMN {name} TYPE {kind}")
        self.kinds[name] = kind
        return f"widen {name} to {kind}"

    def rename(self) -> str:
        name, new = self.random.choice([*self.kinds]), f"c{self.next_column}"
        self.next_column += 1
        self.both(f"ALTER TABLE {{t}} RENAME COLUMN {name} TO {new}")
        self.kinds = {new if each == name else each: kind for each, kind in self.kinds.items()}
        return f"rename {name} to {new}"

    def drop(self) -> str:
        name = self.random.choice([*self.kinds])
        self.both(f"ALTER TABLE {{t}} DROP COLUMN {name}")
        del self.kinds[name]
        return f"drop {name}"

    def insert(self) -> str:
        names = self.random.sample([*self.kinds], 3)
        rows = self.rows(self.next_row, 3_000).select(["k", *names])
        self.next_row += 3_000
        self.duck.register("more", rows)
        self.duck.execute("INSERT INTO t BY NAME FROM more")
        file = self.folder / f"more-{self.next_row}.parquet"
        self.duck.execute(f"COPY more TO '{file}' (FORMAT parquet)")
        given = f"SELECT * FROM parquet.`{file}`"
        self.spark.sql(f"INSERT INTO colonnade.`{self.place}` BY NAME {given}")
        return f"insert of {names}"

    def compact(self) -> str:
        opened = f"colonnade.Table.forPath(spark, {self.place!r})"
        self.spark.run(f"{opened}.optimize().option('min-rowsets', 2).executeCompaction()")
        return "compaction"

    def step(self) -> str:
        steps = (
            *(self.update, self.merge, self.delete, self.backfill, self.add, self.compute),
            *(self.widen, self.rename, self.drop, self.insert, self.compact, self.update),
        )
        return self.random.choice(steps)()

    def check(self, done: list[str]) -> None:
        """Compare all rows of the newest epoch, as both readers have them, with DuckDB's."""
        epoch = self.table.refresh().epoch
        self.same("t", None, done)
        if self.random.random() < 0.3:
            kept = f"at_{epoch}"
            self.duck.execute(f"CREATE TABLE {kept} AS FROM t")
            self.epochs[epoch] = kept

    def same(self, twin: str, epoch: int | None, done: list[str]) -> None:
        """Compare an epoch with a table of DuckDB. None is the newest epoch."""
        found = self.table.scan(epoch=epoch).to_arrow()
        self.duck.register("found", found)
        self.differ(twin, "found", f"Python, {done}")
        self.duck.unregister("found")
        file = self.folder / f"read-{len(done)}-{epoch}"
        as_of = "" if epoch is None else f".option('versionAsOf', {epoch})"
        read = f"spark.read.format('colonnade'){as_of}.load({self.place!r})"
        self.spark.run(f"{read}.write.parquet('file://{file}')")
        self.differ(twin, f"'{file}/*.parquet'", f"Java, {done}")
        for each in file.iterdir():
            each.unlink()

    def differ(self, twin: str, other: str, what: str) -> None:
        names = [each[0] for each in self.duck.execute(f"DESCRIBE {twin}").fetchall()]
        listed = ", ".join(names)
        [count] = self.duck.execute(f"SELECT count(*) FROM {other}").fetchone() or [None]
        [wanted] = self.duck.execute(f"SELECT count(*) FROM {twin}").fetchone() or [None]
        assert count == wanted, what
        unlike = " OR ".join(f"a.{name} IS DISTINCT FROM b.{name}" for name in names)
        [rows] = self.duck.execute(
            f"SELECT count(*) FROM (SELECT {listed} FROM {twin}) a"
            f" FULL JOIN (SELECT {listed} FROM {other}) b USING (k) WHERE {unlike}"
        ).fetchone() or [None]
        assert rows == 0, f"{rows} rows differ: {what}"


def _duck(kind: str) -> str:
    return {"timestamp_ntz": "TIMESTAMP", "string": "VARCHAR"}.get(kind, kind.upper())


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2))
def test_a_wide_table_has_the_rows_of_duckdb_after_each_step(
    seed: int, spark_shell: SparkShell, tmp_path: Path
) -> None:
    wide = Wide(spark_shell, tmp_path, seed)
    done: list[str] = []
    for _ in range(STEPS):
        done.append(wide.step())
        wide.check(done)
    for epoch, twin in wide.epochs.items():
        wide.same(twin, epoch, done)
    assert wide.table.verify(4).is_sound
