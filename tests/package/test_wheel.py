"""A wheel has all that the package needs to run, from whichever tree it is built."""

from __future__ import annotations

import email
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from colonnade.manifests.version import VERSION
from tests.package.trees import JAR, MODULES, PACKAGES, ROOT, build, build_in, copy_tree, git

OTHER_BYTES = """
import pathlib, re, sys
pom = pathlib.Path(sys.argv[sys.argv.index("--file") + 1]).read_text()
folder = pathlib.Path(next(each[18:] for each in sys.argv if each[:18] == "-DoutputDirectory="))
folder.mkdir()
for name, version in re.findall("Id>([^<*]+)</artifactId><version>(.*?)</version><excl", pom):
    (folder / f"{name}-{version}.jar").write_bytes(b"other")
"""


def program(path: Path, answer: str, python: str = "") -> None:
    """Make a program that prints an answer, or that is a program of Python."""
    text = f"#!{sys.executable}\n{python}" if python else f"#!/bin/sh\necho '{answer}'\n"
    path.write_text(text)
    path.chmod(0o755)


@pytest.fixture(scope="module")
def trees(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    """This tree as a clone, as a clone without links, as git's archive, and as a source archive."""
    folder = tmp_path_factory.mktemp("trees")
    clone = copy_tree(folder / "clone")
    git(clone, "init", "--quiet")
    git(clone, "add", "--all")
    git(clone, "commit", "--quiet", "-m", "All of it")
    plain = ["-c", "core.symlinks=false"]
    git(folder, *plain, "clone", "--quiet", str(clone), "no-links")
    assert (folder / "no-links/colonnade/manifests").read_text() == "../manifests"
    git(clone, "archive", "--prefix=archive/", f"--output={folder}/archive.tar", "HEAD")
    unpack(folder / "archive.tar")
    sdist = unpack(build(folder / "no-links", "sdist"))
    return {name: folder / name for name in ("clone", "no-links", "archive")} | {"sdist": sdist}


def unpack(archive: Path) -> Path:
    with tarfile.open(archive) as opened:
        # Python 3.11.2, which Debian 12 has, knows filters only by this attribute or not at all.
        opened.extraction_filter = getattr(tarfile, "data_filter", None)
        opened.extractall(archive.parent)
        return archive.parent / opened.getnames()[0].partition("/")[0]


@pytest.fixture(scope="module")
def wheel(trees: Mapping[str, Path]) -> zipfile.ZipFile:
    """The wheel of a clone with the jar."""
    path = build(trees["clone"], "wheel")
    assert path.name == f"colonnade-{VERSION}-py3-none-any.whl"
    return zipfile.ZipFile(path)


@pytest.mark.slow
def test_every_kind_of_tree_makes_the_same_wheel(trees: Mapping[str, Path]) -> None:
    wheels = {name: build(tree, "wheel", "no").read_bytes() for name, tree in trees.items()}
    assert len(wheels) == 4
    assert set(wheels.values()) == {wheels["clone"]}


@pytest.mark.slow
def test_the_jar_is_in_the_wheel_and_its_sources_are_not(wheel: zipfile.ZipFile) -> None:
    names = wheel.namelist()
    assert wheel.read(f"colonnade/{JAR}") == (ROOT / JAR).read_bytes()
    assert not [name for name in names if name.startswith("colonnade/spark_ext/java/")]


def test_the_page_of_the_report_and_the_command_are_in_the_wheel(wheel: zipfile.ZipFile) -> None:
    assert "colonnade/tableformat/table/report/page.html" in wheel.namelist()
    (points,) = [name for name in wheel.namelist() if name.endswith("/entry_points.txt")]
    assert "colonnade = colonnade_command:main" in wheel.read(points).decode()


def test_every_module_is_in_the_wheel(wheel: zipfile.ZipFile) -> None:
    modules = {
        ("" if name == "colonnade" else "colonnade/") + path.relative_to(ROOT).as_posix()
        for name in PACKAGES
        for path in (ROOT / name).rglob("*.py*")
        if path.suffix != ".pyc" and "java" not in path.parts
    }
    assert {*modules, *MODULES} <= set(wheel.namelist())


def test_the_wheel_takes_no_other_name_at_the_top_of_an_environment(
    wheel: zipfile.ZipFile,
) -> None:
    tops = {name.partition("/")[0] for name in wheel.namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"colonnade", *MODULES}


def test_the_wheel_says_its_licence_and_has_it(wheel: zipfile.ZipFile) -> None:
    folder = f"colonnade-{VERSION}.dist-info"
    said = email.message_from_bytes(wheel.read(f"{folder}/METADATA"))
    assert said["License-Expression"] == "Apache-2.0"
    assert wheel.read(f"{folder}/licenses/LICENSE") == (ROOT / "LICENSE").read_bytes()


def test_the_package_page_has_neither_links_nor_pictures_that_lead_nowhere(
    wheel: zipfile.ZipFile,
) -> None:
    text = wheel.read(f"colonnade-{VERSION}.dist-info/METADATA").decode()
    assert "## With Python alone" in text
    assert "DuckDB, Polars, DataFusion and Ibis" in text
    assert "](" not in text.replace("](https://", "")


def test_no_test_is_in_an_archive_of_the_sources(trees: Mapping[str, Path]) -> None:
    tops = {path.name for path in trees["sdist"].iterdir()}
    assert tops >= {*PACKAGES, *MODULES, "LICENSE", "README.md", "pyproject.toml"}
    assert not tops & {"tests", "benchmarks", "docs"}
    assert not [path for path in trees["sdist"].rglob("*") if path.is_symlink()]
    assert not [path for path in trees["sdist"].rglob("*.jar")]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "what"),
    [
        *(("colonnade", "wheel"), ("manifests", "wheel")),
        *(("spark_ext", "editable"), ("tableformat", "sdist")),
    ],
)
def test_a_build_that_lacks_a_package_fails_and_names_it(
    trees: Mapping[str, Path], tmp_path: Path, name: str, what: str
) -> None:
    tree = shutil.copytree(trees["sdist"], tmp_path / "tree")
    shutil.rmtree(tree / name)
    if name == "spark_ext":  # the hook itself is there
        shutil.copytree(trees["sdist"] / "spark_ext/java", tree / "spark_ext/java")
    done = build_in(tree, f"build_{what}('.')", "no")
    assert done.returncode != 0
    assert f"has no package {name}, which belongs to Colonnade." in done.stderr.splitlines()[-1]


