"""The code of all pages that show Spark runs unchanged."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.pages import ROOT, code_pages, needs_spark


@pytest.mark.spark
@pytest.mark.timeout(600)
def test_the_code_of_every_page_with_spark_runs_unchanged(tmp_path: Path) -> None:
    pages = [page for page in code_pages() if needs_spark(page)]
    assert ROOT / "README.md" in pages
    command = [sys.executable, "-m", "tests.spark_ext.run_pages", *map(str, pages)]
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    environment = {**os.environ, "PYTHONPATH": path, "SPARK_LOCAL_IP": "127.0.0.1"}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.splitlines()[-1] == str(pages[-1])
