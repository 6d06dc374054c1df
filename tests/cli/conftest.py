"""A database to look at, and the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.runner import Run, make_shop, run_command


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs `colonnade` as people do, to whom tracebacks are not shown."""
    monkeypatch.delenv("COLONNADE_TRACEBACK", raising=False)
    return run_command


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return make_shop(tmp_path)
