"""The first steps of a user: the import, and the README's lines, unchanged."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent

WITHOUT_SPARK = """
import sys

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("pyspark", "py4j"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

UNWANTED = ("colonnade.spark_ext", "pandas", "duckdb", "colonnade.cli", "typer", "rich", "jinja2")
sys.meta_path.insert(0, Blocker())
from colonnade import *
import colonnade
assert open_database is colonnade.open_database
assert not [name for name in sys.modules if name.startswith(UNWANTED)]
for name in ("Table", "Database"):
    try:
        getattr(colonnade, name)
    except ImportError as error:
        assert str(error) == f"colonnade.{name} needs Spark: install pyspark, or colonnade[spark]."
    else:
        raise AssertionError(name)
"""


@pytest.mark.slow
def test_colonnade_is_imported_without_spark_and_says_what_needs_it() -> None:
    subprocess.run([sys.executable, "-c", WITHOUT_SPARK], cwd=ROOT, check=True)


@pytest.mark.parametrize("version", ["3.5.9", "4.0.5"])
def test_an_older_pyspark_is_named_when_the_spark_half_is(tmp_path: Path, version: str) -> None:
    (tmp_path / "pyspark").mkdir()
    (tmp_path / "pyspark" / "__init__.py").write_text(f"__version__ = {version!r}")
    program = """
import colonnade
for name in ("session", "configure", "enable", "doctor", "Table", "Database"):
    try:
        getattr(colonnade, name)
    except ImportError as error:
        print(error)
"""
    path = os.pathsep.join((str(tmp_path), str(ROOT)))
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": path},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    sentences = done.stdout.splitlines()
    assert len(sentences) == 6
    assert sentences[0] == (
        f"colonnade.session needs Spark 4.1 or newer, but pyspark {version} is installed: install"
        " colonnade[spark]."
    )


@pytest.mark.parametrize("name", ["manifests", "tableformat", "spark_ext"])
def test_a_folder_of_the_user_with_the_name_of_a_package_does_not_matter(
    name: str, tmp_path: Path
) -> None:
    theirs = tmp_path / name
    theirs.mkdir()
    (theirs / "__init__.py").write_text("raise SystemExit('not ours')")
    program = f"import sys, colonnade; assert {name!r} not in sys.modules"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, env=environment, check=True)


def test_the_lines_of_the_readme_for_python_alone_run_as_they_stand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    section = (ROOT / "README.md").read_text().split("## With Python alone")[1]
    code = re.search(r"```python\n(.*?)```", section, re.DOTALL)
    assert code is not None
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(code[1], names)
    trips = names["trips"]
    assert sorted(trips.scan().to_arrow()["miles"].to_pylist()) == [3.0, 4.0]
    assert trips.scan(epoch=2).to_arrow()["miles"].to_pylist() == [2.5, 7.0]
