"""One Spark session that reads tables in every way: `python read_road.py FOLDER [QUERIES]`.

A process of its own for test_read.py, because a session that has the jar keeps it. What was seen
goes to FOLDER/seen.json, for the tests to judge.
"""

from __future__ import annotations

import json
import math
import random
import sys
from collections.abc import Callable, Iterable
from datetime import timezone
from decimal import Decimal
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pyspark
from pyspark.sql import DataFrame, SparkSession

import colonnade
from colonnade.manifests.commit.change import Change
from colonnade.manifests.ids import new_transaction_id
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.deletion_vector import DeletionVector, write_deletion_vector
from colonnade.manifests.model.operations import AddDeletionVector
from colonnade.manifests.store import open_store
from colonnade.tableformat.table.table import ArrowTable
from tests.spark_ext.java.queries.read_predicates import conditions
from tests.spark_ext.java_names import keep_java_names

ZONE = ZoneInfo("America/New_York")
LOCAL = "%Y-%m-%d %H:%M:%S.%f"
ROWS = 60
ROWSETS = 10
PER_QUERY = 16
OLDER = pyspark.__version__ < "4.3"
QUERIES = 2
"""Python decides what is left out and what the log answers, so a walk asks few questions of a kind.

A longer walk has more conditions and orders, and asks for aggregates of more types.
"""
ORDERS_PER_QUERY = 3
AGGREGATED = ("id", "i", "x", "n", "s", "y")
FURTHER = ("l", "f", "d", "t", "u", "b")
SCHEMA = pa.schema(
    [
        pa.field("id", pa.int64(), nullable=False),
        ("i", pa.int32()),
        ("l", pa.int64()),
        ("x", pa.float64()),
        ("f", pa.float32()),
        ("n", pa.decimal128(10, 2)),
        pa.field("s", pa.string(), metadata={"comment": "a name"}),
        ("d", pa.date32()),
        ("t", pa.timestamp("us", "UTC")),
        ("u", pa.timestamp("us")),
        ("b", pa.bool_()),
        ("y", pa.binary()),
        ("a", pa.list_(pa.int64())),
        ("st", pa.struct([("a", pa.int64()), ("b c", pa.string())])),
    ]
)


def rows(number: int) -> pa.Table:
    """The rows of one RowSet: values of neighbours overlap, some columns have NULL or NaN only."""
    rng = random.Random(number)
    base = number * ROWS
    ids = range(base, base + ROWS)
    near = [base + rng.randint(-40, 40) for _ in ids]

    def some(make: Callable[[int], Any], nulls: float = 0.1) -> list[Any]:
        share = 1.0 if number == 6 else nulls if number % 3 else 0.0
        return [None if rng.random() < share else make(value) for value in near]

    columns: dict[str, list[Any]] = {
        "id": list(ids),
        "i": some(lambda v: v),
        "l": some(lambda v: v * 3 if number != 8 else 2**63 - 1),
        "x": some(lambda v: math.nan if number == 7 or (number == 2 and v % 9 == 0) else v / 2),
        "f": some(lambda v: 0.1 if v % 10 == 0 else float(v)),
        "n": some(lambda v: Decimal(v * 100 + 5) / 100 * (-1 if number == 1 else 1)),
        "s": some(lambda v: f"key {v % 100:02}" if number else "\u65e5" * (v % 50)),
        "d": some(lambda v: v),
        "t": some(lambda v: v * 1_000_000),
        "u": some(lambda v: v * 1_000_000),
        "b": some(lambda v: number > 3 or v % 2 == 0),
        "y": some(lambda v: bytes([max(0, v) % 256, 255])),
        "a": some(lambda v: [v] * (v % 4)),
        "st": some(lambda v: {"a": v if v % 5 else None, "b c": f"x{v}"}),
    }
    arrays = [pa.array(columns[field.name], field.type) for field in SCHEMA]
    return pa.Table.from_arrays(arrays, schema=SCHEMA)


def delete(table: ArrowTable, rowset: int, gone: Iterable[int]) -> None:
    """Delete rows of one RowSet."""
    log, base = Log(open_store(table.path)), table._refresh()
    entry = write_deletion_vector(
        log.store, table._state.prefix, "ab" * 8, DeletionVector.of(gone), None
    )
    op = AddDeletionVector(table=table._state.id, rowset=rowset, vector=entry)
    log.commit(Change(new_transaction_id(), "delete", (op,)), base)
    table.refresh()


