"""What the writers of a task have in common: one that failed, or is over, writes nothing more."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

from colonnade.manifests.errors import InvalidInputError

_Writer = TypeVar("_Writer", bound="TaskWriter")


class TaskWriter(ABC):
    """Of use until `close` or `abort`; as a context manager it aborts unless it was closed."""

    _usable = True

    def abort(self) -> None:
        """Remove everything that this writer wrote. Requires: no commit of it was tried."""
        self._usable = False
        self._remove()

    @abstractmethod
    def _remove(self) -> None:
        """Remove what was written; may be called again."""

    @contextmanager
    def _at_work(self) -> Iterator[None]:
        """A block whose error aborts the writer. Raises InvalidInputError for one that is over."""
        if not self._usable:
            raise InvalidInputError("This writer was closed or aborted: begin another one.")
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
