"""The table that most tests of this folder begin with."""

from pathlib import Path

import pytest

import colonnade
from tests.tableformat.table.trips import SCHEMA


@pytest.fixture
def table(tmp_path: Path) -> colonnade.ArrowTable:
    return colonnade.create(tmp_path / "trips", SCHEMA, properties={"owner": "me"})
