"""The one call that gives a Spark session Colonnade's jar, catalog and planner.

spark = colonnade.configure(SparkSession.builder.master("local[*]")).getOrCreate()
spark = colonnade.enable(spark)  # a session that runs already, classic or Spark Connect
spark = colonnade.session()      # the running one, or else a new one
"""

from __future__ import annotations

import importlib
import os
import sys
import zipfile
from pathlib import Path
from types import ModuleType

from pyspark.sql import SparkSession

from colonnade.manifests.errors import ColonnadeError, InvalidInputError, NotFoundError
from colonnade.manifests.version import VERSION
from colonnade.spark_ext.doctor import doctor
from colonnade.spark_ext.settings import (
    CATALOG,
    CATALOG_CLASS,
    EXTENSION_CLASS,
    EXTENSIONS,
    PYTHON,
    PYTHON_PATH,
    SESSION_CATALOG,
    SESSION_CATALOG_CLASS,
)
from colonnade.spark_ext.supported import is_supported, needed

PACKAGE = Path(__file__).resolve().parent
JAR = PACKAGE / "colonnade-spark.jar"
BUILD = PACKAGE / "java" / "build.py"


class PlannerError(ColonnadeError):
    """The planner could not be started beside the driver."""

    kind = "PLANNER"


def configure(builder: SparkSession.Builder) -> SparkSession.Builder:
    """Have the session that `builder` makes start with Colonnade; returns `builder`.

    Jars and settings that it has already stay. `getOrCreate()` ignores jars where Spark runs
    already: use `enable` there. Raises `InvalidInputError` for the address of a Spark Connect
    server, whose settings are its own; `enable` its session, too.
    """
    options: dict[str, str] = builder._options
    if _is_remote(options.get("spark.remote")):
        raise InvalidInputError(
            "configure() cannot add a jar to a Spark Connect server that runs already: make the "
            "session and call colonnade.enable(spark)."
        )
    jars = [jar for jar in options.get("spark.jars", "").split(",") if jar]
    builder.config("spark.jars", ",".join([*jars, str(jar_path())]))
    extensions = [name for name in options.get(EXTENSIONS, "").split(",") if name]
    if EXTENSION_CLASS not in extensions:
        builder.config(EXTENSIONS, ",".join([*extensions, EXTENSION_CLASS]))
    for name, value in _settings(local=True).items():
        if name not in options:
            builder.config(name, value)
    return builder


def session() -> SparkSession:
    """The running session, or else a new one, with Colonnade in it; fails as `enable` does."""
    running = SparkSession.getActiveSession()
    if running is None:
        builder = SparkSession.builder
        running = (builder if _is_remote(None) else configure(builder)).getOrCreate()
    return enable(running)


def enable(spark: SparkSession) -> SparkSession:
    """Give the running session `spark` the jar, the catalog and the python; returns `spark`.

    May be called again; a session made by `spark.newSession()` needs its own call. Starts the
    planner, so that what is wrong is said here: `PlannerError` says which Python could not start
    it and why; `InvalidInputError` names both versions where Spark already has another jar, and
    Spark's where that is too old. The server of a remote Spark Connect session plans with its own
    Python.
    """
    if not is_supported(spark.version):
        raise InvalidInputError(
            f"Colonnade needs {needed()}, but this session runs Spark {spark.version}: install"
            " colonnade[spark], or name a newer server."
        )
    before = doctor(spark)
    if before.jar_version not in (None, VERSION):
        raise InvalidInputError(
            f"This Spark session already has the jar of Colonnade {before.jar_version}, but the "
            f"Python package is version {VERSION}: install one version and start Spark anew."
        )
    local = not is_connect(spark) or "SPARK_LOCAL_REMOTE" in os.environ
    if before.jar_version is None:
        _add_jar(spark, jar_path())
    for name, value in _settings(local).items():
        if spark.conf.get(name, None) in (None, "builtin"):
            spark.conf.set(name, value)
    after = doctor(spark)
    if after.problem is not None:
        raise PlannerError(after.problem)
    spark.catalog.currentDatabase()  # has Spark load the catalog, which some statements skip
    return spark


def _is_remote(address: str | None) -> bool:
    """Whether a builder with this `spark.remote` would call a server that runs already."""
    return (address or os.environ.get("SPARK_REMOTE", "")).startswith("sc://")


def is_connect(spark: SparkSession) -> bool:
    """Whether `spark` talks to a server through Spark Connect."""
    return ".connect." in type(spark).__module__


def _add_jar(spark: SparkSession, jar: Path) -> None:
    """Make the classes of `jar` known to the driver, in all of its threads, and to executors."""
    if is_connect(spark):
        spark.addArtifacts(str(jar))
        return
    # ADD JAR would serve the calling thread alone, and classic addArtifacts ignores jars without
    # a word. So the jar goes where `spark.jars` would have put it: into the loader that all
    # threads of the driver inherit.
    jvm = spark.sparkContext._jvm
    assert jvm is not None
    loader = parent = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    while parent.getClass().getName().startswith("org.apache.spark.util."):
        loader, parent = parent, parent.getParent()
    loader.addURL(jvm.java.net.URL(jar.as_uri()))
    spark.sparkContext._jsc.addJar(str(jar))


def _settings(local: bool) -> dict[str, str]:
    """What a session needs beside the jar; `local`: its driver runs on this machine."""
    settings = {CATALOG: CATALOG_CLASS, SESSION_CATALOG: SESSION_CATALOG_CLASS}
    if local:
        settings |= {PYTHON: sys.executable, PYTHON_PATH: str(PACKAGE.parent)}
    return settings


def jar_path() -> Path:
    """The jar that belongs to this package.

    Raises `NotFoundError` where it was not built, `InvalidInputError` where it is of another
    version, or, in a checkout of the sources, of other sources.
    """
    build = f"build it with: {sys.executable} {BUILD}"
    if not JAR.exists():
        raise NotFoundError(f"The jar of the Spark source, {JAR}, does not exist; {build}.")
    version = _version_of(JAR)
    if version != VERSION:
        raise InvalidInputError(
            f"The jar {JAR} is version {version}, but the Python package is version {VERSION}: "
            "install one version of both."
        )
    if BUILD.exists() and not _build_script().is_current(JAR):
        raise InvalidInputError(f"The jar {JAR} is older than its sources; {build}.")
    return JAR


def _version_of(jar: Path) -> str:
    with zipfile.ZipFile(jar) as archive:
        text = archive.read("META-INF/MANIFEST.MF").decode()
    fields = dict(line.split(": ", 1) for line in text.splitlines() if ": " in line)
    return fields.get("Implementation-Version", "unknown")


def _build_script() -> ModuleType:
    """`java/build.py`, which is in a checkout of the sources only."""
    return importlib.import_module("colonnade.spark_ext.java.build")
