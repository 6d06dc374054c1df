"""The installed package, with its jar, has everything that it needs to run."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest

from colonnade.manifests.version import VERSION

ROOT = Path(__file__).parent.parent.parent
TREE = ["colonnade", "manifests", "spark_ext", "tableformat"]
WITHOUT_DEPENDENCIES = """
import sys

class Nothing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("pydantic", "pyarrow", "numpy", "orjson", "pyspark"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Nothing())
"""
"""What `pip install` builds in: an environment of its own, with setuptools alone."""
MODULES = ["colonnade_command.py", "pyspark_colonnade.py"]
FILES = ["MANIFEST.in", "README.md", "pyproject.toml", *MODULES]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """A wheel of this tree, built in a copy of it."""
    if int(version("setuptools").partition(".")[0]) < 77:
        pytest.skip("setuptools 77 or newer builds the wheel; the set-up installs it")
    copy = tmp_path_factory.mktemp("tree")
    for name in TREE:
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, copy / name, symlinks=True, ignore=ignored)
    for name in FILES:
        shutil.copy(ROOT / name, copy)
    program = f"{WITHOUT_DEPENDENCIES}\nfrom spark_ext.java.wheel import *\n"
    program += "assert not get_requires_for_build_wheel(); "
    program += "build_sdist('sdist'); build_wheel('dist')"
    subprocess.run([sys.executable, "-c", program], cwd=copy, check=True, capture_output=True)
    (path,) = (copy / "dist").iterdir()
    assert path.name == f"colonnade-{VERSION}-py3-none-any.whl"
    return zipfile.ZipFile(path)


def test_the_jar_is_in_the_wheel_and_its_sources_are_not(wheel: zipfile.ZipFile) -> None:
    names = wheel.namelist()
    jar = ROOT / "spark_ext" / "colonnade-spark.jar"
    assert wheel.read("colonnade/spark_ext/colonnade-spark.jar") == jar.read_bytes()
    assert not [name for name in names if name.startswith("colonnade/spark_ext/java/")]


def test_the_page_of_the_report_and_the_command_are_in_the_wheel(wheel: zipfile.ZipFile) -> None:
    assert "colonnade/cli/report/page.html" in wheel.namelist()
    (points,) = [name for name in wheel.namelist() if name.endswith("/entry_points.txt")]
    assert "colonnade = colonnade_command:main" in wheel.read(points).decode()


def test_every_module_is_in_the_wheel(wheel: zipfile.ZipFile) -> None:
    modules = {
        ("" if name == "colonnade" else "colonnade/") + path.relative_to(ROOT).as_posix()
        for name in TREE
        for path in (ROOT / name).rglob("*.py")
        if "java" not in path.parts
    }
    assert {*modules, *MODULES} <= set(wheel.namelist())


def test_the_wheel_takes_no_other_name_at_the_top_of_an_environment(
    wheel: zipfile.ZipFile,
) -> None:
    tops = {name.partition("/")[0] for name in wheel.namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"colonnade", *MODULES}
