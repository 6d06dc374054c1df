"""What an error of a file system means for a request. Pure.

Its class may be any, and the file system may have repeated the request before it gave up.

Spec: docs/spec/store.md#file-systems-of-fsspec
"""

from __future__ import annotations

from colonnade.manifests.errors import ColonnadeError
from colonnade.manifests.store.bucket.failure import Failure, busy
from colonnade.manifests.store.transient import may_pass, status_of


def classify(error: Exception) -> Failure | None:
    """Return what an error means for a request; None for an error of ours."""
    if isinstance(error, ColonnadeError):
        return None
    absent = isinstance(error, FileNotFoundError) or status_of(error) == 404
    passing = not absent and may_pass(error)
    # The text of an error may hold a signed URL. The sentence names its class alone.
    return Failure(
        _reason(error, absent, passing),
        error,
        status=status_of(error),
        absent=absent,
        # Nobody knows what an earlier request of the file system has done.
        arrived=True,
        passing=passing,
        silent=isinstance(error, TimeoutError) or "Timeout" in type(error).__name__,
    )


def _reason(error: Exception, absent: bool, passing: bool) -> str:
    status, name = status_of(error), type(error).__name__
    if absent:
        return "the bucket does not exist; create it first, or correct its name"
    if isinstance(error, PermissionError) or status in (401, 403):
        return f"permission denied ({name}); check the credentials of the file system"
    if passing and status is not None:
        return busy(status)
    return f"the file system has failed ({name})"
