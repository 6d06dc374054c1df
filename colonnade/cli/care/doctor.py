"""`doctor`: check that this machine has what Colonnade needs, and what a store can do."""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.text import Text

from colonnade.cli.arguments import JsonOption
from colonnade.cli.exit_codes import ExitCode
from colonnade.cli.output import Output, rows_table
from colonnade.cli.places import open_place
from colonnade.manifests.errors import ColonnadeError, NotFoundError
from colonnade.manifests.sizes import size_text
from colonnade.manifests.store import LocalStore, ObjectStore, StoreAddress
from colonnade.manifests.version import VERSION
from colonnade.spark_ext.jar import jar_path

Status = Literal["ok", "absent", "problem"]

_PYTHONS = ((3, 10), (3, 14))
_SPARKS = ("4.1", "4.2", "4.3")
_LEAST_JAVA = 17
_PACKAGES = (
    *("fsspec", "google-crc32c", "numpy", "orjson", "pyarrow", "pydantic", "pyroaring", "sqlglot"),
    "xxhash",
)
_STYLES = {"ok": "green", "absent": "yellow", "problem": "bold red"}


@dataclass(frozen=True, slots=True)
class Check:
    """The result of one check; `absent` is missing, but only some work needs it."""

    what: str
    status: Status
    found: str


def doctor(
    database: Annotated[
        StoreAddress | None,
        typer.Argument(metavar="[DATABASE]", help="Check this database and its store, too."),
    ] = None,
    start_spark: Annotated[
        bool, typer.Option("--start-spark", help="Also start a Spark session and ask its planner.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Check Python, Java, pyspark, the jar, and what the store of a database can do.

    Exits with code 10 if a check finds a problem. Something that is absent is not a problem.
    """
    spark = check_spark()
    checks = [check_python(sys.version_info[:2]), *check_packages(), check_java(), spark]
    checks.append(check_jar(needed=spark.status != "absent"))
    if start_spark:
        checks.append(_check_session(spark))
    if database is not None:
        checks += _check_store(database)
    view = rows_table(
        ("", "", ""),
        [(c.what, Text(c.status, style=_STYLES[c.status]), c.found) for c in checks],
    )
    Output(json).show(checks, view)
    if any(check.status == "problem" for check in checks):
        raise typer.Exit(ExitCode.MISSING)


def check_python(version: tuple[int, ...]) -> Check:
    """Check that this version of Python is supported."""
    least, most = _PYTHONS
    found = f"{'.'.join(map(str, version))} at {sys.executable}"
    if least <= version <= most:
        return Check("Python", "ok", found)
    return Check("Python", "problem", f"{found}; 3.{least[1]} to 3.{most[1]} are supported")


def check_packages() -> list[Check]:
    """List the packages that Colonnade always needs, with their versions."""
    found = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in _PACKAGES)
    checks = [Check("Colonnade", "ok", VERSION), Check("packages", "ok", found)]
    implementation = importlib.import_module("google_crc32c").implementation
    if implementation != "c":
        slow = f"google-crc32c computes in {implementation}; a build in C is many times faster"
        checks.append(Check("checksums", "problem", slow))
    return checks


def check_java() -> Check:
    """Check the Java that Spark would start."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home, "bin", "java")) if home else shutil.which("java")
    if java is None or not Path(java).exists():
        return Check("Java", "absent", f"no {java or 'java'}; Spark needs 17 or newer")
    try:
        answer = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)
    except OSError as error:
        return Check("Java", "problem", f"{java} cannot be run: {error.strerror}")
    version = re.search(r'version "(\d+)[^"]*"', answer.stderr)
    if version is None:
        return Check("Java", "problem", f"{java} -version says: {answer.stderr.strip()[:200]}")
    found = f"{version[0].split(chr(34))[1]} at {java}"
    if int(version[1]) < _LEAST_JAVA:
        return Check("Java", "problem", f"{found}; Spark needs 17 or newer")
    return Check("Java", "ok", found)


def check_spark() -> Check:
    """Check the pyspark that Python would import."""
    try:
        version = importlib.metadata.version("pyspark")
    except importlib.metadata.PackageNotFoundError:
        return Check("pyspark", "absent", "not installed; all but Spark works: colonnade[spark]")
    # Python imports another pyspark if that one comes first on the path.
    version = str(importlib.import_module("pyspark").__version__ or version)
    if version.startswith(tuple(f"{line}." for line in _SPARKS)):
        return Check("pyspark", "ok", version)
    return Check("pyspark", "problem", f"{version}; supported are {', '.join(_SPARKS)}")


def check_jar(needed: bool) -> Check:
    """Check the jar of the Spark source, which may be absent if it is not needed."""
    try:
        return Check("jar", "ok", str(jar_path()))
    except NotFoundError as error:
        return Check("jar", "problem" if needed else "absent", error.message)
    except ColonnadeError as error:
        return Check("jar", "problem", error.message)


def _check_session(spark: Check) -> Check:
    """Start Spark and check that its planner answers."""
    if spark.status == "absent":
        return Check("session", "problem", "pyspark is not installed")
    try:
        session = importlib.import_module("colonnade.cli.spark_session").start()
        found: Any = importlib.import_module("colonnade.spark_ext.doctor").doctor(session)
    except ColonnadeError as error:
        return Check("session", "problem", error.message)
    return Check("session", "ok", f"Spark {found.spark}, {found.source} source")


def _check_store(path: StoreAddress) -> list[Check]:
    """Check that the log of a database can be read, and what its store can do."""
    try:
        place = open_place(path)
    except ColonnadeError as error:
        return [Check("database", "problem", error.message)]
    checks = [Check("database", "ok", f"{place.location.store.url} at epoch {place.head.epoch}")]
    return [*checks, _check_writing(place.location.store)]


def _check_writing(store: ObjectStore) -> Check:
    try:
        store.require_writable()
    except ColonnadeError as error:
        return Check("store", "absent", f"read only: {error.message}")
    if isinstance(store, LocalStore):
        free = size_text(shutil.disk_usage(store.url).free)
        if not os.access(store.url, os.W_OK):
            return Check("store", "problem", f"local disk, {free} free; this user may not write")
        return Check("store", "ok", f"local disk, {free} free; commits are atomic and durable")
    return Check("store", "ok", "commits are atomic and durable")
