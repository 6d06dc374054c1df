"""The compute functions of Arrow, which take longer to load than a small table to read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from colonnade.manifests.later import later

if TYPE_CHECKING:
    import pyarrow.compute as pc
else:
    pc = later("pyarrow.compute")

__all__ = ["pc"]
