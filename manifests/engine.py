"""What history shows as the writer of an epoch: one name for each process."""

from __future__ import annotations

_name = "colonnade-python"


def engine_name() -> str:
    """The name of this process."""
    return _name


def set_engine_name(name: str) -> None:
    """Give this process another name, before it writes anything."""
    global _name
    _name = name
