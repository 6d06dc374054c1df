"""The namenode and the folder that a URL of HDFS names. Pure.

Spec: docs/stores.md#paths-and-urls
"""

from __future__ import annotations

import re

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.store.bucket.place import BucketPlace, parse_place

_NAMENODE = re.compile(r"(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:]+\])(?::\d{1,5})?", re.ASCII)


def parse_address(url: str) -> BucketPlace:
    """Return what a URL of `hdfs:` or `webhdfs:` names; its bucket is the namenode.

    Raises: InvalidInputError for a URL without a namenode, and as `parse_place`.
    """
    scheme = url.partition(":")[0].lower()
    rest = url.partition("://")[2]
    if not rest.partition("/")[0]:
        raise InvalidInputError(
            f"{url[:300]!r} names no namenode; write {scheme}://namenode:port/folder, or"
            f" {scheme}://nameservice/folder."
        )
    place = parse_place(url, scheme, scheme, _NAMENODE, "user, token")
    if ":" in place.prefix:
        raise InvalidInputError(
            f"{place.url[:300]!r} cannot be the place of a database: HDFS allows no ':' in the name"
            " of a folder."
        )
    return place
