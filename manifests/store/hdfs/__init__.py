"""A store on HDFS, over WebHDFS.

Needs requests, which the extra `colonnade[hdfs]` brings. `open_store` alone loads this package.

Spec: docs/spec/store.md#buckets
"""

from __future__ import annotations

from colonnade.manifests.store.hdfs.store import HdfsStore

__all__ = ["HdfsStore"]
