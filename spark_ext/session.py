"""Give a Spark session Colonnade's jar, extension, catalogs and planner in one call.

spark = colonnade.configure(SparkSession.builder.master("local[*]")).getOrCreate()
spark = colonnade.enable(spark)  # for a session that already runs, classic or Spark Connect
spark = colonnade.session()      # the running session, or else a new one
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from colonnade.manifests.errors import ColonnadeError, InvalidInputError
from colonnade.manifests.public import public
from colonnade.manifests.version import VERSION
from colonnade.spark_ext.doctor import doctor, extend
from colonnade.spark_ext.jar import IMPORT_FOLDER, JAR, jar_path
from colonnade.spark_ext.launch_settings import JARS, launch_settings, running_jvm
from colonnade.spark_ext.settings import (
    CATALOG,
    CATALOG_CLASS,
    DEFAULT_REDACTION,
    DEFAULT_SQL_REDACTION,
    PYTHON,
    PYTHON_PATH,
    REDACTION,
    SECRETS,
    SESSION_CATALOG,
    SESSION_CATALOG_CLASS,
    SQL_REDACTION,
    WORKERS_PYTHON,
)
from colonnade.spark_ext.supported import is_supported, needed


class PlannerError(ColonnadeError):
    """The planner process could not be started beside the driver."""

    kind = "PLANNER"


@public
def configure(builder: SparkSession.Builder) -> SparkSession.Builder:
    """Have `builder` create sessions with Colonnade; return `builder`.

    Its `getOrCreate` and `create` end with `enable`, and raise the errors of `enable`. Jars and
    settings of the builder, of `spark-submit` and of `spark-defaults.conf` stay. Raises the errors
    of `jar_path`.
    """
    jar = jar_path()
    options: dict[str, str] = builder._options
    if not _is_remote(options.get("spark.remote")) and _running() is None:
        _prepare(builder, options, jar)
    for name in ("getOrCreate", "create"):
        setattr(builder, name, _enabled(getattr(builder, name)))
    return builder


@public
def session() -> SparkSession:
    """Return the running session, or start one, with Colonnade; raises the errors of `enable`."""
    running = _running()
    return configure(SparkSession.builder).getOrCreate() if running is None else enable(running)


@public
def enable(spark: SparkSession) -> SparkSession:
    """Add the jar, its extension, the catalogs and the planner's Python; return `spark`.

    The call may be repeated. A session from `spark.newSession()` needs its own call. The call
    starts the planner, so that problems show here and not in a later query. The server of a remote
    Spark Connect session runs the planner with its own Python.

    If nothing says which Python runs on workers, they run this one. A catalog that someone has set
    stays; `doctor` tells.

    Raises `PlannerError` that says which Python could not start the planner and why. Raises
    `InvalidInputError` if Spark already has a jar of another version, or if Spark is too old.
    """
    if not is_supported(spark.version):
        raise InvalidInputError(
            f"Colonnade needs {needed()}, but this session runs Spark {spark.version}: install"
            " colonnade[spark], or connect to a newer server."
        )
    before = doctor(spark)
    if before.jar_version not in (None, VERSION):
        raise InvalidInputError(
            f"This Spark session already has the jar of Colonnade {before.jar_version}, but the "
            f"Python package is version {VERSION}: install one version and restart Spark."
        )
    local = not is_connect(spark) or "SPARK_LOCAL_REMOTE" in os.environ
    if before.jar_version is None:
        _add_jar(spark, jar_path())
    if not is_connect(spark):
        _add_to_executors(spark)
        chosen = spark.sparkContext.getConf().get(WORKERS_PYTHON)
        spark.sparkContext.pythonExec = _workers_python(chosen)
    for name, value in _settings(local, spark.conf.get(PYTHON, None)).items():
        if spark.conf.get(name, None) in (None, "builtin"):
            spark.conf.set(name, value)
    shown = spark.conf.get(SQL_REDACTION, None) or DEFAULT_SQL_REDACTION
    spark.conf.set(SQL_REDACTION, _with_secrets(shown))
    extend(spark)
    after = doctor(spark)
    if after.problem is not None:
        raise PlannerError(after.problem)
    spark.catalog.currentDatabase()  # makes Spark load the catalog, which some statements skip
    return spark


def _enabled(start: Callable[[], SparkSession]) -> Callable[[], SparkSession]:
    return lambda: enable(start())


def _running() -> SparkSession | None:
    """Return the session that a builder would return instead of a new one."""
    active = SparkSession.getActiveSession()
    if active is not None:
        return active
    first = SparkSession._instantiatedSession
    return None if first is None or first._sc._jsc is None else first


def _prepare(builder: SparkSession.Builder, options: dict[str, str], jar: Path) -> None:
    """Set what a session can only have from its start, and what its later sessions share."""
    outside = launch_settings()
    jars = [each for each in options.get(JARS, outside.get(JARS, "")).split(",") if each]
    builder.config(JARS, ",".join(dict.fromkeys([*jars, str(jar)])))
    python = options.get(PYTHON, outside.get(PYTHON))
    for name, value in _settings(local=True, python=python).items():
        if name not in options and name not in outside:
            builder.config(name, value)
    for name, default in ((REDACTION, DEFAULT_REDACTION), (SQL_REDACTION, DEFAULT_SQL_REDACTION)):
        shown = options.get(name, outside.get(name, default))
        builder.config(name, _with_secrets(shown))
    _workers_python(options.get(WORKERS_PYTHON, outside.get(WORKERS_PYTHON)))
    jvm = running_jvm()
    if jvm is not None:
        _add_to_driver(jvm, jar)


def _workers_python(chosen: str | None) -> str:
    """Return the Python of workers, which is this one if neither a user nor a setting chose.

    PySpark looks into the environment alone.
    """
    os.environ["PYSPARK_PYTHON"] = os.environ.get("PYSPARK_PYTHON") or chosen or sys.executable
    return os.environ["PYSPARK_PYTHON"]


def _with_secrets(pattern: str) -> str:
    """Return a pattern of names that Spark hides, with those of storage options."""
    return pattern if SECRETS in pattern else f"{pattern}|{SECRETS}"


def _is_remote(address: str | None) -> bool:
    """Whether a builder with this `spark.remote` would connect to a running server."""
    return (address or os.environ.get("SPARK_REMOTE", "")).startswith("sc://")


def is_connect(spark: SparkSession) -> bool:
    """Whether `spark` talks to a server through Spark Connect."""
    return ".connect." in type(spark).__module__


def _add_jar(spark: SparkSession, jar: Path) -> None:
    """Add the classes of `jar` to all threads of the driver."""
    if is_connect(spark):
        spark.addArtifacts(str(jar))
        return
    _add_to_driver(spark.sparkContext._jvm, jar)


def _add_to_executors(spark: SparkSession) -> None:
    """Have executors load the jar, which Spark does by itself for each of `spark.jars`."""
    context = spark.sparkContext._jsc
    if JAR.name not in context.sc().listJars().mkString(","):
        context.addJar(str(jar_path()))


def _add_to_driver(jvm: Any, jar: Path) -> None:
    """Add the classes of `jar` to all threads of the driver."""
    # ADD JAR affects only the calling thread, and the classic addArtifacts silently ignores jars.
    # The jar is therefore added where `spark.jars` would add it: to the class loader that all
    # threads of the driver inherit.
    loader = parent = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    while parent.getClass().getName().startswith("org.apache.spark.util."):
        loader, parent = parent, parent.getParent()
    loader.addURL(jvm.java.net.URL(jar.as_uri()))


def _settings(local: bool, python: str | None) -> dict[str, str]:
    """Return the settings that a session needs; `local` if its driver runs on this machine.

    `python` is the planner's, if someone has chosen it. Another one has packages of its own.
    """
    settings = {CATALOG: CATALOG_CLASS, SESSION_CATALOG: SESSION_CATALOG_CLASS}
    if local and python in (None, sys.executable):
        settings |= {PYTHON: sys.executable, PYTHON_PATH: str(IMPORT_FOLDER)}
    return settings
