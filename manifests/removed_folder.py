"""The folder of a dropped database, moved away in one step and then removed.

Spec: docs/spec/layout.md#dropping
"""

from __future__ import annotations

import os
import re
import secrets
import shutil

from manifests.errors import ColonnadeError, InvalidInputError, StoreError
from manifests.log_reader import LogReader
from manifests.store.base import ObjectStore
from manifests.store.local import LocalStore

_GRAVE = re.compile(r"_dropped-[0-9a-f]{16}", re.ASCII)


def move_away(store: ObjectStore, *, only_dropped: bool = True) -> None:
    """Move the folder of a database away and remove it, and what killed drops left beside it.

    With `only_dropped` a folder whose log has not ended is moved back: another process has finished
    the drop meanwhile and made a new database there. Does nothing where the folder is gone. Raises
    InvalidInputError for a store other than local disk, StoreError; then files may be left in
    `_dropped-…` beside it, and the next drop removes them.
    """
    if not isinstance(store, LocalStore):
        raise InvalidInputError(
            f"{store.url} cannot be dropped: only databases on local disk can be."
        )
    parent = os.path.dirname(store.url)
    grave = f"{parent}/_dropped-{secrets.token_hex(8)}"
    try:
        os.rename(store.url, grave)
        if only_dropped and not _is_dropped(grave):
            os.rename(grave, store.url)
            return
    except FileNotFoundError:
        return
    except OSError as error:
        raise StoreError(
            f"{store.url} could not be removed: {error.strerror}. What was moved already is in"
            f" {grave}."
        ) from error
    for name in os.listdir(parent):
        if _GRAVE.fullmatch(name):
            shutil.rmtree(f"{parent}/{name}", ignore_errors=True)


def _is_dropped(folder: str) -> bool:
    try:
        return LogReader(LocalStore(folder)).is_dropped()
    except ColonnadeError:
        return False
