"""File systems of fsspec that callers have in hand: the URL of a path in one, and their pickles.

Spec: docs/stores.md#addresses
"""

from __future__ import annotations

import pickle
from typing import Any

from colonnade.manifests.errors import InvalidInputError


def url_in(filesystem: Any, path: str) -> str:
    """Return the URL of a path in a file system.

    The path may have a scheme of the file system, or none. Does no I/O. Raises: InvalidInputError
    for a value that is not a file system of fsspec, for a URL of another one, and for a path with
    parts that a client or server would change on the way.
    """
    kind = type(filesystem)
    # A class of fsspec is known by these, because only who passes one needs fsspec.
    if not all(hasattr(kind, name) for name in ("protocol", "_strip_protocol", "unstrip_protocol")):
        raise InvalidInputError(
            "filesystem must be a file system of fsspec, such as s3fs.S3FileSystem(), and not of"
            f" type {kind.__module__}.{kind.__qualname__}."
        )
    of_kind = filesystem.protocol
    schemes = [of_kind] if isinstance(of_kind, str) else [*of_kind]
    scheme, mark, _ = path.partition("://")
    if mark and scheme not in schemes:
        raise InvalidInputError(
            f"{scheme}: is no scheme of the given file system {kind.__name__}; leave it out, or"
            f" write {schemes[0]}:."
        )
    place = str(filesystem._strip_protocol(path))
    inner = place.strip("/")
    if not inner.isprintable() or any(
        part in ("", ".", "..") or {"?", "*"} & {*part} for part in inner.split("/")
    ):
        raise InvalidInputError(
            f"{path[:300]!r} cannot be the place of a database: it is empty, or has an empty part,"
            " '.', '..', '?', '*' or a control character."
        )
    return f"{scheme if mark else schemes[0]}://{place}"


def check_pickles(filesystem: Any, url: str) -> None:
    """Raise InvalidInputError unless another process can get a file system."""
    try:
        pickle.dumps(filesystem)
    except Exception as error:
        raise InvalidInputError(
            f"{url} was opened with a file system of type {type(filesystem).__name__} that cannot"
            f" be sent to another process ({type(error).__name__}); open it there with a file"
            " system of that process, or by its URL and storage options."
        ) from error
