"""The classes of fsspec that Colonnade writes through, and what is special about each.

The mode "create" of fsspec promises nothing: most classes inherit a look that is followed by a
write, and wrappers drop the mode. The classes here make it one conditional request, from the stated
version on. They are known by identity, because a subclass may do it in another way.

Spec: docs/spec/store.md#file-systems-of-fsspec
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib import metadata
from typing import Any, NamedTuple

from colonnade.manifests.store.object_store import PARALLEL

MARK = "colonnade-write"
"""The metadata of an object that names its writer, which may have lost the answer."""

_BOUNDARY = b"--==0=="
"""The line that ends the bytes of an object where gcsfs sends it by one request."""


_COMPARED = {"consistency": "md5"}
"""Lets gcsfs compare its own checksum with that of GCS, after an object was sent."""


def _nothing(_: object) -> dict[str, Any]:
    return {}


class WritingClass(NamedTuple):
    """A class that Colonnade writes through.

    `lowest` is the first version of `package` that does. `reading` are arguments of `cat_file` that
    make it one request. `options` adds to the options of an instance, `whole` gives the arguments
    of `pipe_file` for a body that goes by one request, and `marked` those of `pipe_file` and `open`
    that give a new object a mark. `mark_of` reads the mark of an object again.
    """

    package: str
    name: str
    lowest: str
    marked: Callable[[str], dict[str, Any]]
    mark_of: Callable[[Any, str], str | None]
    reading: Mapping[str, Any] = {}
    options: Callable[[Mapping[str, Any]], dict[str, Any]] = _nothing
    whole: Callable[[bytes], dict[str, Any]] = _nothing

    def is_new_enough(self) -> bool:
        """Return whether the installed version of the package is known to be safe."""
        with suppress(metadata.PackageNotFoundError):
            return _numbers(metadata.version(self.package)) >= _numbers(self.lowest)
        return False


def _of_s3(options: Mapping[str, Any]) -> dict[str, Any]:
    # botocore's own 10 connections would make most requests of a group wait.
    given = options.get("config_kwargs") or {}
    return {"config_kwargs": {"max_pool_connections": PARALLEL, **given}}


def _whole_of_gcs(body: bytes) -> dict[str, Any]:
    # Only a body that is shorter than `chunksize` goes between two boundaries.
    return {"chunksize": len(body) + (_BOUNDARY not in body), **_COMPARED}


def _marked_of_gcs(token: str) -> dict[str, Any]:
    return {"metadata": {MARK: token}, **_COMPARED}


def _mark_of_azure(files: Any, path: str) -> str | None:
    settings = files.info(path, refresh=True).get("content_settings") or {}
    found = settings.get("content_disposition")
    return None if found is None else str(found)


_S3 = WritingClass(
    "s3fs",
    "S3FileSystem",
    "2025.7.0",
    marked=lambda token: {"Metadata": {MARK: token}},
    mark_of=lambda files, path: files.metadata(path, refresh=True).get(MARK),
    options=_of_s3,
    whole=lambda body: {"chunksize": len(body)},  # parts begin with twice as many bytes
)
_GCS = WritingClass(
    "gcsfs",
    "GCSFileSystem",
    "2025.7.0",
    marked=_marked_of_gcs,
    mark_of=lambda files, path: (files.info(path).get("metadata") or {}).get(MARK),
    reading={"concurrency": 1},
    whole=_whole_of_gcs,
)
_AZURE = WritingClass(
    "adlfs",
    "AzureBlobFileSystem",
    "2026.8.0",
    # Its `pipe_file` has metadata of its own.
    marked=lambda token: {"content_settings": {"content_disposition": token}},
    mark_of=_mark_of_azure,
    reading={"max_concurrency": 1},
    whole=lambda body: {"validate_content": True},
)
_CLASSES = {
    ("s3fs.core", "S3FileSystem"): _S3,
    ("gcsfs.core", "GCSFileSystem"): _GCS,
    ("gcsfs.extended_gcsfs", "ExtendedGcsFileSystem"): _GCS,
    ("adlfs.spec", "AzureBlobFileSystem"): _AZURE,
}


def writing_class(files: Any) -> WritingClass | None:
    """Return how to write through a file system; None if Colonnade only reads through it."""
    kind = type(files)
    found = _CLASSES.get((kind.__module__, kind.__qualname__))
    known = getattr(sys.modules.get(kind.__module__), kind.__qualname__, None)
    return found if kind is known else None


def listed() -> str:
    """Return the classes and versions as part of a sentence."""
    return ", ".join(f"{each.package}.{each.name} ({each.lowest})" for each in (_S3, _GCS, _AZURE))


def _numbers(version: str) -> list[int]:
    return [int(each) for each in re.findall(r"\d+", version)[:3]]
