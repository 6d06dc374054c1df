"""Trees of the project as people get them, and what hatchling builds in them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from colonnade.spark_ext.java.build import build as build_jar

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("colonnade", "manifests", "spark_ext", "tableformat")
MODULES = ("colonnade_command.py", "pyspark_colonnade.py")
FILES = (".gitignore", "LICENSE", "README.md", "pyproject.toml", *MODULES)
JAR = "spark_ext/colonnade-spark.jar"
WITHOUT_DEPENDENCIES = """
import sys

class Nothing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("pydantic", "pyarrow", "numpy", "orjson", "pyspark"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Nothing())
from hatchling.build import *
"""
"""What `pip install` builds in: an environment of its own, with hatchling alone."""


def copy_tree(place: Path) -> Path:
    """Copy what a build needs of this checkout, with its links and the jar."""
    build_jar()
    place.mkdir(parents=True)
    ignored = shutil.ignore_patterns("__pycache__")
    for name in PACKAGES:
        shutil.copytree(ROOT / name, place / name, symlinks=True, ignore=ignored)
    for name in FILES:
        shutil.copy(ROOT / name, place)
    return place


def git(folder: Path, *words: str) -> None:
    """Run git in a folder, without the settings of this machine."""
    own = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    names = ("-c", "user.name=t", "-c", "user.email=t@t", "-c", "init.defaultBranch=main")
    subprocess.run(["git", *names, *words], cwd=folder, env={**os.environ, **own}, check=True)


def build(tree: Path, what: str, jar: str = "auto") -> Path:
    """Build `wheel`, `sdist` or `editable` in a tree; return its file in a new folder."""
    folder = tree.with_name(f"{tree.name}-{what}-{jar}")
    folder.mkdir()
    done = build_in(tree, f"build_{what}({str(folder)!r})", jar)
    assert done.returncode == 0, done.stderr
    (made,) = folder.iterdir()
    return made


def build_in(tree: Path, call: str, jar: str = "auto") -> subprocess.CompletedProcess[str]:
    """Run a call of hatchling in a tree, with `COLONNADE_JAR` set to `jar`."""
    return subprocess.run(
        [sys.executable, "-c", f"{WITHOUT_DEPENDENCIES}\n{call}"],
        cwd=tree,
        env={**os.environ, "COLONNADE_JAR": jar},
        capture_output=True,
        text=True,
    )
