"""The requests of a store to HDFS, over WebHDFS.

Spec: docs/spec/store.md#buckets
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

import requests

from colonnade.manifests.store.base import Data, ObjectInfo
from colonnade.manifests.store.bucket.failure import Failure
from colonnade.manifests.store.bucket.http import part_body, whole_body
from colonnade.manifests.store.bucket.requests import (
    BucketRequests,
    CheckSize,
    Folders,
    Head,
    ListingPage,
    ms_of,
)
from colonnade.manifests.store.hdfs.client import HdfsClient, json_of
from colonnade.manifests.store.hdfs.failures import RefusedError
from colonnade.manifests.store.hdfs.files import HdfsFiles, Status
from colonnade.manifests.store.hdfs.upload import HdfsUpload

_GONE = "its unfinished file, or its folder, was removed meanwhile; run this again"


class _Todo(NamedTuple):
    """A folder that is still to be listed, from a name on; and the folders after it."""

    folder: str
    after: str
    rest: _Todo | None


class HdfsRequests(BucketRequests):
    """One file system of HDFS. Its keys are paths without the first slash."""

    at_once = 1
    lacking = "renames that replace nothing, as the namenodes of Hadoop have them over WebHDFS"

    def __init__(self, client: HdfsClient, name: str) -> None:
        self.patience = client
        self.name = name
        self._client = client
        self._files = HdfsFiles(client)

    @property
    def server(self) -> str:
        return " ".join(self._client.settings.namenodes)

    def read(self, key: str, check: CheckSize) -> bytes:
        url = self._client.locate("read", "GET", key, {"op": "OPEN"})
        return self._client.transfer("read", "GET", url, b"", whole_body(check))

    def read_range(self, key: str, offset: int, length: int) -> bytes | None:
        part = {"op": "OPEN", "offset": str(offset), "length": str(length)}
        try:
            url = self._client.locate("read", "GET", key, part)
            return self._client.transfer("read", "GET", url, b"", part_body(length))
        except Failure as failure:
            if isinstance(failure.error, RefusedError) and failure.error.is_out_of_range:
                return None
            raise

    def head(self, key: str) -> Head:
        status = self._files.status(key)
        if status.kind != "FILE":
            raise Failure("it is a folder", RefusedError(404, b""), status=404, absent=True)
        return Head(status.length, status.modified_ms)

    def put(self, key: str, data: Data, *, if_absent: bool) -> None:
        temp = self._files.write_unfinished(key, bytes(data))
        try:
            self._files.rename(temp, key, replacing=not if_absent)
        except Failure as failure:
            if failure.status is not None:
                self._files.discard(temp)
            if failure.absent:
                # Nothing was renamed, so the next try may write the bytes again.
                raise replace(failure, reason=_GONE, absent=False, passing=True) from failure.error
            raise

    def remove(self, key: str) -> None:
        self._files.remove(key)

    def tidy(self, folder: str) -> None:
        with suppress(Failure):
            self.remove_folder(folder)

    def remove_folder(self, key: str) -> None:
        """Remove an empty folder; does nothing if it is absent, a file or not empty."""
        try:
            if self._files.status(key).kind == "DIRECTORY":
                self.remove(key)
        except Failure as failure:
            refusal = failure.error
            full = isinstance(refusal, RefusedError) and "NotEmpty" in refusal.exception
            if not failure.absent and not full:
                raise

    def page(self, prefix: str, after: Any) -> ListingPage:
        """Return a page of one folder. `next` names the folders that are still to be listed."""
        top = prefix.rpartition("/")[0]
        todo = _Todo(top, "", None) if after is None else after
        entries, more = self._entries(todo.folder, todo.after)
        rest = todo.rest
        base = f"{todo.folder}/" if todo.folder else ""
        found = []
        for entry in entries:
            key = f"{base}{entry.name}"
            if entry.kind == "DIRECTORY":
                if f"{key}/".startswith(prefix[: len(key) + 1]):
                    rest = _Todo(key, "", rest)
            elif entry.kind == "FILE" and key.startswith(prefix):
                found.append(ObjectInfo(key, entry.length, entry.modified_ms))
        if more:
            rest = _Todo(todo.folder, entries[-1].name, rest)
        return ListingPage(found, rest)

    def folders(self, prefix: str, after: Any) -> Folders:
        entries, more = self._entries(prefix.rstrip("/"), after or "")
        names = [each.name for each in entries if each.kind == "DIRECTORY"]
        return Folders(names, entries[-1].name if more else None)

    def date_ms(self) -> int:
        def take(answer: requests.Response) -> int:
            return ms_of(answer.headers["Date"])

        return self._client.ask("list", "GET", "", {"op": "GETFILESTATUS"}, take)

    def upload(self, key: str) -> HdfsUpload:
        return HdfsUpload(self._files, key)

    def _entries(self, folder: str, after: str) -> tuple[list[Status], bool]:
        """Return entries of a folder after a name, and whether there are more.

        An absent folder has none. A file in its place has none either. A server without pages gives
        the whole folder in one answer.
        """
        # Hadoop's documentation writes `startAfter`, which its namenode ignores.
        wanted = {"op": "LISTSTATUS_BATCH", **({"startafter": after} if after else {})}
        try:
            found, more = self._client.ask("list", "GET", folder, wanted, json_of(_page))
            knows_pages = not (after and found and found[0].name <= after)
        except Failure as failure:
            if failure.absent:
                return [], False
            if not (isinstance(failure.error, RefusedError) and failure.error.is_unknown_operation):
                raise
            knows_pages = False
        if not knows_pages:
            every = self._client.ask(
                "list", "GET", folder, {"op": "LISTSTATUS"}, json_of(_statuses)
            )
            found, more = [each for each in every if each.name > after], False
        return [each for each in found if each.name], more and bool(found)


def _page(found: Any) -> tuple[list[Status], bool]:
    """Return the entries of a page of a folder, and whether there are more."""
    listing = found["DirectoryListing"]
    return _statuses(listing["partialListing"]), bool(listing["remainingEntries"])


def _statuses(found: Any) -> list[Status]:
    return [Status.of(each) for each in found["FileStatuses"]["FileStatus"]]
