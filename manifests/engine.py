"""The name that the history shows as the writer of an epoch: one name for each process."""

from __future__ import annotations

_name = "colonnade-python"


def engine_name() -> str:
    """Return the engine name of this process."""
    return _name


def set_engine_name(name: str) -> None:
    """Change the engine name of this process. Requires: the process has written nothing yet."""
    global _name
    _name = name
