"""The error tree, grouped by what the caller does next.

    ColonnadeError
      InvalidInputError (ValueError)   fix the call
        RepeatedMatchError             the same; several rows of a MERGE match one row
      NotFoundError                    choose another name
      AlreadyExistsError               choose another name
      ConflictError                    plan again on the new head, then retry
        ColumnConflictError            the same; or move the rows whose columns were replaced
      CommitUnknownError               look the transaction id up; delete nothing
      UnsupportedFormatError           upgrade; never guess
      CorruptionError                  stop, keep the file
        MissingObjectError             the same, unless a vacuum removed the object meanwhile
      StoreError                       back off (`retryable` says whether that can help)

Every class has a stable `kind`. Tools match on the kind, because the text of a message may change.
Errors of other libraries (operating system, fsspec, Arrow) are translated once, where Colonnade
catches them, and kept as `__cause__`.
"""

from __future__ import annotations

import re

from colonnade.manifests.public import public

_LONG = 501
_LONG_WORD = re.compile(rf"\S{{{_LONG},}}")
_MOST = 2_000
"""The most characters of a message. Names and texts that users give have no such limit."""


@public
class ColonnadeError(Exception):
    """Base class of every error that Colonnade raises deliberately.

    The message is one sentence that names the thing at fault and what to do. `kind` is stable
    across releases. The error can be pickled, so an executor can send it to the driver.
    """

    kind = "ERROR"

    def __init__(self, message: str) -> None:
        self.message = _shortened(message)
        super().__init__(self.message)

    @property
    def code(self) -> str:
        """The stable code that precedes the message where only text is transferred."""
        return f"COLONNADE_{self.kind}"


def _shortened(message: str) -> str:
    """Return a message without the middle of each very long word, and of a very long text."""
    if len(message) < _LONG:
        return message
    short = _LONG_WORD.sub(lambda word: f"{word[0][:100]}…{word[0][-30:]}", message)
    return short if len(short) <= _MOST else f"{short[: _MOST - 500]} … {short[-490:]}"


@public
class InvalidInputError(ColonnadeError, ValueError):
    """The arguments of a call are not valid: fix the call."""

    kind = "INVALID_INPUT"


@public
class RepeatedMatchError(InvalidInputError):
    """Several rows of the source of a MERGE match one row of the table."""


@public
class NotFoundError(ColonnadeError):
    """The requested table, epoch, column or object does not exist."""

    kind = "NOT_FOUND"


@public
class AlreadyExistsError(ColonnadeError):
    """The name is in use: choose another name, or open the object that has it."""

    kind = "ALREADY_EXISTS"


@public
class ConflictError(ColonnadeError):
    """A concurrent writer changed data that this change depends on. Nothing was committed."""

    kind = "CONFLICT"


@public
class ColumnConflictError(ConflictError):
    """A concurrent writer is in the way of replaced columns, and not of the rows that change.

    A statement that moves these rows instead may commit.
    """


@public
class CommitUnknownError(ColonnadeError):
    """The store did not say whether it wrote the epoch.

    Keep the data files of the transaction, because its id may still appear in the log.
    """

    kind = "COMMIT_UNKNOWN"


@public
class UnsupportedFormatError(ColonnadeError):
    """The bytes are in a format that this version does not know: upgrade instead of guessing."""

    kind = "UNSUPPORTED_FORMAT"


@public
class CorruptionError(ColonnadeError):
    """Bytes are missing or differ from their checksum. Colonnade did not interpret them."""

    kind = "CORRUPTION"


@public
class MissingObjectError(CorruptionError):
    """An object that a state or a statement names is not in its store; `object` is its id."""

    def __init__(self, message: str, object: str = "") -> None:
        super().__init__(message)
        self.object = object

    def __reduce__(self) -> tuple[type[MissingObjectError], tuple[str, str]]:
        return type(self), (self.message, self.object)


@public
class StoreError(ColonnadeError):
    """The store refused a call, or the call failed.

    `retryable` says whether the same call may succeed later.
    """

    kind = "STORE"

    def __init__(self, message: str, retryable: bool = False) -> None:
        super().__init__(message)
        self.retryable = retryable

    def __reduce__(self) -> tuple[type[StoreError], tuple[str, bool]]:
        return type(self), (self.message, self.retryable)
