"""The compiled tools and one JVM for all tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.spark_ext.java.queries.read_road import OLDER
from tests.spark_ext.java.read_tool import ReadTool, compile_tools
from tests.spark_ext.java.spark_shell import SparkShell
from tests.spark_ext.java.write_tool import WriteTool

GENERATED = {"large", "queries", "rows"}


@pytest.fixture(scope="session")
def class_path(tmp_path_factory: pytest.TempPathFactory) -> str:
    return compile_tools(tmp_path_factory.mktemp("classes"))


@pytest.fixture(scope="session")
def tool(class_path: str) -> Iterator[ReadTool]:
    with ReadTool(class_path) as running:
        yield running


@pytest.fixture(scope="session")
def only_spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkShell]:
    """One Spark with the jar for all tests that send it statements."""
    with SparkShell(tmp_path_factory.mktemp("shell")) as shell:
        yield shell


@pytest.fixture(scope="module")
def spark_shell(request: pytest.FixtureRequest, only_spark: SparkShell) -> SparkShell:
    """The one Spark. It generates code on an older version, and for folders in `GENERATED`.

    Elsewhere a statement runs once, and generating its code takes longer than running it.
    """
    generates = OLDER or not GENERATED.isdisjoint(request.path.parts)
    only_spark.run(f"spark.conf.set('spark.sql.codegen.wholeStage', {str(generates).lower()!r})")
    return only_spark


@pytest.fixture(scope="session")
def writer(class_path: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[WriteTool]:
    with WriteTool(class_path, tmp_path_factory.mktemp("writer")) as running:
        yield running


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A new folder each time."""
    return (tmp_path_factory.mktemp("db") for _ in iter(int, 1))
