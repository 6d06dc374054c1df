"""Where objects live: the contract of a store, the stores, and how a path names one.

Spec: docs/spec/store.md
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from colonnade.manifests.errors import InvalidInputError, NotFoundError
from colonnade.manifests.store.base import ObjectInfo, ObjectStore, ObjectWriter, PutOutcome
from colonnade.manifests.store.local import LocalStore
from colonnade.manifests.store.memory import MemoryStore
from colonnade.manifests.store.path_text import is_url, local_path
from colonnade.manifests.store.readonly import FsspecReadStore

__all__ = [
    "FsspecReadStore",
    "LocalStore",
    "MemoryStore",
    "ObjectInfo",
    "ObjectStore",
    "ObjectWriter",
    "PutOutcome",
    "is_url",
    "open_store",
]


def open_store(
    path: str | os.PathLike[str],
    storage_options: Mapping[str, Any] | None = None,
    create: bool = False,
) -> ObjectStore:
    """Open the store at `path`; `create` says that the caller is going to write.

    A plain path (`~` at its start is the home directory) or `file:` URL is local disk; any other
    URL is read through fsspec, which gets the storage options. With `create` the
    local folder is made, and a store that cannot be written safely is refused at once instead of
    at the first write. Does no I/O otherwise, so a path where nothing is opens well.

    Raises: InvalidInputError for a path, protocol or options that cannot work; NotFoundError for a
    relative path where the working directory is gone; StoreError.
    """
    text = os.fspath(path)
    if not isinstance(text, str) or not text or "\0" in text or not _encodes(text):
        raise InvalidInputError(f"{text!r} is no path: give a folder or a URL.")
    local = local_path(text)
    if local is None:
        remote = FsspecReadStore(text, storage_options)
        if create:
            remote.require_writable()
        return remote
    if storage_options:
        raise InvalidInputError(
            f"{text} is a local path, for which the storage options {sorted(storage_options)}"
            " mean nothing; leave them out."
        )
    try:
        store = LocalStore(os.path.expanduser(local))
    except FileNotFoundError as error:
        raise NotFoundError(
            f"{text} is relative to the working directory, which is gone; give an absolute path."
        ) from error
    if create:
        store.make_root()
    return store


def _encodes(text: str) -> bool:
    """Whether a file can have this name: half of a surrogate pair is in none."""
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        return False
    return True
