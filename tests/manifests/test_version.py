"""The wheel, the packages and the jar have one version."""

from __future__ import annotations

import re
from pathlib import Path

import colonnade
from colonnade.manifests.version import VERSION

ROOT = Path(__file__).parents[2]


def test_every_part_takes_its_version_from_one_place() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", VERSION)
    assert colonnade.__version__ == VERSION
    project = (ROOT / "pyproject.toml").read_text()
    assert '[tool.hatch.version]\npath = "manifests/version.py"' in project
