"""The error for an epoch that contradicts the state before it."""

from __future__ import annotations

from typing import NoReturn

from colonnade.manifests.errors import CorruptionError


def refuse(epoch: int, what: str) -> NoReturn:
    """Raise CorruptionError. `what` says what the epoch does, and begins with a verb."""
    raise CorruptionError(f"Epoch {epoch} {what}.")
