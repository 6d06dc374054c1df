"""What all writers of a task share: a writer that failed or was closed writes nothing more."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

from colonnade.manifests.errors import InvalidInputError

_Writer = TypeVar("_Writer", bound="TaskWriter")


class TaskWriter(ABC):
    """Usable until `close` or `abort`. As a context manager, it aborts unless it was closed."""

    _usable = True

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
