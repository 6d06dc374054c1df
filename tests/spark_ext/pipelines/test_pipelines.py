"""Declarative pipelines of Spark run on the catalog, with each kind of table and flow."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pyarrow as pa
import pyspark
import pytest

import colonnade
from tests.spark_ext.processes import HOME, running

pytestmark = [
    pytest.mark.long,
    pytest.mark.spark,
    pytest.mark.spark_compat,
    pytest.mark.timeout(900),
]
HAS_AUTO_CDC = not pyspark.__version__.startswith(("4.1", "4.2"))
NUMBERS = pa.schema([("id", pa.int64()), ("city", pa.string()), ("n", pa.int64())])
CHANGES = pa.schema(
    [("id", pa.int64()), ("name", pa.string()), ("op", pa.string()), ("seq", pa.int64())]
)
SPEC = """
name: shop
storage: {folder}/storage
catalog: colonnade
database: shop
libraries:
  - glob:
      include: transformations/**
"""


class Project:
    """The project in `shop`, in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shutil.copytree(Path(__file__).with_name("shop"), folder, dirs_exist_ok=True)
        if not HAS_AUTO_CDC:
            (folder / "transformations" / "customers.py").unlink()
        (folder / "spark-pipeline.yml").write_text(SPEC.format(folder=folder.as_uri()))
        self.raw = colonnade.create_database(folder / "warehouse" / "raw")
        colonnade.create_database(folder / "warehouse" / "shop")
        for name in ("orders", "web", "app"):
            self.raw.create_table(name, NUMBERS)
        self.raw.create_table("changes", CHANGES)

    def run(self, *arguments: str) -> None:
        """Run the pipeline as docs/streams.md says.

        Spark starts a server of Spark Connect for it, which has only what is in the defaults.
        """
        jar = colonnade.jar_path()
        settings = {
            "spark.jars": jar,
            "spark.sql.extensions": "colonnade.catalog.SessionExtension",
            "spark.sql.catalog.colonnade": "colonnade.catalog.ColonnadeCatalog",
            "spark.sql.catalog.colonnade.warehouse": self.folder / "warehouse",
            "spark.colonnade.python": sys.executable,
            "spark.sql.warehouse.dir": self.folder / "spark",
            "spark.sql.shuffle.partitions": 1,
            "spark.driver.memory": "1g",
            "spark.ui.enabled": "false",
        }
        lines = "".join(f"{name} {value}\n" for name, value in settings.items())
        (self.folder / "spark-defaults.conf").write_text(lines)
        command = [str(HOME / "bin" / "spark-pipelines"), "run", *arguments]
        log = self.folder / "pipeline.log"
        defaults, python = str(self.folder), sys.executable
        with running(command, log, SPARK_CONF_DIR=defaults, PYSPARK_PYTHON=python) as process:
            assert process.wait(400) == 0, log.read_text()[-8000:]

    def table(self, name: str) -> colonnade.ArrowTable:
        return colonnade.open(self.folder / "warehouse" / "shop" / name)

    def rows(self, name: str) -> list[tuple[object, ...]]:
        """The rows of a table of the pipeline, sorted."""
        found = self.table(name).scan().to_arrow()
        names = [each for each in found.column_names if not each.startswith("__spark")]
        return sorted(tuple(row.values()) for row in found.select(names).to_pylist())


def test_a_pipeline_of_every_kind_of_table_follows_its_sources(
    tmp_path: Path, port_of_connect: None
) -> None:
    project = Project(tmp_path / "shop")
    for name in ("orders", "web", "app"):
        project.raw.table(name).append({"id": [1, 2], "city": ["oslo", "bern"], "n": [3, 30]})
    project.raw.table("changes").append(
        {"id": [1, 2], "name": ["ann", "bob"], "op": ["insert"] * 2, "seq": [1, 2]}
    )
    project.run()
    assert project.rows("orders") == [(1, "oslo", 3), (2, "bern", 30)]
    assert project.rows("large") == [(2, "bern", 30)]
    assert project.rows("small") == [(1, "oslo", 3)]
    assert project.rows("totals") == [("bern", 30), ("oslo", 3)]
    assert project.rows("cities") == [("bern",)]
    assert project.rows("events") == [(1, "oslo", 3)] * 2 + [(2, "bern", 30)] * 2
    assert project.table("large").partitioning == ("city",)
    assert project.table("large").properties["compaction.auto"] == "true"
    if HAS_AUTO_CDC:
        assert project.rows("customers") == [(1, "ann"), (2, "bob")]
        assert project.rows("names") == [(1, "ann", 1, None), (2, "bob", 2, None)]

    for name in ("orders", "web"):
        project.raw.table(name).append({"id": [3], "city": ["oslo"], "n": [40]})
    project.raw.table("changes").append(
        {
            "id": [1, 2, 2],
            "name": ["eve", "old", None],
            "op": ["u", "u", "delete"],
            "seq": [4, 1, 5],
        }
    )
    project.run()
    assert project.rows("orders") == [(1, "oslo", 3), (2, "bern", 30), (3, "oslo", 40)]
    assert project.rows("large") == [(2, "bern", 30), (3, "oslo", 40)]
    assert project.rows("totals") == [("bern", 30), ("oslo", 43)]
    assert project.rows("cities") == [("bern",), ("oslo",)]
    assert len(project.rows("events")) == 5
    if HAS_AUTO_CDC:
        assert project.rows("customers") == [(1, "eve")]
        of_two = [(2, "bob", 2, 5), (2, "old", 1, 2)]
        assert project.rows("names") == [(1, "ann", 1, 4), (1, "eve", 4, None), *of_two]


def test_a_full_refresh_empties_a_streaming_table_and_reads_its_source_again(
    tmp_path: Path, port_of_connect: None
) -> None:
    project = Project(tmp_path / "shop")
    orders = project.raw.table("orders")
    orders.append({"id": [1, 2], "city": ["oslo", "bern"], "n": [3, 30]})
    project.run()
    orders.delete("id = 1")
    project.run("--full-refresh", "orders,small")
    assert project.rows("orders") == [(2, "bern", 30)]
    assert project.rows("small") == []
    assert project.rows("large") == [(2, "bern", 30)]
