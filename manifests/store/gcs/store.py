"""A store in a bucket of Google Cloud Storage.

Spec: docs/spec/store.md#buckets
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

from colonnade.manifests.store.address import StoreAddress
from colonnade.manifests.store.bucket.place import BucketPlace, parse_place
from colonnade.manifests.store.bucket.store import BucketStore
from colonnade.manifests.store.gcs.client import client_of
from colonnade.manifests.store.gcs.requests import GcsRequests
from colonnade.manifests.store.gcs.settings import parse_settings

_BUCKET = re.compile(r"[a-z0-9][a-z0-9._-]{1,220}[a-z0-9]", re.ASCII)


def parse_address(url: str) -> BucketPlace:
    """Return what a URL of `gs:` or `gcs:` names. Raises as `parse_place`."""
    return parse_place(url, "gc?s", "gs", _BUCKET, "token")


class GcsStore(BucketStore):
    """Objects below a key of a bucket of GCS. `gcs:` URLs are the same as `gs:` URLs.

    Raises: InvalidInputError for a URL or options that cannot work.
    """

    def __init__(
        self, path: str | StoreAddress, storage_options: Mapping[str, Any] | None = None
    ) -> None:
        given = StoreAddress.of(path, storage_options)
        place = parse_address(given.connection_url)
        self._settings = parse_settings(given.connection_options, place.url, os.environ)
        self._bucket = place.bucket
        settings = self._settings
        super().__init__(given, place.url, place.prefix, settings.identity, settings.parallel)

    @property
    def bucket(self) -> GcsRequests:
        return GcsRequests(client_of(self._settings), self._bucket)
