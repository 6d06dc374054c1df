"""What all writers of a task share: their end, and the numbers of their rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

import numpy as np
import pyarrow as pa

from colonnade.manifests.arrays.origins import RowOrigins, Rows
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.entries import RowSetEntry

_Writer = TypeVar("_Writer", bound="TaskWriter")


class RowSources:
    """Which rows the rows of a task replace, on their way through the steps of a write.

    Whoever makes rows adds their origins before the rows; the steps in between keep their order.
    """

    def __init__(self) -> None:
        self._waiting: deque[Rows] = deque()
        self.found: dict[str, RowOrigins] = {}
        """The origins of all written RowSets, by the ids of their objects."""

    def add(self, origins: Rows) -> None:
        """Add the origins of the next rows; `NEW` stands for a row that replaces none."""
        if len(origins):
            self._waiting.append(origins)

    def take(self, count: int) -> Rows:
        """Remove the origins of the next `count` rows. Requires that they were added."""
        taken: list[Rows] = [np.zeros(0, np.int64)]
        while count:
            origins = self._waiting.popleft()
            if len(origins) > count:
                self._waiting.appendleft(origins[count:])
            taken.append(origins[:count])
            count -= len(taken[-1])
        return np.concatenate(taken)


class TaskWriter(ABC):
    """Usable until `close` or `abort`. As a context manager, it aborts unless it was closed."""

    _usable = True

    @abstractmethod
    def write(self, batch: pa.RecordBatch, origins: Rows | None = None) -> None:
        """Append rows, and the number of each row if numbers are collected."""

    @abstractmethod
    def close(self) -> tuple[RowSetEntry, ...]:
        """Write the remaining rows, and return the entries of all RowSets."""

    @abstractmethod
    def take_origins(self) -> list[Rows]:
        """Return the numbers of the rows of each RowSet that has ended since the last call."""

    def abort(self) -> None:
        """Remove everything that this writer wrote. Requires that no commit of it was tried."""
        self._usable = False
        self._remove()

    @abstractmethod
    def _remove(self) -> None:
        """Remove what was written. A second call changes nothing."""

    @contextmanager
    def _at_work(self) -> Iterator[None]:
        """Abort the writer when the block fails.

        Raises InvalidInputError when the writer was closed or aborted before.
        """
        if not self._usable:
            raise InvalidInputError("This writer was closed or aborted; create a new one.")
        try:
            yield
        except BaseException:
            self.abort()
            raise

    def __enter__(self: _Writer) -> _Writer:
        return self

    def __exit__(self, *error: object) -> None:
        if self._usable:
            self.abort()
