"""Give a Spark session Colonnade's jar, catalog and planner in one call.

spark = colonnade.configure(SparkSession.builder.master("local[*]")).getOrCreate()
spark = colonnade.enable(spark)  # for a session that already runs, classic or Spark Connect
spark = colonnade.session()      # the running session, or else a new one
"""

from __future__ import annotations

import importlib
import os
import sys
import zipfile
from pathlib import Path
from types import ModuleType

import pyspark
from pyspark.sql import SparkSession

from colonnade.manifests.errors import ColonnadeError, InvalidInputError, NotFoundError
from colonnade.manifests.version import VERSION
from colonnade.spark_ext.doctor import doctor
from colonnade.spark_ext.settings import (
    CATALOG,
    CATALOG_CLASS,
    DEFAULT_REDACTION,
    DEFAULT_SQL_REDACTION,
    EXTENSION_CLASS,
    EXTENSIONS,
    PYTHON,
    PYTHON_PATH,
    REDACTION,
    SECRETS,
    SESSION_CATALOG,
    SESSION_CATALOG_CLASS,
    SQL_REDACTION,
)
from colonnade.spark_ext.supported import is_supported, needed

PACKAGE = Path(__file__).resolve().parent
JAR = PACKAGE / "colonnade-spark.jar"
BUILD = PACKAGE / "java" / "build.py"


class PlannerError(ColonnadeError):
    """The planner process could not be started beside the driver."""

    kind = "PLANNER"


def configure(builder: SparkSession.Builder) -> SparkSession.Builder:
    """Add Colonnade to the session that `builder` will create; return `builder`.

    Existing jars and settings of the builder stay. If Spark already runs, `getOrCreate()` ignores
    jars; use `enable` then. Raises `InvalidInputError` for the address of a Spark Connect server,
    which has its own settings; use `enable` for its session, too.
    """
    options: dict[str, str] = builder._options
    if _is_remote(options.get("spark.remote")):
        raise InvalidInputError(
            "configure() cannot add a jar to a running Spark Connect server: create the session "
            "and call colonnade.enable(spark)."
        )
    jars = [jar for jar in options.get("spark.jars", "").split(",") if jar]
    builder.config("spark.jars", ",".join([*jars, str(jar_path())]))
    extensions = [name for name in options.get(EXTENSIONS, "").split(",") if name]
    if EXTENSION_CLASS not in extensions:
        builder.config(EXTENSIONS, ",".join([*extensions, EXTENSION_CLASS]))
    for name, value in _settings(local=True).items():
        if name not in options:
            builder.config(name, value)
    for name, default in ((REDACTION, DEFAULT_REDACTION), (SQL_REDACTION, DEFAULT_SQL_REDACTION)):
        if name in options or not _is_set_outside(name):
            builder.config(name, _with_secrets(options.get(name, default)))
    return builder


def session() -> SparkSession:
    """Return the running session, or start one, with Colonnade; raises the errors of `enable`."""
    running = SparkSession.getActiveSession()
    if running is None:
        builder = SparkSession.builder
        running = (builder if _is_remote(None) else configure(builder)).getOrCreate()
    return enable(running)


def enable(spark: SparkSession) -> SparkSession:
    """Add the jar, the catalog and the planner's Python to a running session; return `spark`.

    The call may be repeated. A session from `spark.newSession()` needs its own call. The call
    starts the planner, so that problems show here and not in a later query. The server of a remote
    Spark Connect session runs the planner with its own Python.

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
    for name, value in _settings(local).items():
        if spark.conf.get(name, None) in (None, "builtin"):
            spark.conf.set(name, value)
    shown = spark.conf.get(SQL_REDACTION, None) or DEFAULT_SQL_REDACTION
    spark.conf.set(SQL_REDACTION, _with_secrets(shown))
    after = doctor(spark)
    if after.problem is not None:
        raise PlannerError(after.problem)
    spark.catalog.currentDatabase()  # makes Spark load the catalog, which some statements skip
    return spark


def _with_secrets(pattern: str) -> str:
    """Return a pattern of names that Spark hides, with those of storage options."""
    return pattern if SECRETS in pattern else f"{pattern}|{SECRETS}"


def _is_set_outside(name: str) -> bool:
    """Whether Spark may have a setting from elsewhere, which one of the builder would replace.

    The places are the command `spark-submit` and the file `spark-defaults.conf`.
    """
    if "PYSPARK_GATEWAY_PORT" in os.environ:
        return True
    home = os.environ.get("SPARK_HOME") or str(Path(pyspark.__file__).parent)
    folder = os.environ.get("SPARK_CONF_DIR") or os.path.join(home, "conf")
    file = Path(folder, "spark-defaults.conf")
    defaults = file.read_text(errors="replace") if file.is_file() else ""
    return name in defaults or name in os.environ.get("PYSPARK_SUBMIT_ARGS", "")


def _is_remote(address: str | None) -> bool:
    """Whether a builder with this `spark.remote` would connect to a running server."""
    return (address or os.environ.get("SPARK_REMOTE", "")).startswith("sc://")


def is_connect(spark: SparkSession) -> bool:
    """Whether `spark` talks to a server through Spark Connect."""
    return ".connect." in type(spark).__module__


def _add_jar(spark: SparkSession, jar: Path) -> None:
    """Add the classes of `jar` to all threads of the driver and to the executors."""
    if is_connect(spark):
        spark.addArtifacts(str(jar))
        return
    # ADD JAR affects only the calling thread, and the classic addArtifacts silently ignores jars.
    # The jar is therefore added where `spark.jars` would add it: to the class loader that all
    # threads of the driver inherit.
    jvm = spark.sparkContext._jvm
    assert jvm is not None
    loader = parent = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    while parent.getClass().getName().startswith("org.apache.spark.util."):
        loader, parent = parent, parent.getParent()
    loader.addURL(jvm.java.net.URL(jar.as_uri()))
    spark.sparkContext._jsc.addJar(str(jar))


def _settings(local: bool) -> dict[str, str]:
    """Return the settings that a session needs; `local` if its driver runs on this machine."""
    settings = {CATALOG: CATALOG_CLASS, SESSION_CATALOG: SESSION_CATALOG_CLASS}
    if local:
        settings |= {PYTHON: sys.executable, PYTHON_PATH: str(PACKAGE.parent)}
    return settings


def jar_path() -> Path:
    """Return the path of the jar that belongs to this package.

    Raises `NotFoundError` if the jar was not built. Raises `InvalidInputError` if it has another
    version or, in a checkout of the sources, was built from other sources.
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
    """Import `java/build.py`, which only a checkout of the sources has."""
    return importlib.import_module("colonnade.spark_ext.java.build")
