"""The module that lets Spark find the source imports little, and its import must not fail."""

from __future__ import annotations

import subprocess
import sys

import pytest

import pyspark_colonnade


@pytest.mark.slow
def test_the_module_that_spark_imports_loads_no_other_module() -> None:
    program = (
        "import sys, pyspark.sql.datasource; before = set(sys.modules);"
        "import pyspark_colonnade; print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.split() == ["pyspark_colonnade"], done.stderr


def test_the_name_is_that_of_the_format() -> None:
    assert pyspark_colonnade.DefaultSource.name() == "colonnade"
