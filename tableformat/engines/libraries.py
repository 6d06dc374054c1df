"""Load a library that users need not have."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_NAMES = {"duckdb": "DuckDB", "polars": "Polars"}


def library(module: str, method: str) -> Any:
    """Return a module of a library that `method` needs.

    Raises ImportError, whose sentence says what to install, if the library is not installed.
    """
    package = module.partition(".")[0]
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != package:
            raise
        raise ImportError(f"{method} needs {_NAMES[package]}: install {package}.") from error
