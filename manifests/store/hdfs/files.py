"""Files of HDFS: written under a temporary name, and made visible by a rename that is one step.

Spec: docs/spec/store.md#buckets
"""

from __future__ import annotations

import secrets
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

from colonnade.manifests.store.bucket.failure import Failure, accepting_absence
from colonnade.manifests.store.bucket.http import body_of
from colonnade.manifests.store.hdfs.client import HdfsClient, json_of
from colonnade.manifests.store.hdfs.failures import RefusedError

CREATE = {"op": "CREATE", "overwrite": "false", "createflag": "CREATE,SYNC_BLOCK"}
"""Begins a file. The datanodes sync each of its blocks to their disks when it is complete."""


class Status(NamedTuple):
    """What the namenode knows of a file or folder.

    `name` is its name in a listing of its folder. `kind` is FILE, DIRECTORY or another word.
    """

    name: str
    kind: str
    length: int
    modified_ms: int

    @classmethod
    def of(cls, found: Any) -> Status:
        """Take the parts of an answer's `FileStatus`. Raises LookupError, TypeError, ValueError."""
        length, modified_ms = int(found["length"]), int(found["modificationTime"])
        return cls(str(found["pathSuffix"]), str(found["type"]), length, modified_ms)


class HdfsFiles:
    """The steps of a write. Each raises Failure. Paths have no slash at the front."""

    def __init__(self, client: HdfsClient) -> None:
        self.client = client

    def write_unfinished(self, key: str, data: bytes) -> str:
        """Write a durable file with a temporary name beside `key`; returns that name.

        A failure means that `key` was not written.
        """
        temp = unfinished_key(key)
        try:
            url = self.client.locate("write", "PUT", temp, CREATE)
            self.client.transfer("write", "PUT", url, data, body_of)
        except Failure as failure:
            if failure.status is not None:
                self.discard(temp)
            raise replace(failure, arrived=False) from failure.error
        return temp

    def rename(self, temp: str, key: str, *, replacing: bool) -> None:
        """Give a file its name. Without `replacing`, a name that is taken is status 412."""
        way = "OVERWRITE" if replacing else "NONE"
        wanted = {"op": "RENAME", "destination": f"/{key}", "renameoptions": way}
        if self.client.ask("rename", "PUT", temp, wanted, json_of(bool)):
            # A server that ignores the option answers true or false, and may have replaced.
            reason = "the server ignores the option of a rename that it must not replace"
            raise Failure(reason, RefusedError(501, b""), status=501, arrived=True)

    def discard(self, temp: str) -> None:
        """Remove an unfinished file by one try. If that fails, vacuum finds it."""
        with suppress(Failure):
            self.remove(temp)

    def remove(self, key: str) -> None:
        """Remove a file or an empty folder. Accepts an absent one."""
        with accepting_absence():
            self.client.ask("remove", "DELETE", key, {"op": "DELETE"}, json_of(bool))

    def status(self, key: str) -> Status:
        """Return what the namenode knows of a file or folder."""
        take = json_of(lambda found: Status.of(found["FileStatus"]))
        return self.client.ask("read", "GET", key, {"op": "GETFILESTATUS"}, take)


def unfinished_key(key: str) -> str:
    """Return a new temporary name for a file whose path will be `key`."""
    folder, slash, leaf = key.rpartition("/")
    return f"{folder}{slash}.tmp-{secrets.token_hex(8)}-{leaf}"
