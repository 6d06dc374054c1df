"""Who writes an epoch, for the history: the name of the program, and the user it works for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_name = "colonnade-python"
_USER: ContextVar[str | None] = ContextVar("_USER", default=None)
_LONGEST = 255


def engine_name() -> str:
    """Return the engine name of this process."""
    return _name


def set_engine_name(name: str) -> None:
    """Change the engine name of this process. Requires: the process has written nothing yet."""
    global _name
    _name = name


def user_name() -> str | None:
    """Return the user that this thread works for; None if nobody has said it."""
    return _USER.get()


@contextmanager
def working_for(user: str | None) -> Iterator[None]:
    """Run a block for a user. The log keeps at most 255 characters of the name."""
    token = _USER.set(None if user is None else user[:_LONGEST])
    try:
        yield
    finally:
        _USER.reset(token)
