"""A store in a container of Azure Blob Storage or Data Lake Storage.

Spec: docs/spec/store.md#buckets
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from colonnade.manifests.store.address import StoreAddress
from colonnade.manifests.store.azure.address import parse_address
from colonnade.manifests.store.azure.client import client_of
from colonnade.manifests.store.azure.requests import AzureRequests
from colonnade.manifests.store.azure.settings import parse_settings
from colonnade.manifests.store.bucket.store import BucketStore


class AzureStore(BucketStore):
    """Objects below a key of a container of Azure.

    Raises: InvalidInputError for a URL or options that cannot work.
    """

    def __init__(
        self, path: str | StoreAddress, storage_options: Mapping[str, Any] | None = None
    ) -> None:
        given = StoreAddress.of(path, storage_options)
        address = parse_address(given.connection_url)
        self._settings = parse_settings(given.connection_options, address, os.environ)
        settings = self._settings
        super().__init__(
            given, address.place.url, address.place.prefix, settings.identity, settings.parallel
        )

    @property
    def bucket(self) -> AzureRequests:
        return AzureRequests(client_of(self._settings))
