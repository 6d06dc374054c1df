"""Settings of Spark from the command and from the file of defaults, as Java reads them."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark import SparkContext

from colonnade.spark_ext.launch_settings import launch_settings

FILE = r"""
# a comment
! another
spark.jars        a.jar,b.jar
spark.one=1
spark.two : 2
  spark.three   \
      3
spark.regex (?i)secret|a\\.b
spark.tab a\tb\u0041
spark.empty
"""


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr(SparkContext, "_gateway", None)
    monkeypatch.delenv("PYSPARK_GATEWAY_PORT", raising=False)
    monkeypatch.delenv("PYSPARK_SUBMIT_ARGS", raising=False)
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    return tmp_path


def test_the_file_of_defaults_is_read_as_java_reads_it(folder: Path) -> None:
    assert launch_settings() == {}
    (folder / "spark-defaults.conf").write_text(FILE)
    assert launch_settings() == {
        "spark.jars": "a.jar,b.jar",
        "spark.one": "1",
        "spark.two": "2",
        "spark.three": "3",
        "spark.regex": r"(?i)secret|a\.b",
        "spark.tab": "a\tbA",
        "spark.empty": "",
    }


def test_the_command_goes_before_the_file_and_may_name_another(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "spark-defaults.conf").write_text("spark.a 1\nspark.b 1\n")
    words = "--conf spark.a=2 --conf 'spark.c=x y' --jars=j.jar --master local pyspark-shell"
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", words)
    found = {"spark.a": "2", "spark.b": "1", "spark.c": "x y", "spark.jars": "j.jar"}
    assert launch_settings() == found
    other = folder / "other.conf"
    other.write_text("spark.b 3\n")
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", f"--properties-file {other} {words}")
    assert launch_settings() == {**found, "spark.b": "3"}
