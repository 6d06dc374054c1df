"""Runs Delta Lake's own suite of its Python tables on tables of Colonnade.

`python -m tests.spark_ext.delta_suite FILE` takes `python/delta/tests/test_deltatable.py` of the
repository of Delta. `WORDS` are replaced in its text, and `DeltaTable` is a `Table` with the few
methods whose arguments or results differ. The last line that it prints is a JSON object: for each
test, its error, or null if it passes.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
import tempfile
import types
import unittest
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession

import colonnade
from tests.spark_ext.java_names import keep_java_names

WORDS = {
    "USING DELTA": "USING colonnade",
    "delta.`": "colonnade.`",
    '"delta"': '"colonnade"',
    "'delta'": "'colonnade'",
    # Errors of wrong arguments, and their sentences.
    "(TypeError": "(InvalidInputError",
    "(ValueError": "(InvalidInputError",
    "(UnsupportedOperationException)": "(InvalidInputError)",
    '"cannot be None"': '"Give the values by column"',
    '"must be a dict"': '"Give the values by column"',
    '"must be a Spark SQL Column or a string"': '"must be text or a Column|Give the values"',
    '"Values of dict in .* must contain only"': '"value of column .* must be text or a Column"',
    '"Keys of dict in .* must contain only"': '"name of a column to set must be text"',
    '"must be DataFrame"': '"must be a DataFrame"',
    "The provided timestamp ('05/04/1999') ": "'05/04/1999' ",
    "cannot be converted to a valid timestamp": "is not a time",
    "timestamp needs to be a string but got '<class 'int'>'": "must be a datetime or ISO 8601 text",
}
"""Words of Delta, and those of Colonnade in their place."""

COUNTED = (
    "num_affected_rows long, num_updated_rows long, num_deleted_rows long, num_inserted_rows long"
)


class DeltaTable(colonnade.Table):
    """A table by the name that the suite imports."""

    isDeltaTable = colonnade.Table.isColonnadeTable

    def merge(self, source: DataFrame, condition: str | Column) -> colonnade.MergeBuilder:
        """Have `execute` return its counts as a DataFrame, as Delta does."""
        builder = super().merge(source, condition)
        run = builder.execute

        def execute() -> DataFrame:
            counts = run()
            each = (counts.rows_updated, counts.rows_deleted or 0, counts.rows_inserted)
            return self._spark.createDataFrame([(sum(each), *each)], COUNTED)

        builder.execute = execute  # type: ignore[assignment,method-assign]
        return builder

    def restoreToVersion(self, version: int | str) -> DataFrame:
        """Take the versions of Delta, which number the epochs of one table from 0."""
        if isinstance(version, int):
            version = sorted(row.version for row in self.history().collect())[version]
        return super().restoreToVersion(version)


class DeltaTestCase(unittest.TestCase):
    """What the suite takes from `delta.testing.utils`."""

    spark: SparkSession

    def setUp(self) -> None:
        self.tempPath = tempfile.mkdtemp()
        self.tempFile = f"{self.tempPath}/tempFile"

    def tearDown(self) -> None:
        shutil.rmtree(self.tempPath)

    @contextmanager
    def tempTable(self) -> Iterator[str]:
        name = "table_" + str(uuid.uuid4()).replace("-", "_")
        try:
            yield name
        finally:
            self.spark.sql(f"DROP TABLE IF EXISTS {name}")


def stand_in(name: str, **members: Any) -> None:
    """Have `import` find these members in a module of Delta's package."""
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__dict__.update(members)


def suite(file: Path) -> type[unittest.TestCase]:
    """The tests of the file, in the words of Colonnade."""
    for package in ("delta", "delta.testing"):
        stand_in(package)
    stand_in(
        "delta.tables",
        DeltaTable=DeltaTable,
        DeltaTableBuilder=colonnade.TableBuilder,
        DeltaOptimizeBuilder=colonnade.OptimizeBuilder,
        IdentityGenerator=colonnade.IdentityColumn,
    )
    stand_in("delta.testing.utils", DeltaTestCase=DeltaTestCase)
    text = file.read_text("utf-8")
    for word, ours in WORDS.items():
        text = text.replace(word, ours)
    names = {"__name__": "suite", "InvalidInputError": colonnade.InvalidInputError}
    exec(compile(text, str(file), "exec"), names)
    found: Any = names["DeltaTableTests"]
    assert issubclass(found, DeltaTestCase)
    return found


def errors_of(tests: type[unittest.TestCase]) -> dict[str, str | None]:
    """Run the tests, and return the first line of the error of each that does not pass."""
    loaded = unittest.defaultTestLoader.loadTestsFromTestCase(tests)
    result = unittest.TestResult()
    loaded.run(result)
    errors: dict[str, str | None] = {
        name: None for name in unittest.defaultTestLoader.getTestCaseNames(tests)
    }
    for test, text in [*result.failures, *result.errors]:
        print(text)
        _, _, last = text.rpartition("Traceback (most recent call last):\n")
        errors[test.id().rpartition(".")[2]] = re.findall(r"^\S.*", last, re.MULTILINE)[0]
    return errors


def main() -> None:
    """Run the file that the command line names."""
    folder = tempfile.mkdtemp()
    builder = SparkSession.builder.master("local[2]").config("spark.driver.memory", "1g")
    for name in ("spark.ui.enabled", "spark.ui.showConsoleProgress"):
        builder.config(name, "false")
    builder.config("spark.sql.ui.explainMode", "simple")  # nobody reads it, and it takes time
    builder.config("spark.sql.shuffle.partitions", "2")
    builder.config("spark.sql.warehouse.dir", folder)
    DeltaTestCase.spark = colonnade.configure(builder).getOrCreate()
    keep_java_names()
    DeltaTestCase.spark.sparkContext.setLogLevel("OFF")
    try:
        errors = errors_of(suite(Path(sys.argv[1])))
    finally:
        DeltaTestCase.spark.stop()
        shutil.rmtree(folder)
    print(json.dumps(errors))


if __name__ == "__main__":
    main()
