"""A store in a bucket of Google Cloud Storage.

Needs google-auth and requests, which the extra `colonnade[gcs]` brings. `open_store` alone loads
this package.

Spec: docs/spec/store.md#buckets
"""

from __future__ import annotations

from colonnade.manifests.store.gcs.store import GcsStore

__all__ = ["GcsStore"]
