"""A store in a container of Azure Blob Storage or Data Lake Storage.

Needs azure-storage-blob and azure-identity, which the extra `colonnade[azure]` brings. `open_store`
alone loads this package.

Spec: docs/spec/store.md#buckets
"""

from __future__ import annotations

from colonnade.manifests.store.azure.store import AzureStore

__all__ = ["AzureStore"]
