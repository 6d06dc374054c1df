"""The jar of the Spark source that belongs to this package; this module does not import Spark."""

from __future__ import annotations

import importlib
import sys
import zipfile
from pathlib import Path
from types import ModuleType

from colonnade.manifests.errors import InvalidInputError, NotFoundError
from colonnade.manifests.public import public
from colonnade.manifests.version import VERSION

PACKAGE = Path(__file__).resolve().parent
JAR = PACKAGE / "colonnade-spark.jar"
BUILD = PACKAGE / "java" / "build.py"
IMPORT_FOLDER = Path(__file__).absolute().parents[2]
"""The folder that Python imports `colonnade` from; in the tree, by the links in `colonnade/`."""


@public
def jar_path() -> Path:
    """Return the path of the jar that belongs to this package.

    Raises `NotFoundError` if the jar was not built, or was left out of an installation without a
    JDK. Raises `InvalidInputError` if it has another version or, in a checkout of the sources, was
    built from other sources.
    """
    build = f"build it with: {sys.executable} {BUILD}"
    if not JAR.exists() and BUILD.exists():
        raise NotFoundError(f"The jar of the Spark source, {JAR}, does not exist; {build}.")
    if not JAR.exists():
        raise NotFoundError(
            "Colonnade was installed without the jar of its Spark source, because it was built "
            "without a JDK: install a JDK, 17 or newer, and repeat the installation with "
            "pip install --force-reinstall --no-deps --no-cache-dir."
        )
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
