"""Spark's own passes over deleted and inserted rows find the updates and net changes of a feed."""

from __future__ import annotations

import os
import random
import subprocess
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from colonnade.manifests.store import LocalStore
from tests.spark_ext.java.queries.change_doors import HAS_CHANGES
from tests.spark_ext.java.read_tool import JAR, JARS
from tests.spark_ext.java.spark_shell import SparkShell
from tests.tableformat.feed.test_histories import LIMITS, Longer
from tests.tableformat.statements.test_row_histories import FORMS

pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(not HAS_CHANGES, reason="Spark 4.1 has no CHANGES"),
]

KEYED = [form for form in FORMS if "key" in FORMS[form]]
SOURCE = Path(__file__).parents[1] / "RawChanges.java"


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkShell]:
    """A session with the catalog `raw`, whose changes Spark's own passes complete."""
    folder = tmp_path_factory.mktemp("raw")
    class_path = os.pathsep.join((f"{JARS}/*", str(JAR)))
    command = ["javac", "--release", "17", "-cp", class_path, "-d", str(folder), str(SOURCE)]
    subprocess.run(command, check=True, capture_output=True, text=True)
    jar = folder / "raw.jar"
    with zipfile.ZipFile(jar, "w") as archive:
        for path in folder.glob("*.class"):
            archive.write(path, path.name)
    with SparkShell(folder, [jar]) as shell:
        shell.run("spark.conf.set('spark.sql.catalog.raw', 'RawChanges')")
        shell.run(f"spark.conf.set('spark.sql.catalog.raw.warehouse', {str(folder)!r})")
        yield shell


def changes(
    spark: SparkShell, catalog: str, path: Path, first: int, last: int, columns: str, **how: str
) -> list[list[Any]]:
    options = ", ".join(f"{name} = '{value}'" for name, value in how.items())
    return spark.sql(
        f"SELECT {columns} FROM {catalog}.`{path}`"
        f" CHANGES FROM VERSION {first} TO VERSION {last} WITH ({options})"
    )


def counted(rows: list[list[Any]]) -> Counter[tuple[Any, ...]]:
    return Counter(map(tuple, rows))


@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=pytest.mark.long) for n in (1, 2, 3))])
@pytest.mark.parametrize("form", KEYED)
def test_updates_and_net_changes_are_those_that_spark_computes_itself(
    spark: SparkShell, tmp_path: Path, form: str, seed: int
) -> None:
    rng = random.Random(f"by Spark {form} {seed}")
    history: Any = Longer(form, rng, rng.choice(LIMITS), LocalStore(str(tmp_path / "db")))
    for _ in range(12):
        history.turn()
    path, last = tmp_path / "db" / "t", history.table().epoch
    first, end = sorted(rng.sample(range(2, last + 1), 2))
    names = ", ".join(history.table().scan(epoch=end).columns)  # a later epoch may rename them
    columns = f"_change_type, {names}, _commit_version, _commit_timestamp, _row_handler"
    ours, raw = (
        counted(changes(spark, each, path, first, end, columns, computeUpdates="true"))
        for each in ("colonnade", "raw")
    )
    assert ours == raw
    columns = f"_change_type, {names}"
    how = {"deduplicationMode": "netChanges"}
    for updates in ("true", "false"):
        ours, raw = (
            counted(changes(spark, each, path, first, end, columns, computeUpdates=updates, **how))
            for each in ("colonnade", "raw")
        )
        assert ours == without_equal_images(raw)


def without_equal_images(net: Counter[tuple[Any, ...]]) -> Counter[tuple[Any, ...]]:
    """Leave out both images of rows that are as before: Spark does not compare their values."""
    kinds = {"update_preimage": "update_postimage", "delete": "insert"}
    left = Counter(net)
    for kind, *values in net:
        other = (kinds.get(kind), *values)
        if other in net:
            left -= Counter([(kind, *values), other])
    return left