def facts(path: Path) -> ArrowTable:
    """The table most queries read: ten RowSets, rows of three of them deleted."""
    table = ArrowTable.create(path, SCHEMA, sort_key=["id"], comment="all types")
    for number in range(ROWSETS):
        table.append(rows(number))
    for rowset, gone in ((1, range(0, ROWS, 3)), (5, range(ROWS)), (9, range(50, ROWS))):
        delete(table, rowset, gone)
    return table


class Road:
    """A session, its tables, and what was seen."""

    def __init__(self, folder: Path, queries: int) -> None:
        self.folder = folder
        self.queries = queries
        builder = (
            SparkSession.builder.master("local[2]")
            .config("spark.ui.enabled", "false")
            .config("spark.ui.showConsoleProgress", "false")  # takes time, as the next one does
            .config("spark.sql.ui.explainMode", "simple")
            .config("spark.driver.memory", "1g")
            .config("spark.sql.shuffle.partitions", "1")
            .config("spark.sql.session.timeZone", "America/New_York")
        )
        self.spark = (
            colonnade.enable(builder.getOrCreate())  # with the newest, test_session.py does this
            if OLDER
            else colonnade.configure(builder).getOrCreate()
        )
        keep_java_names()
        self.table = facts(folder / "facts")
        self.seen: dict[str, Any] = {}

    def load(self, path: str = "facts", **options: Any) -> DataFrame:
        return self.spark.read.format("colonnade").options(**options).load(str(self.folder / path))

    def walk(self) -> None:
        for step in (
            self.rows, self.wide, self.groups, self.limits, self.columns, self.plans,
            self.runtime_filters, self.leaks, self.null_bytes, self.epochs, self.refusals,
        ):  # fmt: skip
            self.seen[step.__name__] = step()
        # Each of these queries runs once: generating code for it takes longer than running it.
        self.spark.conf.set("spark.sql.codegen.wholeStage", "false")
        for once in (self.conditions, self.aggregates, self.orders):
            self.seen[once.__name__] = once()

    def rows(self) -> dict[str, Any]:
        """All rows, and what Arrow reads."""
        df = self.load()
        found = df.selectExpr("id", "to_json(struct(*)) as row").orderBy("id").collect()
        arrow = self.spark.createDataFrame(self.table.scan().to_arrow(), df.schema)
        expected = arrow.selectExpr("id", "to_json(struct(*)) as row").orderBy("id").collect()
        return {"found": [r.row for r in found], "expected": [r.row for r in expected]}

    def wide(self) -> dict[str, Any]:
        """Read all rows of as many columns as Spark generates code for, and of more."""
        names = [f"{name}{number}" for number in range(8) for name in SCHEMA.names]
        fields = [field.with_name(name) for field, name in zip([*SCHEMA] * 8, names, strict=True)]
        table = ArrowTable.create(self.folder / "wide", pa.schema(fields))
        for number in (0, 2, 6, 7):
            part = rows(number)
            table.append(pa.Table.from_arrays(part.columns * 8, schema=pa.schema(fields)))
        delete(table, 1, range(0, ROWS, 3))
        df = self.load("wide")
        every = df.selectExpr("id0", "_row_handler", "to_json(struct(*)) as row").orderBy("id0")
        some = df.where("i3 > 150 or st5.a is null").selectExpr("*", "_epoch")
        seen: dict[str, Any] = {"from": []}
        for kind, limit in ("rows", "100"), ("columns", "1000"):
            self.spark.conf.set("spark.sql.codegen.maxFields", limit)
            left = some.select("*")  # planned anew
            seen["from"].append("ColumnarToRow" in plan(left))
            found = every.select("*").collect()
            seen[kind] = [[list(row) for row in found], sorted(map(repr, left.collect()))]
        self.spark.conf.unset("spark.sql.codegen.maxFields")
        arrow = self.spark.createDataFrame(table.scan().to_arrow(), df.schema)
        expected = arrow.selectExpr("id0", "to_json(struct(*)) as row").orderBy("id0")
        seen["expected"] = [row.row for row in expected.collect()]
        return seen

    def conditions(self) -> list[dict[str, Any]]:
        """The ids that conditions select, where they are pushed and where they cannot be."""
        texts = conditions(seed=20, count=self.queries * PER_QUERY)
        df = self.load()
        seen = []
        self.spark.conf.set("spark.sql.ansi.enabled", "false")
        for start in range(0, len(texts), PER_QUERY):
            group = texts[start : start + PER_QUERY]
            pushed: list[list[int]] = [[] for _ in group]
            for number, found in union(
                df.where(text).selectExpr(f"{number} as q", "id")
                for number, text in enumerate(group)
            ).collect():
                pushed[number].append(found)
            flags = [f"({text}) as p{number}" for number, text in enumerate(group)]
            plain = df.selectExpr("id", *flags).collect()
            for number, text in enumerate(group):
                expected = [row.id for row in plain if row[f"p{number}"]]
                found = {"pushed": sorted(pushed[number]), "plain": sorted(expected)}
                seen.append({"text": text, **found})
        self.spark.conf.unset("spark.sql.ansi.enabled")
        return seen

    def aggregates(self) -> list[dict[str, Any]]:
        """Values of aggregates: answered, and computed from rows."""
        df = self.load()
        columns = AGGREGATED if self.queries == QUERIES else (*AGGREGATED, *FURTHER)
        asked = [[f"{f}({c})"] for f in ("count", "min", "max") for c in columns]
        asked += [
            ["count(*)", "max(id)", "count(x)"], ["count(*)", "max(id) + min(id)"], ["count(1)"],
            ["count(distinct b)"], ["count(a)", "count(st)"], ["max(st.a)"], ["max(_row)"],
            ["count(*) filter (where id > 3)"], ["sum(id)"], ["max(id + 1)"],
        ]  # fmt: skip
        early = self.load(epoch=ROWSETS + 1)  # before rows were deleted
        seen = []
        for source in (df, early):
            # The log cannot answer these: Spark does not treat repartitioned rows as a table.
            every = [f"struct({', '.join(functions)})" for functions in asked]
            expected = source.repartition(1).selectExpr(*every).collect()[0]
            for functions, values in zip(asked, expected, strict=True):
                if source is df or functions[0].startswith("m"):
                    query = source.selectExpr(*functions)
                    seen.append({
                        "asked": functions,
                        "early": source is early,
                        "answered": "BatchScan" not in plan(query),
                        "found": repr(tuple(query.collect()[0])),
                        "expected": repr(tuple(values)),
                    })  # fmt: skip
        return seen

    def groups(self) -> dict[str, Any]:
        """Different values: groups without an aggregate function."""
        few = self.load().where("id < 60").select("i")
        return {
            "few": sorted(row.i for row in few.distinct().collect() if row.i is not None),
            "expected": sorted({row.i for row in few.collect()} - {None}),
            "all": self.load().groupBy("id").count().count(),
            "one": self.spark.sql("SELECT DISTINCT 1 FROM {df}", df=self.load()).count(),
        }

    def orders(self) -> list[dict[str, Any]]:
        """The first rows in many orders."""
        rng = random.Random(3)
        df = self.load()
        seen = []
        for _ in range(self.queries * ORDERS_PER_QUERY):
            column = rng.choice(["id", "i", "x", "f", "n", "s", "d", "b", "st.a"])
            order = f"{column} {rng.choice(['asc', 'desc'])} nulls {rng.choice(['first', 'last'])}"
            count = rng.choice([1, 7, 70])
            query = "select id from {df} order by " + f"{order}, id limit {count}"
            found, expected = (
                [row.id for row in self.spark.sql(query, df=source).collect()]
                for source in (df, df.repartition(1))
            )
            seen.append({"order": order, "found": found, "expected": expected})
        return seen

    def limits(self) -> dict[str, Any]:
        df = self.load()
        counts = [1, 60, 61, 150, 10_000]
        return {
            "live": df.repartition(1).count(),
            "counts": [[n, len(df.limit(n).collect())] for n in counts],
            "plan": plan(df.limit(5)),
            "filtered": len(df.where("i > 100").limit(40).collect()),
            "offset": [row.id for row in df.orderBy("id").offset(3).limit(2).collect()],
        }

    def columns(self) -> dict[str, Any]:
        """Columns as users see them, nested ones in part, and those beside the table's own."""
        df = self.load()
        names = ["id", "_rowset", "_row", "_row_handler", "_epoch"]
        beside = df.select(*names)
        (handler,) = beside.where("id = 70").select("_row_handler").collect()[0]
        return {
            "schema": df.schema.json(),
            "nested": plan(df.select("st.a")),
            "nested_rows": [r.a for r in df.where("id < 9").orderBy("id").select("st.a").collect()],
            "none": df.where("id >= 0").count(),
            "beside": [list(row) for row in beside.orderBy("id").collect()],
            "by_handler": [row.id for row in df.where(f"_row_handler = {handler}").collect()],
            "nullable": beside.schema["_row_handler"].nullable,
            "alone": df.select("_row").where("_row = 4").count(),
        }

    def plans(self) -> dict[str, Any]:
        """What EXPLAIN says about filters, sizes and orders."""
        df = self.load()
        self.spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "4000")
        ids, few = df.select("id"), df.where("id = 37").select("id", "i")
        all_rows = df.selectExpr("id", "i")
        seen = {
            "filter": plan(df.where("i > 5 and upper(s) = 'A'").select("id")),
            "small": plan(ids.join(few, "id")),
            "large": plan(ids.join(all_rows, "id")),
            "rows": df.where("id = 37")._jdf.queryExecution().optimizedPlan().stats().toString(),
            "unordered": plan(df.select("id").sortWithinPartitions("id")),
            "ordered": plan(df.where("id = 37").select("id").sortWithinPartitions("id")),
        }
        twice = union([df.repartition(2, "b").groupBy("b").count()] * 2)
        twice.collect()
        seen["twice"] = plan(twice)
        large = ArrowTable.create(self.folder / "large", pa.schema([("n", pa.int64())]))
        numbers = np.random.default_rng(1).integers(-(2**54), 2**54, size=640_000)
        large.append(pa.table({"n": numbers}))
        queries = df.selectExpr("sum(id)"), self.load("large").selectExpr("sum(n)")
        seen["shuffles"] = [plan(query).count("Exchange") for query in queries]
        seen["sums"] = [queries[1].collect()[0][0], int(numbers.sum())]
        seen["answered"] = plan(df.selectExpr("count(*) + 1", "min(id)"))
        seen["distinct"] = sorted(str(row.b) for row in df.select("b").distinct().collect())
        self.spark.conf.unset("spark.sql.autoBroadcastJoinThreshold")
        return seen

    def runtime_filters(self) -> dict[str, Any]:
        """Joins whose small side is known only while the query runs: a value, and thousands."""
        df = self.load().select("id", "i")
        sides = []
        for name, ids in ("few", (75, 80)), ("many", (75, 420, *range(1_000, 6_000))):
            rows = [(number, "x" if number == 75 else "y") for number in ids]
            path = str(self.folder / name)
            self.spark.createDataFrame(rows, "id long, name string").write.parquet(path)
            few = self.spark.read.parquet(path).where("name > 'x'")
            sides.append(few.hint("broadcast"))
        joins = [df.join(side, "id") for side in sides]
        found = [[row.id for row in each.orderBy("id").collect()] for each in joins]
        self.spark.conf.set("spark.sql.adaptive.enabled", "false")  # metrics are found more easily
        read = [rows_read(df.join(side, "id")) for side in sides]
        ArrowTable.create(self.folder / "one", pa.schema([("id", pa.int64())])).append(
            pa.table({"id": [75, 80]})
        )
        plans = [plan(each.join(sides[0], "id")) for each in (df, self.load("one"))]
        seen = {"ids": found, "read": read, "all": rows_read(df), "plans": plans}
        self.spark.conf.unset("spark.sql.adaptive.enabled")
        return seen

    def leaks(self) -> dict[str, Any]:
        """Queries that use one DataFrame, view or table several times, with other filters."""
        df = self.load()
        df.createOrReplaceTempView("v")
        sql = self.spark.sql
        one, two = df.where("id = 1"), df.where("id = 2")
        cte = "with c as (select * from v) "
        return {
            "counts": [one.count(), df.count(), df.where("id < 4").count(), df.count()],
            "union": sorted(row.id for row in one.union(two).collect()),
            "join": df.where("id < 5").alias("l").join(df.where("id > 3"), "id").count(),
            "cte": list(sql(
                cte + "select (select count(*) from c where id = 1), (select count(*) from c),"
                " (select count(*) from c where id in (select id from c where id < 3))"
            ).collect()[0]),
            "view": [sql("select * from v where id = 1").count(), sql("select * from v").count()],
            "exists": sql(
                "select * from v p where exists (select 1 from v q where q.id = p.id + 1"
                " and q.id < 3) and p.id >= 0"
            ).count(),
            "self": df.where("id = 1").crossJoin(df.where("id < 7").select("i")).count(),
        }  # fmt: skip

    def null_bytes(self) -> dict[str, Any]:
        """Conditions with a NULL of bytes, which Spark 4.1 cannot write into its log or a plan."""
        table = ArrowTable.create(self.folder / "bytes", pa.schema([("y", pa.binary())]))
        table.append(pa.table({"y": [b"a", None, b"c"]}))
        condition = "y in (X'61', NULL)"
        found = [bytes(row.y) for row in self.load("bytes").where(condition).collect()]
        self.spark.sql(f"DELETE FROM colonnade.`{table.path}` WHERE {condition} OR y = X'62'")
        return {"found": [y.decode() for y in found], "left": self.load("bytes").count()}

    def epochs(self) -> dict[str, Any]:
        """Return the epochs that DataFrames read, before and after other commits."""
        path = str(self.folder / "growing")
        table = ArrowTable.create(path, pa.schema([("n", pa.int64())]))

        def grow() -> int:
            return table.append(pa.table({"n": [0]}))

        grow()
        df, pinned = self.load("growing"), self.load("growing", epoch=2)
        df.createOrReplaceTempView("g")
        first, collected = df.count(), df.select("n")
        before = len(collected.collect())
        second_epoch = grow()
        colonnade.open_database(path).tag("grown", second_epoch)
        seen: dict[str, Any] = {
            "counts": [first, df.count(), len(df.select("n").collect())],
            "planned": [before, len(collected.collect())],
            "pinned": [pinned.count(), len(pinned.collect())],
            "view": [self.spark.sql("select * from g").count()],
        }
        self.spark.sql(f"create temporary view made using colonnade options (path '{path}')")
        late = self.load("growing")
        grow()
        seen["view"].append(self.spark.sql("select * from g").count())
        seen["made"] = self.spark.table("made").count()
        seen["union"] = [df.union(late).count(), df.crossJoin(late).count()]
        seen["mixed"] = pinned.union(df).count()
        seen["cached"] = self.cached()
        seen["versions"] = [
            self.load("growing", versionAsOf=second_epoch).count(),
            self.spark.sql(f"select * from colonnade.`{path}` version as of 2").count(),
            self.spark.sql(f"select * from colonnade.`{path}` version as of 'grown'").count(),
            self.load("growing", versionAsOf="grown").count(),
        ]
        moment = table.time_of(second_epoch)
        assert moment is not None
        utc = moment.astimezone(timezone.utc)
        seen["times"] = [
            self.load("growing", timestampAsOf=utc.isoformat()).count(),
            self.load("growing", timestampAsOf=moment.astimezone(ZONE).strftime(LOCAL)).count(),
        ]
        return seen

    def cached(self) -> list[int]:
        """Rows of a cached DataFrame: after an append of Spark, and without the cache."""
        ArrowTable.create(self.folder / "kept", pa.schema([("n", pa.int64())]))
        df = self.load("kept").cache()
        counts = [df.count()]
        one = self.spark.range(1).selectExpr("id as n")
        one.write.format("colonnade").mode("append").save(str(self.folder / "kept"))
        counts += [df.count(), self.load("kept").count()]
        df.unpersist()
        return [*counts, self.load("kept").count()]

    def refusals(self) -> dict[str, str]:
        """What is said where a read cannot be."""
        path = str(self.folder / "facts")
        return {
            "option": sentence(lambda: self.load(epich=1)),
            "both": sentence(lambda: self.load(epoch=1, versionAsOf=1)),
            "epoch": sentence(lambda: self.load(epoch=99)),
            "no epoch": sentence(lambda: self.load(epoch="x")),
            "early": sentence(lambda: self.load(timestampAsOf="1999-01-01")),
            "no time": sentence(lambda: self.load(timestampAsOf="soon")),
            "no table": sentence(lambda: self.load("nothing")),
            "no path": sentence(lambda: self.spark.read.format("colonnade").load()),
            "paths": sentence(lambda: self.spark.read.format("colonnade").load([path, path])),
            "where": sentence(lambda: self.load(where="id > 3")),
        }


def union(parts: Iterable[DataFrame]) -> DataFrame:
    first, *others = parts
    for other in others:
        first = first.unionAll(other)
    return first


def plan(df: DataFrame) -> str:
    """The physical plan as EXPLAIN shows it."""
    return str(df._jdf.queryExecution().executedPlan().toString())


def rows_read(df: DataFrame) -> int:
    """Rows that the scans of a table gave Spark."""
    df.collect()
    leaves = df._jdf.queryExecution().executedPlan().collectLeaves()
    found = [leaves.apply(number) for number in range(leaves.size())]
    scans = [leaf for leaf in found if leaf.nodeName().startswith("BatchScan")]
    return sum(scan.metrics().apply("numOutputRows").value() for scan in scans)


def sentence(action: Callable[[], DataFrame]) -> str:
    """Return the first line of the error that an action fails with."""
    try:
        action().collect()
    except Exception as error:
        return str(error).splitlines()[0]
    return ""


def main() -> None:
    folder = Path(sys.argv[1])
    road = Road(folder, int(sys.argv[2]) if sys.argv[2:] else QUERIES)
    road.walk()
    (folder / "seen.json").write_text(json.dumps(road.seen))
    road.spark.stop()


if __name__ == "__main__":
    main()
