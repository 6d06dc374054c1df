"""A store on a file system of fsspec. It writes through a few classes, and reads through all.

Spec: docs/spec/store.md#file-systems-of-fsspec
"""

from __future__ import annotations

from colonnade.manifests.store.fsspec_files.store import FsspecStore

__all__ = ["FsspecStore"]
