"""The bucket and the key that an `s3://` URL names. Pure.

Spec: docs/spec/store.md#buckets
"""

from __future__ import annotations

import re

from colonnade.manifests.store.bucket.place import BucketPlace, parse_place

_BUCKET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9]", re.ASCII)


def parse_address(url: str) -> BucketPlace:
    """Return what a URL of `s3:` or `s3a:` names. Raises as `parse_place`."""
    return parse_place(url, "s3a?", "s3", _BUCKET, "key, secret")
