"""The result of every encoder."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Encoded:
    """An encoded block before it becomes bytes. `base` is set for `narrowed` only."""

    encoding: str
    stream: pa.Array | None
    base: int | None = None
