"""The first write of a job, and those after it: every mode, layout and option, by path and name."""

from __future__ import annotations

from itertools import count, product
from pathlib import Path

import pytest

import colonnade
from tests.spark_ext.java.spark_shell import SparkShell

pytestmark = [pytest.mark.spark, pytest.mark.spark_compat]

WAYS = ("save", "saveAsTable")
MODES = ("append", "overwrite", "ignore", "error")
LAYOUTS = {
    "": ((), ()),
    ".partitionBy('p')": (("p",), ()),
    ".partitionBy('q', 'p')": (("q", "p"), ()),
    ".clusterBy('id')": ((), ("id",)),
    ".bucketBy(4, 'id')": (("bucket(4, id)",), ()),
    ".partitionBy('q').bucketBy(4, 'id').sortBy('p', 'id')": (("q", "bucket(4, id)"), ("p", "id")),
}
"""Methods of the writer, and the partitions and the sort key that they ask for."""
CALLS = [each for each in product(WAYS, LAYOUTS) if each[0] != "save" or ".buc" not in each[1]]
"""Each way with the methods that Spark allows: it refuses buckets at a path itself."""
OPTIONS = {
    "": "",
    "overwriteSchema": ".option('overwriteSchema', True)",
    "mergeSchema": ".option('mergeSchema', True)",
    "replaceWhere": ".option('replaceWhere', 'id > 0')",
}
FRAME = "spark.sql(\"SELECT 1L AS id, 'a' AS p, 'b' AS q\")"
OLD = "spark.sql(\"SELECT 0L AS id, 'a' AS p, 'b' AS q\")"
NUMBERS = count()

Layout = tuple[tuple[str, ...], tuple[str, ...]]


@pytest.fixture(scope="module")
def spark(spark_shell: SparkShell) -> SparkShell:
    spark_shell.sql("CREATE DATABASE colonnade.first")
    return spark_shell


def table(spark: SparkShell) -> Path:
    """The path of a table that does not exist yet."""
    return spark.folder / "warehouse" / "first" / f"t{next(NUMBERS)}"


def written(path: Path, way: str, mode: str, calls: str, frame: str = FRAME) -> str:
    """The code of a write."""
    target = path if way == "save" else f"colonnade.first.{path.name}"
    return f"{frame}.write.format('colonnade').mode({mode!r}){calls}.{way}('{target}')"


def found(path: Path) -> tuple[list[int], Layout]:
    """The ids of the rows of a table, its partitions and its sort key."""
    opened = colonnade.open(path)
    ids, schema = opened.scan().to_arrow()["id"].to_pylist(), opened._state.schema
    key = tuple(schema.by_id(field.column).name for field in opened._state.sort_key)
    return sorted(ids), (opened.partitioning, key)


@pytest.mark.parametrize("option", OPTIONS.values())
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("way", "calls"), CALLS)
def test_every_first_write_makes_the_table_that_it_describes(
    spark: SparkShell, way: str, calls: str, mode: str, option: str
) -> None:
    path = table(spark)
    spark.run(written(path, way, mode, calls + option))
    assert found(path) == ([1], LAYOUTS[calls])
    assert len(colonnade.open(path).history()) == 1


def outcome(mode: str, option: str, layout: Layout, old: Layout) -> tuple[list[int], Layout] | None:
    """What a write makes of a table of one row with the id 0; None if it is refused.

    This is what Delta does, except that Delta takes options of an overwrite in an append, and that
    `overwriteSchema` keeps a layout which the write does not state.
    """
    if mode == "error" or (mode == "append" and option in ("overwriteSchema", "replaceWhere")):
        return None
    if mode == "ignore":
        return [0], old
    if mode == "overwrite" and option == "overwriteSchema":
        return [1], (layout[0] or old[0], layout[1] or old[1])
    if layout not in (((), ()), old):
        return None
    return [0, 1] if mode == "append" or option == "replaceWhere" else [1], old


