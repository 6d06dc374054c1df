"""One request to WebHDFS: its namenode, its answer, and the datanode that it leads to."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import requests

from colonnade.manifests.store.bucket.failure import Failure
from colonnade.manifests.store.hdfs.client import (
    HdfsClient,
    check_transfer,
    client_of,
    json_of,
    without_urls,
)
from colonnade.manifests.store.hdfs.failures import RefusedError, UnansweredError
from tests.manifests.store.hdfs.answers import answer, remote, settings


class Client(HdfsClient):
    """A client with two namenodes that gets prepared answers, and notes the URLs."""

    def __init__(self, *answers: requests.Response | Exception) -> None:
        super().__init__(replace(settings(), namenodes=("http://a:9870", "http://b:9870")))
        self.asked: list[str] = []
        self._answers = list(answers)
        self._session.request = self._request

    def _request(self, method: str, url: str, **_: Any) -> requests.Response:
        self.asked.append(url)
        found = self._answers.pop(0)
        if isinstance(found, Exception):
            raise found
        return found

    def look(self) -> str:
        return self.ask("read", "GET", "db/a", {}, lambda found: "there")


@pytest.mark.parametrize(
    "first",
    [remote("StandbyException"), remote("ObserverRetryOnActiveException"), requests.Timeout()],
    ids=["standby", "observer", "silent"],
)
def test_after_an_answer_of_a_passive_namenode_the_next_request_asks_the_other_one(
    first: Any,
) -> None:
    client = Client(first, answer(), answer())
    with pytest.raises(Failure):
        client.look()
    assert client.look() == client.look() == "there"
    assert [url.partition("/webhdfs")[0] for url in client.asked] == [
        "http://a:9870",
        "http://b:9870",
        "http://b:9870",
    ]


def test_another_refusal_does_not_change_the_namenode() -> None:
    client = Client(remote("AccessControlException"), answer())
    with pytest.raises(Failure):
        client.look()
    client.look()
    assert {url.partition("/webhdfs")[0] for url in client.asked} == {"http://a:9870"}


def test_only_a_redirect_with_a_place_leads_to_a_datanode() -> None:
    there = "http://data:9864/webhdfs/v1/db/a?op=OPEN"
    client = Client(answer(307, Location=there))
    assert client.locate("read", "GET", "db/a", {"op": "OPEN"}) == there
    for wrong in (answer(200, Location=there), answer(307), answer(307, Location="ftp://data/a")):
        with pytest.raises(Failure) as caught:
            Client(wrong).locate("read", "GET", "db/a", {"op": "OPEN"})
        assert "does not speak WebHDFS" in caught.value.reason


def test_a_datanode_is_reached_under_its_name_here() -> None:
    proxied = HdfsClient(settings(data_proxy={"http://inside": "http://outside"}))
    assert proxied.to_datanode("http://inside:9864/a") == "http://outside:9864/a"
    called = HdfsClient(settings(data_proxy=lambda url: url.replace("inside", "here")))
    assert called.to_datanode("http://inside:9864/a") == "http://here:9864/a"
    for wrong in ("", "/a", "file:///a", "http://data:port/a", "http://data:0/a"):
        with pytest.raises(RefusedError):
            HdfsClient(settings()).to_datanode(wrong)


def test_json_of_another_form_is_refused() -> None:
    read = json_of(lambda found: found["length"])
    assert read(answer(body={"length": 3})) == 3
    assert json_of(bool)(answer(body=b"")) is False
    for wrong in (b"[]", b"3", b"{", b"\xff", b"{}", b'{"length"'):
        with pytest.raises(RefusedError):
            read(answer(body=wrong))


def test_a_datanode_must_say_that_it_has_taken_the_bytes() -> None:
    for status in (200, 201):
        check_transfer(status, b"")
    for status in (204, 307, 404, 500):
        with pytest.raises(RefusedError):
            check_transfer(status, b"")


def test_an_error_of_the_client_leaves_no_url_behind() -> None:
    def fail() -> None:
        raise requests.ConnectionError("http://node/?delegation=canary")

    with pytest.raises(UnansweredError) as caught:
        without_urls(fail)
    error: BaseException | None = caught.value
    while error is not None:
        assert "canary" not in repr(error)
        error = error.__cause__ or error.__context__

    def defect() -> None:
        raise KeyError("a mistake of ours")

    with pytest.raises(KeyError):
        without_urls(defect)


def test_equal_settings_share_a_client_and_others_do_not() -> None:
    one = client_of(settings(user="one"))
    assert client_of(settings(user="one")) is one
    assert client_of(settings(user="other")) is not one
