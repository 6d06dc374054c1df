"""A session beside a bucket of a real S3 server, which it reaches through S3A."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import colonnade
from tests.setup.minio import Minio
from tests.spark_ext.java.spark_shell import SparkShell


class Lake:
    """A bucket of its own, and a session with the settings to reach it."""

    def __init__(self, shell: SparkShell, minio: Minio) -> None:
        self.shell = shell
        self.bucket = minio.new_bucket()
        self.folder = minio.folder / "data" / self.bucket
        self.options = minio.options()

    def keys(self, within: str) -> list[str]:
        """The keys below a folder, as the server's disk has them, without the log's."""
        found = (self.folder / within).rglob("xl.meta")
        keys = [str(path.parent.relative_to(self.folder)) for path in found]
        return sorted(key for key in keys if "/_manifest/" not in key)


@contextmanager
def settings(shell: SparkShell, **given: str | None) -> Iterator[None]:
    """Set settings of the session, or unset those that are None, and put them back at the end."""
    before = {name: shell.run(f"spark.conf.get({name!r}, None)") for name in given}
    try:
        change(shell, given)
        yield
    finally:
        change(shell, before)


def change(shell: SparkShell, settings: Mapping[str, str | None]) -> None:
    for name, value in settings.items():
        call = f"unset({name!r})" if value is None else f"set({name!r}, {value!r})"
        shell.run(f"spark.conf.{call}")


def python_rows(lake: Lake, url: str) -> int:
    """The rows of a table, as Python counts them without Spark."""
    return colonnade.open(url, lake.options).scan().to_arrow().num_rows
