"""How a new object is sent to Azure.

Blocks become an object by a list that names them. Azure removes the blocks of a killed writer
after a week.

Spec: docs/spec/store.md#buckets
"""

from __future__ import annotations

import secrets
from typing import Any

from azure.core import MatchConditions
from azure.storage.blob import BlobBlock

from colonnade.manifests.store.azure.client import AzureClient
from colonnade.manifests.store.bucket.upload import Upload

MARK = "colonnade_write"
"""The metadata that names the writer. Azure allows no hyphen in such a name."""

PART = 8 << 20
"""Bytes of the first blocks."""

_PARTS_OF_A_SIZE = 10_000
"""Blocks are twice as long after as many, so that the 50,000 that Azure allows hold any object."""

UNDER_WAY = 3


class AzureUpload(Upload):
    """One Put Blob, or blocks and a list of them."""

    under_way = UNDER_WAY

    def __init__(self, client: AzureClient, key: str) -> None:
        self.patience = client
        self._client = client
        self._blob: Any = client.container.get_blob_client(key)
        self._token = secrets.token_hex(16)

    def part_size(self, number: int) -> int:
        return int(PART << number // _PARTS_OF_A_SIZE)

    def put(self, body: bytes) -> None:
        self._client.send(
            "write",
            lambda: self._blob.upload_blob(
                body, overwrite=False, metadata={MARK: self._token}, validate_content=True
            ),
        )

    def begin(self) -> None:
        """Do nothing: the first block begins the upload."""

    def send(self, number: int, offset: int, body: bytes) -> str:
        block = f"{self._token}{number:08}"
        self._client.send(
            "write", lambda: self._blob.stage_block(block, body, validate_content=True)
        )
        return block

    def finish(self, parts: list[Any], rest: bytes) -> None:
        blocks = [BlobBlock(block_id=each) for each in parts]
        self._client.send(
            "write",
            lambda: self._blob.commit_block_list(
                blocks,
                metadata={MARK: self._token},
                match_condition=MatchConditions.IfMissing,
            ),
        )

    def end(self) -> None:
        """Do nothing: blocks cannot be removed, and end by themselves."""

    def is_own(self) -> bool:
        found: Any = self._client.send("read", self._blob.get_blob_properties)
        return bool((found.metadata or {}).get(MARK) == self._token)
