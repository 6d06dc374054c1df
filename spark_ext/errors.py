"""Errors that reach the user of Spark as one sentence with a stable code.

Spark passes an error of a Python worker on to the user as text only. The text is therefore the
code and the sentence, `[COLONNADE_NOT_FOUND] Table ...`, without the traceback that Spark would put
before it. An error that is not a `ColonnadeError` is a bug and keeps its traceback.
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
    """Turn a `ColonnadeError` raised in the block into text that Spark shows unchanged.

    Requires a Python worker of Spark. The worker ends after any error, so hiding the traceback
    affects no other error.
    """
    try:
        yield
    except ColonnadeError as error:
        os.environ[_HIDE_TRACEBACK] = "1"
        raise SparkColonnadeError(f"[{error.code}] {error}") from error
