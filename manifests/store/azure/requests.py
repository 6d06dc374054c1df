"""The requests of a store to a container of Azure.

Spec: docs/spec/store.md#buckets
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from colonnade.manifests.store.azure.client import AzureClient
from colonnade.manifests.store.azure.failures import refusal
from colonnade.manifests.store.azure.upload import AzureUpload
from colonnade.manifests.store.base import Data, ObjectInfo
from colonnade.manifests.store.bucket.failure import Failure, accepting_absence
from colonnade.manifests.store.bucket.requests import (
    BucketRequests,
    CheckSize,
    Head,
    ListingPage,
    RemovalFailure,
    ms_of,
)

_PAGE = 5000


class AzureRequests(BucketRequests):
    """One container of Azure."""

    at_once = 256
    lacking = "Put Blob with 'If-None-Match: *', as Azure has it"

    def __init__(self, client: AzureClient) -> None:
        self.patience = client
        self.name = client.settings.container
        self._client = client

    @property
    def server(self) -> str:
        return self._client.server

    def read(self, key: str, check: CheckSize) -> bytes:
        def request() -> bytes:
            found = self._blob(key).download_blob()
            check(found.size)
            return bytes(found.readall())

        return self._client.send("read", request)

    def read_range(self, key: str, offset: int, length: int) -> bytes | None:
        def request() -> bytes:
            return bytes(self._blob(key).download_blob(offset, length).readall())

        try:
            found = self._client.send("read", request)
        except Failure as failure:
            if failure.status == 416:
                return None
            raise
        return found if len(found) == length else None

    def head(self, key: str) -> Head:
        found: Any = self._client.send("read", lambda: self._blob(key).get_blob_properties())
        return Head(found.size, ms_of(found.last_modified))

    def put(self, key: str, data: Data, *, if_absent: bool) -> None:
        def request() -> None:
            self._blob(key).upload_blob(bytes(data), overwrite=not if_absent, validate_content=True)

        self._client.send("write", request)

    def remove(self, key: str) -> None:
        with accepting_absence():
            self._client.send("remove", lambda: self._blob(key).delete_blob())

    def remove_batch(self, keys: Sequence[str]) -> Mapping[str, RemovalFailure]:
        def request() -> list[Any]:
            return list(self._client.container.delete_blobs(*keys, raise_on_any_failure=False))

        answers = self._client.send("remove", request)
        kept = {}
        for key, answer in zip(keys, answers, strict=True):
            code = answer.headers.get("x-ms-error-code", "")
            failure = refusal("remove", answer.status_code, code, ValueError(code))
            if answer.status_code >= 300 and not failure.absent:
                kept[key] = RemovalFailure(failure.reason, failure.passing)
        return kept

    def page(self, prefix: str, after: str | None) -> ListingPage:
        def request() -> ListingPage:
            pages = self._client.container.list_blobs(
                name_starts_with=prefix, include=["metadata"], results_per_page=_PAGE
            ).by_page(continuation_token=after)
            # Accounts with folders list these, too.
            found = [
                ObjectInfo(each.name, each.size, ms_of(each.last_modified))
                for each in next(pages, ())
                if (each.metadata or {}).get("hdi_isfolder") != "true"
            ]
            return ListingPage(found, pages.continuation_token or None)

        return self._client.send("list", request)

    def date_ms(self) -> int:
        dates: list[str] = []

        def request() -> None:
            pages = self._client.container.list_blobs(
                results_per_page=1,
                raw_response_hook=lambda answer: dates.append(answer.http_response.headers["Date"]),
            ).by_page()
            next(pages, None)

        self._client.send("list", request)
        return ms_of(dates[0])

    def upload(self, key: str) -> AzureUpload:
        return AzureUpload(self._client, key)

    def _blob(self, key: str) -> Any:
        return self._client.container.get_blob_client(key)
