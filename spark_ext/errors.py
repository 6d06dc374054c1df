"""Errors that reach the user of Spark as one sentence with a stable code.

Between a Python worker and the user's `except` only text survives. So the text is the code and
the sentence, `[COLONNADE_NOT_FOUND] Table ...`, without the traceback that Spark would put before
it. Errors that Colonnade did not raise on purpose keep their traceback: they are bugs.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from colonnade.manifests.errors import ColonnadeError

_HIDE_TRACEBACK = "SPARK_HIDE_TRACEBACK"


class SparkColonnadeError(Exception):
    """A `ColonnadeError` on its way through Spark: `[<code>] <sentence>`."""

    # Spark prints a class with its module unless that is `builtins`.
    __module__ = "builtins"


@contextmanager
def one_sentence() -> Iterator[None]:
    """Turn a `ColonnadeError` raised inside into text that Spark shows as it is.

    Requires: to run in a Python worker of Spark. The worker ends after any error, so hiding the
    traceback touches no one else's.
    """
    try:
        yield
    except ColonnadeError as error:
        os.environ[_HIDE_TRACEBACK] = "1"
        raise SparkColonnadeError(f"[{error.code}] {error}") from error
