"""A scan has all that engines need."""

from __future__ import annotations

import inspect

import pytest

import colonnade
from colonnade.tableformat.engines.engine_scan import EngineScan

NAMES = [name for name in vars(EngineScan) if not name.startswith("_")]


@pytest.mark.parametrize("name", NAMES)
def test_a_scan_has_each_method_that_engines_call(name: str) -> None:
    asked, there = (inspect.getattr_static(each, name) for each in (EngineScan, colonnade.Scan))
    assert type(asked) is type(there)
    if inspect.isfunction(asked):
        wanted = inspect.signature(asked).parameters
        assert wanted.keys() == inspect.signature(there).parameters.keys()
