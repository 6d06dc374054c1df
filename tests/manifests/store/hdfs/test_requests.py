"""What a store asks of HDFS, and what each answer means, without a server."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import requests

from colonnade.manifests.store.bucket.failure import Failure
from colonnade.manifests.store.hdfs.client import HdfsClient
from colonnade.manifests.store.hdfs.failures import RefusedError, classify
from colonnade.manifests.store.hdfs.requests import HdfsRequests
from tests.manifests.store.hdfs.answers import answer, remote, settings


class Files:
    """Files of a file system by path, with their sizes. A page of a listing has `page` entries."""

    def __init__(self, *paths: str, page: int = 2, knows_pages: bool = True) -> None:
        self.paths = paths
        self.page = page
        self.knows_pages = knows_pages

    def entries(self, folder: str) -> list[dict[str, Any]]:
        base = f"{folder}/" if folder else ""
        below = [path[len(base) :] for path in self.paths if path.startswith(base)]
        found = {}
        for path in below:
            name, slash, _ = path.partition("/")
            kind = "DIRECTORY" if slash else "FILE"
            found[name] = {"pathSuffix": name, "type": kind, "length": 3, "modificationTime": 7}
        return [found[name] for name in sorted(found)]

    def __call__(self, key: str, asked: dict[str, str]) -> requests.Response:
        found = self.entries(key)
        if asked["op"] == "GETFILESTATUS":
            kind = "FILE" if key in self.paths else "DIRECTORY"
            if kind == "DIRECTORY" and not found:
                return remote("FileNotFoundException", 404)
            status = {"pathSuffix": "", "type": kind, "length": 3, "modificationTime": 7}
            return answer(body={"FileStatus": status})
        if not found:
            return remote("FileNotFoundException", 404)
        if asked["op"] == "LISTSTATUS":
            return answer(body={"FileStatuses": {"FileStatus": found}})
        if not self.knows_pages:
            text = 'Invalid value for webhdfs parameter "op"'
            body = {"RemoteException": {"exception": "IllegalArgumentException", "message": text}}
            return answer(400, body)
        left = [each for each in found if each["pathSuffix"] > asked.get("startafter", "")]
        now, rest = left[: self.page], left[self.page :]
        partial = {"FileStatuses": {"FileStatus": now}}
        listing = {"partialListing": partial, "remainingEntries": len(rest)}
        return answer(body={"DirectoryListing": listing})


class Client(HdfsClient):
    """A client whose namenode is a function of a path and the parameters."""

    def __init__(self, namenode: Callable[[str, dict[str, str]], requests.Response]) -> None:
        super().__init__(settings())
        self.namenode = namenode
        self.body = b""
        self.asked: list[tuple[str, str]] = []

    def ask(self, operation: str, method: str, key: str, parameters: Any, read: Any) -> Any:
        self.asked.append((parameters["op"], key))

        def request() -> Any:
            found = self.namenode(key, dict(parameters))
            if found.status_code >= 400:
                raise RefusedError(found.status_code, found.content)
            return read(found)

        return self.once(request, lambda error: classify(operation, error))

    def locate(self, operation: str, method: str, key: str, parameters: Any) -> str:
        return f"http://data/{key}"

    def transfer(self, operation: str, method: str, url: str, body: bytes, read: Any) -> Any:
        return read(answer(body=self.body, Content_Length=str(len(self.body))))


def listed(files: Files, prefix: str) -> list[str]:
    """All names that begin with a prefix, page by page."""
    bucket, after, found = HdfsRequests(Client(files), "node"), None, list[str]()
    while True:
        page = bucket.page(prefix, after)
        found += [info.name for info in page.objects]
        if page.next is None:
            return found
        after = page.next


PATHS = ("db/a", "db/t/1", "db/t/2", "db/t/3/x", "db/t/3/y", "db/u/1", "other/a")


@pytest.mark.parametrize("knows_pages", [True, False])
@pytest.mark.parametrize("prefix", ["", "db/", "db/t/", "db/t", "db/t/3", "db/x", "nothing/"])
def test_every_file_below_a_prefix_is_listed_once_whatever_the_folders_and_pages(
    prefix: str, knows_pages: bool
) -> None:
    files = Files(*PATHS, knows_pages=knows_pages)
    assert sorted(listed(files, prefix)) == [path for path in PATHS if path.startswith(prefix)]


def test_folders_without_the_prefix_are_not_listed() -> None:
    client = Client(Files(*PATHS))
    HdfsRequests(client, "node").page("db/t/3/", None)
    assert [key for _, key in client.asked] == ["db/t/3"]


def test_the_folders_below_a_prefix_are_named_page_by_page() -> None:
    bucket = HdfsRequests(Client(Files(*PATHS, page=1)), "node")
    first = bucket.folders("db/", None)
    names, after = [*first.names], first.next
    while after is not None:
        page = bucket.folders("db/", after)
        names += page.names
        after = page.next
    assert names == ["t", "u"]


def test_a_folder_is_not_an_object() -> None:
    bucket = HdfsRequests(Client(Files(*PATHS)), "node")
    assert bucket.head("db/a") == (3, 7)
    for absent in ("db/t", "db/nothing"):
        with pytest.raises(Failure) as caught:
            bucket.head(absent)
        assert caught.value.absent


def test_only_an_empty_folder_is_removed() -> None:
    for refusal in (None, remote("PathIsNotEmptyDirectoryException")):

        def namenode(
            key: str, asked: dict[str, str], refusal: requests.Response | None = refusal
        ) -> requests.Response:
            if asked["op"] == "DELETE":
                return refusal or answer(body={"boolean": True})
            return Files("db/t/1", "db/a")(key, asked)

        client = Client(namenode)
        bucket = HdfsRequests(client, "node")
        bucket.remove_folder("db/t")
        bucket.remove_folder("db/a")
        bucket.remove_folder("db/nothing")
        assert [each for each in client.asked if each[0] == "DELETE"] == [("DELETE", "db/t")]


def test_a_range_that_the_object_does_not_have_is_none() -> None:
    client = Client(Files(*PATHS))
    bucket = HdfsRequests(client, "node")
    client.body = b"abc"
    assert bucket.read_range("db/a", 0, 3) == b"abc"
    assert bucket.read_range("db/a", 0, 4) is None


def test_the_size_of_an_object_is_checked_before_its_bytes_are_taken() -> None:
    client = Client(Files(*PATHS))
    client.body = b"abc"
    sizes: list[int] = []
    assert HdfsRequests(client, "node").read("db/a", sizes.append) == b"abc"
    assert sizes == [3]


def test_a_put_whose_unfinished_file_has_vanished_may_be_sent_again() -> None:
    def namenode(key: str, asked: dict[str, str]) -> requests.Response:
        if asked["op"] == "RENAME":
            return remote("FileNotFoundException", 404)
        return answer(body={"boolean": True})

    client = Client(namenode)
    with pytest.raises(Failure) as caught:
        HdfsRequests(client, "node").put("db/a", b"x", if_absent=True)
    assert caught.value.passing
    assert not caught.value.absent
    assert [op for op, _ in client.asked] == ["RENAME", "DELETE"]
