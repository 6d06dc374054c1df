"""The table that the tests of this folder begin with."""

from __future__ import annotations

from pathlib import Path

import pytest

import colonnade
from colonnade.tableformat.table.table import ArrowTable
from tests.tableformat.table.alteration.points import SCHEMA, rows


@pytest.fixture
def table(tmp_path: Path) -> ArrowTable:
    made = colonnade.create(tmp_path / "trips", SCHEMA, sort_key=["id"], properties={"a": "1"})
    made.append(rows(1, 2))
    return made
