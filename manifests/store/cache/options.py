"""The storage options of the cache, and the one cache of this process for each folder."""

from __future__ import annotations

import os
from collections.abc import Mapping
from threading import Lock
from typing import Any, NamedTuple

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.sizes import parse_size
from colonnade.manifests.store.cache.folder import FolderPieces
from colonnade.manifests.store.cache.memory import MemoryPieces

FOLDER_BYTES = 10 << 30
MEMORY_BYTES = 64 << 20


class Cache(NamedTuple):
    """Where pieces are kept. Memory is asked first."""

    memory: MemoryPieces
    folder: FolderPieces


def cache_of(options: Mapping[str, Any], url: str) -> Cache | None:
    """Return the cache that storage options ask for; None without the option `cache`.

    `cache` is the absolute path of a local folder, which is made when the first piece is kept.
    `cache_bytes` limits the folder (10 GiB), and `cache_memory_bytes` the memory of this process
    (64 MiB). Equal options return the same cache. Does no I/O.

    Raises InvalidInputError that names the malformed option of `url`.
    """
    folder = options.get("cache")
    if folder is None:
        for name in ("cache_bytes", "cache_memory_bytes"):
            if name in options:
                raise InvalidInputError(
                    f"The storage option {name} of {url} needs the option cache, the folder."
                )
        return None
    if not isinstance(folder, str) or not os.path.isabs(folder) or "\0" in folder:
        raise InvalidInputError(
            f"The storage option cache of {url} must be the absolute path of a local folder."
        )
    chosen = (
        os.path.normpath(folder),
        _size(options, "cache_bytes", FOLDER_BYTES, url),
        _size(options, "cache_memory_bytes", MEMORY_BYTES, url),
    )
    with _LOCK:
        if chosen not in _CACHES:
            _CACHES[chosen] = Cache(MemoryPieces(chosen[2]), FolderPieces(chosen[0], chosen[1]))
        return _CACHES[chosen]


_LOCK = Lock()
_CACHES: dict[tuple[str, int, int], Cache] = {}


def _size(options: Mapping[str, Any], name: str, default: int, url: str) -> int:
    value = options.get(name, default)
    try:
        size = parse_size(value) if isinstance(value, str) else value
    except ValueError:
        size = None
    if isinstance(size, bool) or not isinstance(size, int) or size < 0:
        raise InvalidInputError(
            f"The storage option {name} of {url} must be a number of bytes, such as 20 GiB."
        )
    return size
