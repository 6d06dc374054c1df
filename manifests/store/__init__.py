"""Stores: their contract, each kind of store, and how a path names one.

    base.py  object_store.py                 the promise of a store, and what is built on it
    checks.py  turn.py                       checks that every store makes, and turns
    address.py  path_text.py                 where a store is, as text and as a value
    option_text.py  option_names.py          options of a store as text, and their other names
    local/                                   files of this machine
    memory.py  memory_turns.py               objects in memory, and the order of their writers
    draft.py                                 what a dry run writes, in memory over a store
    bucket/  s3/  gcs/  azure/               buckets: what they share, and each kind
    hdfs/                                    a file system of Hadoop
    fsspec_files/  user_file_systems.py      file systems of fsspec, and all other URLs
    cache/                                   a cache on this machine in front of a bucket
    transient.py                             errors that may pass, and tries
    side_by_side.py  threads.py              calls side by side, and the threads that make them
    near_ranges.py                           near ranges read as one

Spec: docs/spec/store.md
"""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from colonnade.manifests.errors import InvalidInputError, NotFoundError
from colonnade.manifests.later import later
from colonnade.manifests.store.address import StoreAddress, StorePath
from colonnade.manifests.store.base import ObjectInfo, ObjectWriter, PutOutcome
from colonnade.manifests.store.local import LocalStore
from colonnade.manifests.store.memory import MemoryStore
from colonnade.manifests.store.object_store import ObjectStore
from colonnade.manifests.store.option_names import AZURE, GCS, S3
from colonnade.manifests.store.path_text import is_url, local_path

if TYPE_CHECKING:
    from colonnade.manifests.store.cache import store as caches
else:
    caches = later("colonnade.manifests.store.cache.store")


class _Kind(NamedTuple):
    """A kind of store behind a network: its package and class, and what it needs."""

    package: str
    store: str
    title: str
    extra: str
    needs: dict[str, str]
    """Packages that may be missing, each with the name under which they are installed."""


_KINDS = {
    S3: _Kind("s3", "S3Store", "S3", "s3", {"botocore": "botocore"}),
    GCS: _Kind("gcs", "GcsStore", "GCS", "gcs", {"google": "google-auth", "requests": "requests"}),
    AZURE: _Kind(
        "azure", "AzureStore", "Azure", "azure", {"azure": "azure-storage-blob and azure-identity"}
    ),
    re.compile(r"(?:web)?hdfs://", re.IGNORECASE): _Kind(
        "hdfs", "HdfsStore", "HDFS", "hdfs", {"requests": "requests"}
    ),
}

_FSSPEC = _Kind("fsspec_files", "FsspecStore", "file systems of fsspec", "", {})

_OLD_AZURE = re.compile(r"wasbs?://", re.IGNORECASE)

__all__ = [
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

    A plain path or a `file:` URL means local disk. A `~` or `~user` at the start of a path means
    a home folder. `s3:`, `s3a:`, `gs:` and `gcs:` URLs mean a bucket, and `az:`, `abfs:` and
    `abfss:` URLs a container, with the storage options of s3fs, gcsfs and adlfs. `hdfs:` and
    `webhdfs:` URLs mean a folder of HDFS, with the storage options of fsspec's WebHDFS. Any other
    URL goes through fsspec, which gets the storage options, and so does a path with a file system
    of its own. The options `cache` and
    `cache_bytes` are Colonnade's own, for every URL. With `create`, the call makes the
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
    expanded = os.path.expanduser(local)
    if expanded.startswith("~"):
        raise InvalidInputError(
            f"{address.url} begins with the home folder of a user who does not exist; write"
            f" ./{local} for a folder of that name."
        )
    try:
        store = LocalStore(expanded)
    except FileNotFoundError as error:
        raise NotFoundError(
            f"{address.url} is relative to the working directory, which was removed; give an"
            " absolute path."
        ) from error
    if create:
        store.make_root()
    return store


def _remote(address: StoreAddress) -> ObjectStore:
    return caches.with_cache(_connected(address))


def _connected(address: StoreAddress) -> ObjectStore:
    kinds = {} if address.filesystem is not None else _KINDS
    kind = next((kind for pattern, kind in kinds.items() if pattern.match(address.url)), _FSSPEC)
    if _OLD_AZURE.match(address.url):
        raise InvalidInputError(
            f"{address.url} is an address that Azure Blob Storage had for Hadoop; write"
            " abfss://container@account.dfs.core.windows.net/folder."
        )
    try:
        # Only who uses a bucket needs its client.
        found = importlib.import_module(f"colonnade.manifests.store.{kind.package}")
    except ModuleNotFoundError as error:
        missing = kind.needs.get((error.name or "").partition(".")[0])
        if missing is None:
            raise
        raise InvalidInputError(
            f"Databases on {kind.title} need {missing}: install colonnade[{kind.extra}]."
        ) from error
    store: ObjectStore = getattr(found, kind.store)(address)
    return store
