"""The storage options of a request: those of the session, and those that a DataFrame gives.

The Java half sends the session's settings `spark.colonnade.storage.<name>` beside every request. A
table that was loaded keeps its options: replies and jobs name them (see `StoreAddress`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from colonnade.manifests.store import StoreAddress
from colonnade.manifests.store.option_text import option_values
from colonnade.tableformat.write.job import WriteJob

_SESSION: ContextVar[Mapping[str, str] | None] = ContextVar("session_storage", default=None)


@contextmanager
def session_options(texts: Mapping[str, str] | None) -> Iterator[None]:
    """Run a block with the storage options of a session, as text by name."""
    token = _SESSION.set(texts)
    try:
        yield
    finally:
        _SESSION.reset(token)


def place(path: str, storage: Mapping[str, Any] | None = None) -> StoreAddress:
    """Return the address of a path; the options `storage` go before those of the session.

    A local path does not use the session's options. Raises InvalidInputError for text that is not a
    path, for an option with invalid text, and for `storage` of a local path.
    """
    return StoreAddress.of(path, storage, _of_session)


def _of_session() -> dict[str, Any]:
    return option_values(_SESSION.get() or {})


def known(address: StoreAddress) -> StoreAddress:
    """Return an address that an earlier reply of a planner named.

    If that planner has ended, the session's options are used. Raises as `place`.
    """
    if address.is_known or not _SESSION.get():
        return address
    return place(address.url)


def place_of(state: Mapping[str, Any]) -> StoreAddress:
    """Return the address of the database that a request names by `url` and `options`."""
    return known(StoreAddress(state["url"], state.get("options") or None))


def job_of(args: Mapping[str, Any]) -> WriteJob:
    """Return the job of a request, with an address as `known` returns it, and its errors."""
    job = WriteJob.model_validate_json(args["job"])
    return job.model_copy(update={"address": known(job.address)})
