"""One failed request to a bucket, and our error for it. Pure.

Spec: docs/spec/store.md#buckets
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass

from colonnade.manifests.errors import NotFoundError, StoreError

TAKEN = 412
"""The status of a failure that says that a name is taken, whatever the server's own status is."""


@dataclass(eq=False)
class Failure(Exception):
    """One failed request, and the error of its client.

    `reason` ends a sentence, and holds no text of the server or of the client. `status` is that of
    the answer, None without one. `absent` says that the object does not exist. `arrived` says
    whether the request may have had an effect. `passing` says whether the same request may succeed
    later. `silent` says that the server gave no answer in time. `bare` says that the client has no
    credentials that work, although a new client might find some.
    """

    reason: str
    error: Exception
    _: KW_ONLY
    status: int | None = None
    absent: bool = False
    arrived: bool = False
    passing: bool = False
    silent: bool = False
    bare: bool = False

    def translate(self, location: str, verb: str) -> NotFoundError | StoreError:
        """Return the error of a store for an object at `location`, which was not `verb`.

        `verb` is a participle, such as "read" or "written".
        """
        if self.absent:
            return NotFoundError(f"{location} does not exist.")
        return StoreError(f"{location} could not be {verb}: {self.reason}.", self.passing)

    def refuse(self, location: str) -> StoreError:
        """Return the error of a store for an object that was certainly not written."""
        error = self.translate(location, "written")
        return error if isinstance(error, StoreError) else StoreError(error.message)


@contextmanager
def accepting_absence() -> Iterator[None]:
    """A block that ends without an error at a failure that says that the object is absent."""
    try:
        yield
    except Failure as failure:
        if not failure.absent:
            raise


def busy(status: int) -> str:
    """Return the reason of a failure that may pass, for an answer with this HTTP status."""
    return f"the server is busy or has failed (HTTP {status}); run this again"


def refused(status: int, code: str) -> str:
    """Return the reason of a refusal that is not known, for an answer with this HTTP status.

    `code` is the server's own word for it. It is left out unless it is one plain word.
    """
    return f"the server refused it (HTTP {status}{_named(code)})"


def _named(code: str) -> str:
    return f", {code}" if code.isalnum() and len(code) <= 60 else ""
