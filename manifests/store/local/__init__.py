"""A store on local disk: temporary file, fsync, hard link, fsync of the directory.

    store.py                  the calls of the contract
    reading.py                opened objects, and bytes out of them
    first_epoch.py            which log this is, by the file of its first epoch
    folders.py  files.py      folders below a root, and files in them
    writer.py                 objects that are written in parts
    turns.py                  the order of the writers of a machine

Spec: docs/spec/store.md#local-disk
"""

from __future__ import annotations

from colonnade.manifests.store.local.store import LocalStore

__all__ = ["LocalStore"]
