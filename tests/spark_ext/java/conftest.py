"""The compiled tools and one JVM for all tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.spark_ext.java.read_tool import ReadTool, compile_tools
from tests.spark_ext.java.spark_shell import SparkShell
from tests.spark_ext.java.write_tool import WriteTool


@pytest.fixture(scope="session")
def class_path(tmp_path_factory: pytest.TempPathFactory) -> str:
    return compile_tools(tmp_path_factory.mktemp("classes"))


@pytest.fixture(scope="session")
def tool(class_path: str) -> Iterator[ReadTool]:
    with ReadTool(class_path) as running:
        yield running


@pytest.fixture(scope="session")
def spark_shell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkShell]:
    """One Spark with the jar for all tests that send it statements."""
    with SparkShell(tmp_path_factory.mktemp("shell")) as shell:
        yield shell


@pytest.fixture(scope="session")
def writer(class_path: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[WriteTool]:
    with WriteTool(class_path, tmp_path_factory.mktemp("writer")) as running:
        yield running


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A new folder each time."""
    return (tmp_path_factory.mktemp("db") for _ in iter(int, 1))
