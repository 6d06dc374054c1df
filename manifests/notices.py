"""Sentences for a user whose call succeeds, although a part of it has no effect.

They are warnings of Python, unless a caller listens for them, such as the planner of Spark, which
sends them to the JVM.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_LISTENER: ContextVar[list[str] | None] = ContextVar("_LISTENER", default=None)


def notice(sentence: str) -> None:
    """Tell the user a sentence: as a `UserWarning`, or to the caller that listens."""
    listener = _LISTENER.get()
    if listener is None:
        warnings.warn(sentence, UserWarning, stacklevel=2)
    elif sentence not in listener:
        listener.append(sentence)


@contextmanager
def listening() -> Iterator[list[str]]:
    """Collect the sentences of this thread, each once, in the list that is returned."""
    heard: list[str] = []
    token = _LISTENER.set(heard)
    try:
        yield heard
    finally:
        _LISTENER.reset(token)
