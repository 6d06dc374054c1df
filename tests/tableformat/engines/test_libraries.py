"""A library that is not installed is named in one sentence, and what to install."""

from __future__ import annotations

import sys

import pytest

from colonnade.tableformat.engines.libraries import library


@pytest.mark.parametrize(("module", "name"), [("duckdb", "DuckDB"), ("polars", "Polars")])
def test_a_missing_library_is_one_sentence(
    module: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert library(module, "sql").__name__ == module
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=f"^sql needs {name}: install {module}.$"):
        library(module, "sql")
