"""The storage options of the cache, and the one cache of this process for each folder."""

from __future__ import annotations

import os
from collections.abc import Mapping
from threading import Lock
from typing import Any, NamedTuple

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.sizes import parse_size
from colonnade.manifests.store.cache.folder import FolderPieces

FOLDER_BYTES = 10 << 30


class CacheSettings(NamedTuple):
    """The folder of a cache, and the most bytes in it."""

    folder: str
    bytes: int


def cache_settings(options: Mapping[str, Any], url: str) -> CacheSettings | None:
    """Return the settings of the cache in storage options; None without the option `cache`.

    `cache` is the absolute path of a local folder, and `cache_bytes` limits the folder (10 GiB).
    Raises InvalidInputError that names the malformed option of `url`.
    """
    folder = options.get("cache")
    if folder is None:
        if "cache_bytes" in options:
            raise InvalidInputError(
                f"The storage option cache_bytes of {url} needs the option cache, the folder."
            )
        return None
    if not isinstance(folder, str) or not os.path.isabs(folder) or "\0" in folder:
        raise InvalidInputError(
            f"The storage option cache of {url} must be the absolute path of a local folder."
        )
    return CacheSettings(os.path.normpath(folder), _bytes(options, url))


def cache_of(options: Mapping[str, Any], url: str) -> FolderPieces | None:
    """Return the cache that storage options ask for; None without the option `cache`.

    The folder is made when the first piece is kept. Equal settings return the same cache. The first
    call looks at the folder, and warns if it cannot be used. Raises as `cache_settings`.
    """
    chosen = cache_settings(options, url)
    if chosen is None:
        return None
    with _LOCK:
        if chosen not in _CACHES:
            folder = FolderPieces(chosen.folder, chosen.bytes)
            folder.check()
            _CACHES[chosen] = folder
        return _CACHES[chosen]


_LOCK = Lock()
_CACHES: dict[CacheSettings, FolderPieces] = {}


def _bytes(options: Mapping[str, Any], url: str) -> int:
    value = options.get("cache_bytes", FOLDER_BYTES)
    try:
        size = parse_size(value) if isinstance(value, str) else value
    except ValueError:
        size = None
    if isinstance(size, bool) or not isinstance(size, int) or size < 0:
        raise InvalidInputError(
            f"The storage option cache_bytes of {url} must be a number of bytes, such as 20 GiB."
        )
    return size
