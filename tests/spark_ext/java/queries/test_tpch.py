"""All 22 TPC-H queries: Colonnade's tables answer as the Parquet files they were loaded from.

Through the jar and, in a session without it, through the source in Python. `tpch_answers.json` has
the answers on Parquet, and a test asks Parquet for them again.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from tests.spark_ext.java.spark_shell import SparkShell

pytestmark = [pytest.mark.spark, pytest.mark.long]

Run = Callable[[str], Any]

SCALE = "0.02"
TABLES = ("region", "nation", "supplier", "customer", "part", "partsupp", "orders", "lineitem")
QUERIES = dict(
    re.findall(
        r"-- (q\d+)\n(.*?);\n",
        Path(__file__).with_name("tpch_queries.sql").read_text(),
        flags=re.DOTALL,
    )
)
ANSWERS = json.loads(Path(__file__).with_name("tpch_answers.json").read_text())


@pytest.fixture(scope="module", params=["jar", "python"])
def run(request: pytest.FixtureRequest) -> Run:
    """Evaluates an expression about `spark` in a session of one kind; frames become rows."""
    if request.param == "jar":
        shell: SparkShell = request.getfixturevalue("spark_shell")
        return shell.run
    return runs_in(request.getfixturevalue("spark"))


def runs_in(spark: SparkSession) -> Run:
    def here(code: str) -> Any:
        value = eval(code, {"spark": spark})
        return [list(row) for row in value.collect()] if isinstance(value, DataFrame) else value

    return here


@pytest.fixture(scope="module")
def parquet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tpch")
    generator = Path(sys.executable).with_name("tpchgen-cli")
    subprocess.run([generator, "parquet", "-s", SCALE, "-o", folder], check=True)
    return folder


def read_parquet(parquet: Path, table: str) -> str:
    return f"spark.read.parquet('{parquet}/{table}.parquet')"


@pytest.fixture(scope="module")
def tables(run: Run, parquet: Path, tmp_path_factory: Any) -> Iterator[None]:
    """Give the names of the queries to our tables."""
    folder = tmp_path_factory.mktemp("tables")
    for table in TABLES:
        # Every table is a lone one here: databases have tests of their own.
        path = f"'{folder}/{table}'"
        write = f"{read_parquet(parquet, table)}.write.format('colonnade').mode('append')"
        run(f"{write}.save({path})")
        load = f"spark.read.format('colonnade').load({path})"
        run(f"{load}.createOrReplaceTempView('{table}')")
    yield
    for table in TABLES:
        run(f"spark.catalog.dropTempView('{table}')")


def test_every_query_is_there() -> None:
    assert list(QUERIES) == list(ANSWERS) == [f"q{number}" for number in range(1, 23)]


@pytest.mark.parametrize("name", QUERIES)
@pytest.mark.usefixtures("tables")
def test_a_query_answers_as_on_parquet(name: str, run: Run) -> None:
    assert answer(run, name) == ANSWERS[name]
    assert ANSWERS[name], "the query selects nothing at this scale, so it shows nothing"


def test_the_recorded_answers_are_those_on_parquet(spark: SparkSession, parquet: Path) -> None:
    run = runs_in(spark.newSession())  # its names are not those of our tables
    for table in TABLES:
        run(f"{read_parquet(parquet, table)}.createOrReplaceTempView('{table}')")
    assert {name: answer(run, name) for name in QUERIES} == ANSWERS


def answer(run: Run, name: str) -> list[list[Any]]:
    """Return the rows of a query as JSON values. Decimals and dates are texts.

    Floating sums depend on the order of rows; everything else must be equal to the bit.
    """
    rows = json.loads(json.dumps(run(f"spark.sql({QUERIES[name]!r})"), default=str))
    return [
        [float(f"{value:.9g}") if isinstance(value, float) else value for value in row]
        for row in rows
    ]
