"""The error tree, grouped by what the caller does next.

    ColonnadeError
      InvalidInputError (ValueError)   fix the call
      NotFoundError                    choose another
      AlreadyExistsError               choose another
      ConflictError                    plan again on the new head, then retry
      CommitUnknownError               look the transaction id up; delete nothing
      UnsupportedFormatError           upgrade; never guess
      CorruptionError                  stop, keep the file
      StoreError                       back off (`retryable` says whether that can help)

Every class has a stable `kind`: tools match on it, texts may improve. Foreign errors (operating
system, fsspec, Arrow) are translated once, at the seam that met them, and kept as `__cause__`.
"""

from __future__ import annotations


class ColonnadeError(Exception):
    """Base of every error that Colonnade raises on purpose.

    The message is one sentence that names the thing at fault and what to do. `kind` is stable
    across releases. Pickles, so it survives the way from an executor to the driver.
    """

    kind = "ERROR"

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message

    @property
    def code(self) -> str:
        """The stable code that stands in front of the sentence where only text survives."""
        return f"COLONNADE_{self.kind}"


class InvalidInputError(ColonnadeError, ValueError):
    """The call cannot work as it was made: fix its arguments."""

    kind = "INVALID_INPUT"


class NotFoundError(ColonnadeError):
    """The table, epoch, column or object that was asked for does not exist."""

    kind = "NOT_FOUND"


class AlreadyExistsError(ColonnadeError):
    """The name is taken: choose another, or open what is there."""

    kind = "ALREADY_EXISTS"


class ConflictError(ColonnadeError):
    """Another writer changed what this change relied on: nothing was committed."""

    kind = "CONFLICT"


class CommitUnknownError(ColonnadeError):
    """The store did not say whether the epoch was written.

    The data files of the transaction must be kept: its id may still turn up in the log.
    """

    kind = "COMMIT_UNKNOWN"


class UnsupportedFormatError(ColonnadeError):
    """Written by a newer Colonnade, or by none: upgrade instead of guessing."""

    kind = "UNSUPPORTED_FORMAT"


class CorruptionError(ColonnadeError):
    """Bytes are missing or differ from their checksum: nothing was interpreted."""

    kind = "CORRUPTION"


class StoreError(ColonnadeError):
    """The store refused or failed a call."""

    kind = "STORE"

    def __init__(self, message: str, retryable: bool = False) -> None:
        super().__init__(message)
        self.retryable = retryable

    def __reduce__(self) -> tuple[type[StoreError], tuple[str, bool]]:
        return type(self), (self.message, self.retryable)
