"""The storage options of a request: options of the session, and options that a DataFrame gives.

The Java half sends the session's settings `spark.colonnade.storage.<name>` beside every request,
and its settings of Hadoop for stores. A table that was loaded keeps its options: replies and jobs
name them (see `StoreAddress`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

from colonnade.manifests.store import StoreAddress
from colonnade.manifests.store.option_text import option_values
from colonnade.manifests.store.path_text import local_path
from colonnade.spark_ext.hadoop.stores import with_hadoop
from colonnade.spark_ext.planner.messages.views import NamedView
from colonnade.tableformat.write.job import WriteJob


class _Session(NamedTuple):
    """What a session says about stores: options as text, and settings of Hadoop."""

    texts: Mapping[str, str]
    hadoop: Mapping[str, str]


_NOTHING = _Session({}, {})
_SESSION: ContextVar[_Session] = ContextVar("session_stores", default=_NOTHING)


@contextmanager
def session_stores(texts: Mapping[str, str], hadoop: Mapping[str, str]) -> Iterator[None]:
    """Run a block with what a session says about stores: options, and settings of Hadoop."""
    token = _SESSION.set(_Session(texts, hadoop))
    try:
        yield
    finally:
        _SESSION.reset(token)


def place(path: str, storage: Mapping[str, Any] | None = None) -> StoreAddress:
    """Return the address of a path with its options.

    The options `storage` take precedence over the options of the session, and both over Hadoop's
    settings. A local path does not use the session. Raises
    InvalidInputError for text that is not a path, for an option with invalid text, for `storage` of
    a local path, and for settings of Hadoop that Python cannot use.
    """
    if local_path(path) is not None:
        return StoreAddress.of(path, storage)
    session = _SESSION.get()
    given = {**option_values(session.texts), **(storage or {})}
    return StoreAddress.of(path, with_hadoop(path, session.hadoop, given))


def known(address: StoreAddress) -> StoreAddress:
    """Return an address that an earlier reply of a planner named.

    If that planner has ended, the session's options are used. Raises as `place`.
    """
    if address.is_known:
        return address
    found = place(address.url)
    return address if found.options is None else found


def place_of(view: NamedView) -> StoreAddress:
    """Return the address of the database of a view, as `known` returns it, and its errors."""
    return known(StoreAddress(view.url, view.options or None))


def job_of(text: str) -> WriteJob:
    """Return the job of a request, with an address as `known` returns it, and its errors."""
    job = WriteJob.model_validate_json(text)
    return job.model_copy(update={"address": known(job.address)})
