"""A store in an S3 bucket, or in a bucket of any server with S3's conditional writes.

Needs botocore, which the extra `colonnade[s3]` brings. `open_store` alone loads this package.

Spec: docs/spec/store.md#buckets
"""

from __future__ import annotations

from colonnade.manifests.store.s3.store import S3Store

__all__ = ["S3Store"]
