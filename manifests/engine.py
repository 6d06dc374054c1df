"""Who writes an epoch, for the history: the name of the program, and the author it works for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

USER_METADATA = "userMetadata"
"""The parameter of an epoch that is a user's text for the history."""

_LONGEST = 255

_name = "colonnade-python"


@dataclass(frozen=True, slots=True)
class Author:
    """Whom a program works for, and the text that he gives to each of his epochs, if any."""

    user: str | None = None
    metadata: str | None = None

    def signed(self, parameters: Mapping[str, str]) -> Mapping[str, str]:
        """Return the parameters of an epoch with the author's text, unless they have their own."""
        if self.metadata is None:
            return parameters
        return {USER_METADATA: self.metadata, **parameters}


_NOBODY = Author()
_AUTHOR: ContextVar[Author] = ContextVar("_AUTHOR", default=_NOBODY)


def engine_name() -> str:
    """Return the engine name of this process."""
    return _name


def set_engine_name(name: str) -> None:
    """Change the engine name of this process. Requires: the process has written nothing yet."""
    global _name
    _name = name


def present_author() -> Author:
    """Return the author that this thread works for."""
    return _AUTHOR.get()


def user_name() -> str | None:
    """Return the user that this thread works for, as the log keeps it: at most 255 characters."""
    user = _AUTHOR.get().user
    return None if user is None else user[:_LONGEST]


@contextmanager
def working_for(author: Author) -> Iterator[None]:
    """Run a block for an author."""
    token = _AUTHOR.set(author)
    try:
        yield
    finally:
        _AUTHOR.reset(token)
