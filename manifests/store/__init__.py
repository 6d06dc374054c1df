"""Stores: their contract, each kind of store, and how a path names one.

Spec: docs/spec/store.md
"""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Mapping
from typing import Any

from colonnade.manifests.errors import InvalidInputError, NotFoundError
from colonnade.manifests.store.address import StoreAddress, StorePath
from colonnade.manifests.store.base import ObjectInfo, ObjectStore, ObjectWriter, PutOutcome
from colonnade.manifests.store.cache.store import with_cache
from colonnade.manifests.store.local import LocalStore
from colonnade.manifests.store.memory import MemoryStore
from colonnade.manifests.store.path_text import is_url, local_path
from colonnade.manifests.store.readonly import FsspecReadStore

_S3 = re.compile(r"s3a?://", re.IGNORECASE)

__all__ = [
    "FsspecReadStore",
    "LocalStore",
    "MemoryStore",
    "ObjectInfo",
    "ObjectStore",
    "ObjectWriter",
    "PutOutcome",
    "StoreAddress",
    "StorePath",
    "is_url",
    "open_store",
]


def open_store(
    path: StorePath, storage_options: Mapping[str, Any] | None = None, create: bool = False
) -> ObjectStore:
    """Open the store at a path or address; `create` says that the caller is going to write.

    A plain path or a `file:` URL means local disk. A `~` at the start of a plain path means the
    home directory. `s3:` and `s3a:` URLs mean a bucket, with the storage options of s3fs. Any other
    URL is read through fsspec, which gets the storage options. The options `cache`, `cache_bytes`
    and `cache_memory_bytes` are Colonnade's own, for every URL. With `create`, the call makes the
    local folder, and it refuses a store that cannot be written safely at once instead of at the
    first write. Without `create` it does no I/O on local disk or in a bucket, so it also opens a
    path where nothing exists.

    Raises: InvalidInputError for a path, protocol or options that cannot work; NotFoundError for a
    relative path if the working directory was removed; StoreError.
    """
    address = StoreAddress.of(path, storage_options)
    local = local_path(address.url)
    if local is None:
        remote = _remote(address)
        if create:
            remote.require_writable()
        return remote
    try:
        store = LocalStore(os.path.expanduser(local))
    except FileNotFoundError as error:
        raise NotFoundError(
            f"{address.url} is relative to the working directory, which was removed; give an"
            " absolute path."
        ) from error
    if create:
        store.make_root()
    return store


def _remote(address: StoreAddress) -> ObjectStore:
    return with_cache(_connected(address))


def _connected(address: StoreAddress) -> ObjectStore:
    if not _S3.match(address.url):
        return FsspecReadStore(address)
    try:
        # Only who uses a bucket needs its client.
        kind = importlib.import_module("colonnade.manifests.store.s3").S3Store
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "botocore":
            raise
        raise InvalidInputError("Databases on S3 need botocore: install colonnade[s3].") from error
    store: ObjectStore = kind(address)
    return store
