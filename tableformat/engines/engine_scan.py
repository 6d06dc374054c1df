"""What engines need of a scan, so that scans can offer them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import pyarrow as pa
from typing_extensions import Self


class EngineScan(Protocol):
    """Rows of one epoch, of which an engine chooses columns and rows: `Scan` says what each does.

    A scan that `is_limited` cannot be filtered.
    """

    @property
    def schema(self) -> pa.Schema: ...

    @property
    def columns(self) -> list[str]: ...

    @property
    def is_limited(self) -> bool: ...

    def select(self, *columns: str | Sequence[str]) -> Self: ...

    def filter(self, where: Any) -> Self: ...

    def limit(self, rows: int) -> Self: ...

    def parts(self) -> Sequence[Self]: ...

    def to_batches(self, threads: int | None = 1) -> Iterator[pa.RecordBatch]: ...

    def count(self) -> int: ...
