"""The bucket and the key that a URL names. Pure.

Spec: docs/stores.md#paths-and-urls
"""

from __future__ import annotations

import re
from typing import NamedTuple

from colonnade.manifests.errors import InvalidInputError

_EXAMPLES = {
    "az": "container/folder",
    "abfs": "container@account.dfs.core.windows.net/folder",
    "abfss": "container@account.dfs.core.windows.net/folder",
    "hdfs": "namenode:8020/folder",
    "webhdfs": "namenode:9870/folder",
}
"""What follows the scheme in a URL of that scheme, where it is not the name of a bucket."""

KEY_LIMIT = 400
"""The most bytes of a root's key. Stores allow 1,024, and the names of objects need the rest."""


class BucketPlace(NamedTuple):
    """The root of a store: a bucket, and what every key begins with ("" or a text that ends in /).

    A key is taken literally, with spaces, `%` and all letters of Unicode.
    """

    scheme: str
    bucket: str
    prefix: str

    @property
    def url(self) -> str:
        """The root as a URL without a slash at its end."""
        return f"{self.scheme}://{self.bucket}/{self.prefix}".rstrip("/")


def parse_place(
    url: str, schemes: str, shown: str, bucket_pattern: re.Pattern[str], credentials: str
) -> BucketPlace:
    """Return what a URL names. `schemes` is a pattern, and `shown` the scheme of messages.

    A slash at the end means nothing. `credentials` names the storage options for credentials.

    Raises: InvalidInputError for a URL without a bucket, with credentials, or with a key whose
    parts a client or server would change on the way (`..`, empty parts, `?`, control characters).
    """
    found = re.fullmatch(rf"(?:{schemes})://([^/]*)/?(.*)", url, re.DOTALL | re.IGNORECASE)
    bucket, key = (found[1], found[2].rstrip("/")) if found else ("", "")
    example = f"write {shown}://{_EXAMPLES.get(shown, 'bucket/folder')}"
    if "@" in bucket and not bucket_pattern.fullmatch(bucket):
        place = f"{shown}://{bucket.rpartition('@')[2]}/{key.partition('?')[0]}"
        raise InvalidInputError(
            f"{place} was given with credentials in it; pass them as storage options"
            f" ({credentials})."
        )
    if "?" in key:
        raise InvalidInputError(
            f"{shown}://{bucket}/{key.partition('?')[0]} was given with a query; leave out the '?'"
            " and what follows."
        )
    if not bucket_pattern.fullmatch(bucket):
        raise InvalidInputError(f"{url[:300]!r} names no bucket; {example}.")
    parts = key.split("/") if key else []
    if any(part in ("", ".", "..") for part in parts) or not key.isprintable():
        raise InvalidInputError(
            f"{url[:300]!r} cannot be the place of a database: its key has an empty part, '.', '..'"
            f" or a control character; {example}."
        )
    if len(key.encode(errors="surrogatepass")) > KEY_LIMIT:
        raise InvalidInputError(
            f"{url[:300]!r}… is too long: a key has at most {KEY_LIMIT} bytes here."
        )
    return BucketPlace(shown, bucket, f"{key}/" if key else "")
