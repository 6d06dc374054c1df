"""`doctor` tells what is missing from what is wrong."""

from __future__ import annotations

import importlib.metadata
from pathlib import Path

import pytest

from colonnade.cli.care.doctor import check_jar, check_java, check_python, check_spark
from tests.cli.runner import Run


def java_that_says(folder: Path, answer: str) -> Path:
    (folder / "bin").mkdir(parents=True)
    java = folder / "bin" / "java"
    java.write_text(f"#!/bin/sh\necho '{answer}' >&2\n")
    java.chmod(0o755)
    return folder


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        ('openjdk version "17.0.1" 2021-10-19', "ok"),
        ('java version "1.8.0_292"', "problem"),
        ("not a java at all", "problem"),
    ],
)
def test_java_must_be_new_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str, status: str
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(java_that_says(tmp_path / "java", answer)))
    assert check_java().status == status


def test_a_java_that_cannot_be_run_is_a_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = java_that_says(tmp_path / "java", "")
    (home / "bin" / "java").write_bytes(b"of another machine")
    monkeypatch.setenv("JAVA_HOME", str(home))
    found = check_java()
    assert (found.status, "cannot be run" in found.found) == ("problem", True)


def test_packages_that_only_spark_needs_may_be_absent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert check_java().status == "absent"

    def missing(name: str) -> str:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr("importlib.metadata.version", missing)
    assert check_spark().status == "absent"


def test_a_jar_that_was_not_built_is_a_problem_only_beside_pyspark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("colonnade.spark_ext.jar.JAR", tmp_path / "none.jar")
    assert [check_jar(needed).status for needed in (False, True)] == ["absent", "problem"]
    assert "does not exist; build it with" in check_jar(False).found


def test_pythons_that_are_not_supported_are_a_problem() -> None:
    assert [check_python(version).status for version in ((3, 9), (3, 10), (3, 14), (3, 15))] == [
        *("problem", "ok", "ok", "problem"),
    ]


@pytest.mark.slow
def test_a_store_is_described_and_a_problem_ends_with_its_exit_code(
    run: Run, shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("colonnade.cli.care.doctor.check_spark", lambda: check_java())
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    fine = run("doctor", shop, "--json")
    assert fine.code == 0
    checks = {check["what"]: check for check in fine.json}
    assert checks["database"]["found"] == f"{shop} at epoch 6"
    assert checks["store"]["found"].startswith("local disk, ")
    read_only = run("doctor", f"file://{shop}")
    assert read_only.code == 0
    broken = run("doctor", tmp_path / "nothing")
    assert broken.code == 10
    assert "is not a Colonnade database" in broken.out
