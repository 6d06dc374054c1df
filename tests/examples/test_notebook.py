"""The example notebook runs, and shows what is stored in it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.examples.notebook import NOTEBOOK, executed

VARYING = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d|[\d.,]+ (?:B|[KMGT]iB)|bytes_\w+|\d{3,}")


def test_the_notebook_shows_what_is_stored_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    stored = json.loads(NOTEBOOK.read_text("utf-8"))
    assert shown(executed(stored)) == shown(stored)


def shown(notebook: dict[str, Any]) -> list[str]:
    """What the cells show, without times, sizes and large numbers."""
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    return [VARYING.sub("*", json.dumps(cell["outputs"])) for cell in cells]
