"""A database that several tests share until one of them changes it.

Most tests of statements that are refused change nothing. Statements of Spark are what these tests
take time for, and those that make the tables are more than the one that is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.spark_ext.java.spark_shell import SparkShell


class KeptDatabase:
    """`colonnade.NAME` as `statements` make it."""

    def __init__(self, shell: SparkShell, name: str, statements: Sequence[str] = ()) -> None:
        """Make nothing yet. The statements run in their order, after the database is created."""
        self.shell = shell
        self._name = name
        self._statements = statements
        self._folder = shell.folder / "warehouse" / name
        self._made: set[Path] = set()

    def ready(self) -> SparkShell:
        """Return the shell, with the database made anew if any object of it came or went.

        Each change of a table is an object more: the log is never written over.
        """
        if not self._made or self._objects() != self._made:
            self.drop()
            self.shell.sql(f"CREATE DATABASE colonnade.{self._name}")
            for statement in self._statements:
                self.shell.sql(statement)
            self._made = self._objects()
        return self.shell

    def drop(self) -> None:
        """Drop the database, if it is there."""
        self.shell.sql(f"DROP DATABASE IF EXISTS colonnade.{self._name} CASCADE")

    def _objects(self) -> set[Path]:
        return set(self._folder.rglob("*"))


def kept_database(name: str, *statements: str) -> Any:
    """Return a fixture of a module: the database `colonnade.NAME`, which is dropped at the end."""

    @pytest.fixture(scope="module")
    def database(spark_shell: SparkShell) -> Iterator[KeptDatabase]:
        kept = KeptDatabase(spark_shell, name, statements)
        yield kept
        kept.drop()

    return database
