"""What stands around each request and each reply on its line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from colonnade.spark_ext.planner.messages.base import Message


class Envelope(Message):
    """A request `args` of the operation `op`, and the session that sends it.

    `within` is the id of the session's transaction, if any. `storage` are the options of stores as
    text, and `hadoop` are Hadoop's settings for stores. `user` is the user of the session, and
    `metadata` its text for the history, if any. The request is sent `again` if an earlier planner
    may have got it.
    """

    id: int
    op: str
    args: Any
    user: str | None = None
    metadata: str | None = None
    within: str | None = None
    storage: Mapping[str, str] = {}
    hadoop: Mapping[str, str] = {}
    again: bool = False


class Failure(Message):
    """An error: its code, such as COLONNADE_NOT_FOUND, and a sentence."""

    code: str
    message: str


class Reply(Message):
    """The `result` of a request, or its `error`, and `notices`: sentences for the user.

    `id` is that of the request, and 0 if a line was no request.
    """

    id: int
    result: Any = None
    error: Failure | None = None
    notices: tuple[str, ...] = ()
