"""The bucket and the key that an `s3://` URL names. Pure.

Spec: docs/spec/store.md#buckets
"""

from __future__ import annotations

import re
from typing import NamedTuple

from colonnade.manifests.errors import InvalidInputError

_URL = re.compile(r"s3a?://([^/]*)/?(.*)", re.DOTALL | re.IGNORECASE)
_BUCKET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9]", re.ASCII)
_KEY_LIMIT = 400
"""The most bytes of a root's key. S3 allows 1,024, and the names of objects need the rest."""


class S3Address(NamedTuple):
    """The root of a store: a bucket, and what every key begins with ("" or a text that ends in /).

    A key is taken literally, with spaces, `%` and all letters of Unicode.
    """

    bucket: str
    prefix: str

    @property
    def url(self) -> str:
        """The root as a URL without a slash at its end. `s3a:` URLs get the scheme `s3`, too."""
        return f"s3://{self.bucket}/{self.prefix}".rstrip("/")


def parse_address(url: str) -> S3Address:
    """Return what a URL of `s3:` or `s3a:` names. A slash at its end means nothing.

    Raises: InvalidInputError for a URL without a bucket, with credentials, or with a key whose
    parts a client or server would change on the way (`..`, empty parts, `?`, control characters).
    """
    found = _URL.fullmatch(url)
    bucket, key = (found[1], found[2].rstrip("/")) if found else ("", "")
    if "@" in bucket:
        shown = f"s3://{bucket.rpartition('@')[2]}/{key.partition('?')[0]}"
        raise InvalidInputError(
            f"{shown} was given with credentials in it; pass them as storage options (key, secret)."
        )
    if "?" in key:
        raise InvalidInputError(
            f"s3://{bucket}/{key.partition('?')[0]} was given with a query; leave out the '?' and"
            " what follows."
        )
    if not _BUCKET.fullmatch(bucket):
        raise InvalidInputError(f"{url[:300]!r} names no bucket; write s3://bucket/folder.")
    parts = key.split("/") if key else []
    if any(part in ("", ".", "..") for part in parts) or not key.isprintable():
        raise InvalidInputError(
            f"{url[:300]!r} cannot be the place of a database: its key has an empty part, '.', '..'"
            " or a control character; write s3://bucket/folder."
        )
    if len(key.encode(errors="surrogatepass")) > _KEY_LIMIT:
        raise InvalidInputError(
            f"{url[:300]!r}… is too long: a key has at most {_KEY_LIMIT} bytes here."
        )
    return S3Address(bucket, f"{key}/" if key else "")