@pytest.mark.slow
def test_a_jar_that_is_older_than_its_sources_goes_into_no_wheel(
    trees: Mapping[str, Path], tmp_path: Path
) -> None:
    tree = shutil.copytree(trees["sdist"], tmp_path / "tree")
    (tree / JAR).write_bytes(b"old")
    with zipfile.ZipFile(build(tree, "wheel", "no")) as made:
        assert f"colonnade/{JAR}" not in made.namelist()


@pytest.mark.slow
def test_an_environment_of_a_build_needs_pyspark_only_to_compile_the_jar(
    trees: Mapping[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.delenv("JAVA_HOME", raising=False)

    def required(tree: str, jar: str = "auto") -> str:
        return build_in(trees[tree], "print(get_requires_for_build_wheel())", jar).stdout

    assert required("sdist") == "[]\n"  # no JDK is there
    assert "pyspark" in required("sdist", "yes")
    program(programs / "javac", "javac 11.0.2")
    assert required("sdist") == "[]\n"
    program(programs / "javac", "javac 21.0.2")
    assert "pyspark" in required("sdist")
    assert required("sdist", "no") == "[]\n"
    assert required("clone") == "[]\n"  # which has the jar
    assert build_in(trees["sdist"], "print(get_requires_for_build_sdist())").stdout == "[]\n"
    program(programs / "mvn", "Maven")
    assert required("sdist") == "[]\n"


def test_a_setting_that_is_no_choice_is_refused(trees: Mapping[str, Path]) -> None:
    done = build_in(trees["clone"], "get_requires_for_build_wheel()", "maybe")
    assert "COLONNADE_JAR is 'maybe'; set it to yes, no or auto." in done.stderr


@pytest.mark.slow
def test_a_build_that_must_have_the_jar_fails_without_a_compiler(
    trees: Mapping[str, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    done = build_in(trees["sdist"], "build_wheel('.')", "yes")
    assert "there is no javac of a JDK, 17 or newer" in done.stderr


@pytest.mark.slow
def test_an_editable_installation_uses_the_tree_and_its_jar(trees: Mapping[str, Path]) -> None:
    with zipfile.ZipFile(build(trees["clone"], "editable")) as made:
        outside = [name for name in made.namelist() if ".dist-info/" not in name]
        assert outside == ["_colonnade.pth"]
        assert made.read("_colonnade.pth").decode().strip() == str(trees["clone"])


@pytest.mark.slow
def test_jars_of_spark_with_other_bytes_than_the_locked_ones_are_refused(
    trees: Mapping[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path / "mvn", "", OTHER_BYTES)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    script = trees["no-links"] / "spark_ext/java/build.py"
    alone = [sys.executable, "-I", "-S", str(script)]  # without pyspark
    done = subprocess.run(alone, capture_output=True, text=True)
    assert done.returncode == 1
    assert re.search(r"was not built: kryo-shaded-\S+ has the hash \w+, and not", done.stderr)
