"""The build backend of the wheel: setuptools, with the jar made before.

A jar in the tree that was built from these sources goes into the wheel unchanged, so that a wheel
can be built without Java and pyspark. Otherwise the build requires pyspark, to compile against.
"""

from __future__ import annotations

from typing import Any

from setuptools import build_meta
from setuptools.build_meta import (
    build_sdist,
    get_requires_for_build_sdist,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

# Named otherwise, it would load `colonnade`, and a build has nothing that this imports.
from . import build

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]

PYSPARK = "pyspark>=4.1,<4.4"


def get_requires_for_build_wheel(config_settings: Any = None) -> list[str]:
    """What the isolated environment of a build needs beside setuptools."""
    return [] if build.is_current() else [PYSPARK]


def build_wheel(
    wheel_directory: str, config_settings: Any = None, metadata_directory: str | None = None
) -> str:
    """A wheel with the jar in it."""
    build.build()
    return str(build_meta.build_wheel(wheel_directory, config_settings, metadata_directory))


def build_editable(
    wheel_directory: str, config_settings: Any = None, metadata_directory: str | None = None
) -> str:
    """Build a wheel that points to this tree and its jar."""
    build.build()
    return str(build_meta.build_editable(wheel_directory, config_settings, metadata_directory))


get_requires_for_build_editable = get_requires_for_build_wheel
