"""The build hook of the package: hatchling has the jar made, and stops if a package is missing.

`pyproject.toml` maps the folders of the packages below `colonnade/`. The jar goes into the wheel if
a JDK is there to compile it, or if the tree has one of these sources. A wheel without the jar works
without Spark. `COLONNADE_JAR=yes` makes a build without the jar fail, and `no` leaves the jar out.
"""

from __future__ import annotations

import os
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


def load_build() -> ModuleType:
    """Import the script beside this one: a hook belongs to no package, and has no search path."""
    spec = spec_from_file_location("colonnade_jar", Path(__file__).with_name("build.py"))
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


build = load_build()
PYSPARK = "pyspark>=4.1,<4.4"
PACKAGES = ("colonnade", "manifests", "spark_ext", "tableformat")


class WheelHook(BuildHookInterface):  # type: ignore[misc]
    """What hatchling calls before it builds a wheel or a source archive."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """Return what a build needs beside hatchling: jars to compile against."""
        compiles = self.target_name == "wheel" and has_jar() and not build.is_current()
        return [PYSPARK] if compiles and not build.maven() else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Check that every package is there, and put the jar into a wheel.

        Raises `RuntimeError` if a package is missing, or if the jar is wanted and cannot be made.
        """
        for name in PACKAGES:
            if not Path(self.root, name, "__init__.py").is_file():
                raise RuntimeError(
                    f"{self.root} has no package {name}, which belongs to Colonnade."
                )
        if self.target_name == "wheel" and has_jar():
            build.build()
            if version == "standard":  # an editable one uses the jar in the tree
                target = f"colonnade/{build.JAR.relative_to(build.ROOT).as_posix()}"
                build_data["force_include"][str(build.JAR)] = target


def has_jar() -> bool:
    """Return whether a wheel that is built now has the jar in it."""
    choice = os.environ.get("COLONNADE_JAR", "auto")
    if choice not in ("auto", "yes", "no"):
        raise RuntimeError(f"COLONNADE_JAR is {choice!r}; set it to yes, no or auto.")
    if choice == "auto":
        return build.is_current() or build.find_javac() is not None
    return choice == "yes"
