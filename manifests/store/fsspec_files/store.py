"""A store on a file system of fsspec.

Spec: docs/spec/store.md#file-systems-of-fsspec
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from colonnade.manifests.store.address import StoreAddress
from colonnade.manifests.store.bucket.store import BucketStore
from colonnade.manifests.store.checks import check_name, too_large
from colonnade.manifests.store.fsspec_files.client import FsspecSettings, client_of
from colonnade.manifests.store.fsspec_files.requests import FsspecRequests
from colonnade.manifests.store.object_store import PARALLEL


class FsspecStore(BucketStore):
    """Objects below a path of a file system of fsspec, or below any URL that fsspec knows.

    It writes through the classes of `classes.py` alone, and reads through all. Raises:
    InvalidInputError if the protocol is unknown, lacks its package or refuses the options;
    StoreError if connecting fails.
    """

    def __init__(
        self, path: str | StoreAddress, storage_options: Mapping[str, Any] | None = None
    ) -> None:
        given = StoreAddress.of(path, storage_options)
        self._settings = FsspecSettings(given)
        client = client_of(self._settings)
        root = client.root_of(given)
        # Some file systems without a server, such as `zip`, cannot be used by several threads.
        parallel = PARALLEL if getattr(client.files, "async_impl", False) else 1
        super().__init__(
            given, given.url, f"{root}/" if root else "", self._settings.identity, parallel
        )
        self.read_only = client.writes is None
        self.keeps_logs = self.has_clock = not self.read_only
        if parallel == 1:
            self.trust_s = 0.0

    @property
    def bucket(self) -> FsspecRequests:
        client, identity = client_of(self._settings), self._settings.identity
        return FsspecRequests(client, self.url, self._prefix, identity)

    def get(self, name: str, *, limit: int | None = None) -> bytes:
        if limit is None:
            return super().get(name)
        check_name(name)
        bucket = self.bucket
        # To read one byte more than is allowed takes one request instead of a size and a read.
        read = partial(bucket.read_beginning, self._prefix + name, limit + 1)
        data = bucket.patience.call(read, self.locate(name), "read")
        if len(data) > limit:
            raise too_large(self.locate(name), f"at least {len(data)}", limit)
        return data

    def remove_folder(self, name: str) -> None:
        super().remove_folder(name)
        self.bucket.require_class()

    def require_writable(self) -> None:
        self.bucket.require_class()
        super().require_writable()