@pytest.mark.matrix
@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("way", "calls"), CALLS)
@pytest.mark.parametrize("before", ["", ".partitionBy('p')", ".clusterBy('id')"])
def test_every_later_write_changes_the_table_as_it_says_or_is_refused(
    spark: SparkShell, before: str, way: str, calls: str, mode: str, option: str
) -> None:
    path, old = table(spark), LAYOUTS[before]
    expected = outcome(mode, option, LAYOUTS[calls], old)
    spark.run(written(path, "save", "error", before, OLD))
    code = written(path, way, mode, calls + OPTIONS[option])
    if expected is None:
        spark.refused_run(code)
    else:
        spark.run(code)
    assert found(path) == (expected or ([0], old))


@pytest.mark.parametrize("mode", ["append", "overwrite"])
@pytest.mark.parametrize(("way", "calls"), CALLS)
def test_the_same_job_writes_again_and_again(
    spark: SparkShell, way: str, calls: str, mode: str
) -> None:
    path = table(spark)
    for turn in range(1, 4):
        spark.run(written(path, way, mode, calls))
        assert found(path) == ([1] * (turn if mode == "append" else 1), LAYOUTS[calls])


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("calls", [".partitionBy('P', 'q')", ".clusterBy('ID', 'Q')"])
def test_the_same_job_may_name_columns_in_any_case(spark: SparkShell, way: str, calls: str) -> None:
    for mode in ("append", "overwrite"):
        path = table(spark)
        spark.run(written(path, way, mode, calls))
        spark.run(written(path, way, mode, calls))
        assert found(path)[0] == ([1, 1] if mode == "append" else [1])


@pytest.mark.parametrize("way", WAYS)
def test_other_columns_bring_other_partitions(spark: SparkShell, way: str) -> None:
    path, option = table(spark), OPTIONS["overwriteSchema"]
    spark.run(written(path, way, "append", ".partitionBy('p')"))
    other = "spark.sql('SELECT 1L AS id, 2026 AS year')"
    lacking = spark.refused_run(written(path, way, "overwrite", option, other))
    assert "is arranged by 'p', which the new columns lack" in lacking
    spark.run(written(path, way, "overwrite", f".partitionBy('year'){option}", other))
    assert found(path) == ([1], (("year",), ()))
    assert colonnade.open(path).schema.names == ["id", "year"]


@pytest.mark.parametrize("way", WAYS)
def test_names_of_partitions_may_hold_anything(spark: SparkShell, way: str) -> None:
    for mode, name in product(("append", "overwrite"), ("a b", "x,y", "days(p)", "b`t", "Ä.z")):
        path = table(spark)
        quoted = f"`{name.replace('`', '``')}`"
        frame = f'spark.sql("SELECT 1L AS id, 2 AS {quoted}")'
        spark.run(written(path, way, mode, f".partitionBy({quoted!r})", frame))
        [field] = colonnade.open(path)._state.partition_fields
        schema = colonnade.open(path)._state.schema
        assert (field.transform, schema.by_id(field.column).name) == ("identity", name)


def test_a_method_and_an_option_do_not_contradict_each_other(spark: SparkShell) -> None:
    for way, mode, (calls, option) in product(
        WAYS,
        ("append", "overwrite"),
        (
            (".partitionBy('p').option('partitionBy', 'q')", "partitionBy"),
            (".clusterBy('id').option('sortKey', 'q')", "sortKey"),
        ),
    ):
        path = table(spark)
        sentence = spark.refused_run(written(path, way, mode, calls))
        assert f"The option {option} and another part of this write" in sentence, (way, mode)
        assert not path.exists()


@pytest.mark.parametrize(
    ("clause", "option"),
    [
        ("PARTITIONED BY (p) OPTIONS ('partitionBy' = 'q')", "partitionBy"),
        ("CLUSTER BY (id) OPTIONS ('sortKey' = 'q')", "sortKey"),
        ("CLUSTERED BY (id) SORTED BY (p) INTO 4 BUCKETS OPTIONS ('sortKey' = 'q')", "sortKey"),
    ],
)
def test_a_clause_and_an_option_do_not_contradict_each_other(
    spark: SparkShell, clause: str, option: str
) -> None:
    """Of a property and an option of one name, Spark passes the option alone."""
    name = f"colonnade.first.{table(spark).name}"
    rows = "SELECT 1L AS id, 'a' AS p, 'b' AS q"
    sentence = spark.refusal(f"CREATE TABLE {name} USING colonnade {clause} AS {rows}")
    assert f"The option {option} and another part of this write" in sentence
