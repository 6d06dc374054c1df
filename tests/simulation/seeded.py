"""Makes a seed decide all that a run does."""

from __future__ import annotations

import logging
import random
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, TypeVar
from unittest.mock import patch

from colonnade.tableformat.compaction import execute
from colonnade.tableformat.rowset.write_options import WriteOptions
from colonnade.tableformat.write import pipeline
from colonnade.tableformat.write.pipeline import target_options

T = TypeVar("T")


@contextmanager
def seeded(order: random.Random, form: Mapping[str, Any]) -> Iterator[None]:
    """Draw ids from the seed, let no mistake pass as a warning, and run one thing at a time.

    Half of the runs keep small RowSets in objects. Some of these write them as large RowSets
    are written: as a directory, or as one object whose blocks have waited on disk.
    """

    def options(*arguments: Any) -> WriteOptions:
        return replace(target_options(*arguments), **form)

    def token_hex(size: int) -> str:
        return f"{order.getrandbits(8 * size):0{2 * size}x}"

    with (
        patch("secrets.token_hex", token_hex),
        patch.object(logging.Logger, "warning", _warn),
        patch.object(pipeline, "target_options", options),
        patch.object(execute, "ThreadPoolExecutor", OneByOne),
    ):
        yield


def _warn(_: logging.Logger, message: str, *values: object, exc_info: bool = False) -> None:
    """Beside a commit faults are only warned of, and everything else with its traceback."""
    assert not exc_info, message % values


class OneByOne(Executor):
    """Runs each task at once in the thread of the caller, which has the turn."""

    def __init__(self, *_: object, **__: object) -> None:
        super().__init__()

    def submit(self, work: Callable[..., T], /, *given: Any, **named: Any) -> Future[T]:
        """Run it here and now."""
        future = Future[T]()
        try:
            future.set_result(work(*given, **named))
        except Exception as error:
            future.set_exception(error)
        return future
