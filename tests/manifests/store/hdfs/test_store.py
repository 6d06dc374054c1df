"""A store on HDFS: how many requests it makes, what its errors say, and that nothing is lost.

Most of these tests run on the server of the tests, and in the long run on Hadoop itself.
`bucket/test_store.py` has the faults of a network.
"""

from __future__ import annotations

import json
import logging
import os
import pickle
import secrets
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from colonnade.manifests.errors import InvalidInputError, NotFoundError, StoreError
from colonnade.manifests.store import ObjectWriter, PutOutcome, open_store
from colonnade.manifests.store.hdfs import HdfsStore
from colonnade.manifests.store.hdfs.address import parse_address
from colonnade.manifests.store.hdfs.client import HdfsClient, client_of
from colonnade.manifests.store.hdfs.failures import RefusedError
from colonnade.manifests.store.hdfs.settings import parse_settings
from colonnade.manifests.store.hdfs.upload import PART
from tests.manifests.store.races import race
from tests.setup.fake_hdfs import FakeHdfs
from tests.setup.http_proxy import Handler, Proxy, answered

pytestmark = pytest.mark.timeout(900)  # the first long test fetches the server
SLOT = "_manifest/00000000000000000000.json"
SERVERS = ["fake_hdfs", pytest.param("hdfs", marks=pytest.mark.long)]


@pytest.fixture(scope="module", params=SERVERS)
def server(request: pytest.FixtureRequest) -> Any:
    return request.getfixturevalue(request.param)


@pytest.fixture
def store(server: Any) -> HdfsStore:
    """A new folder of each server."""
    return HdfsStore(f"hdfs://{server.new_bucket()}", server.options())


@pytest.fixture(scope="module")
def proxy(fake_hdfs: FakeHdfs) -> Iterator[Proxy]:
    made = Proxy(fake_hdfs.port)
    yield made
    made.stop()


@pytest.fixture
def watched(fake_hdfs: FakeHdfs, proxy: Proxy) -> Iterator[HdfsStore]:
    """A new folder behind the proxy."""
    proxy.plan = lambda seen: None
    made = HdfsStore(f"hdfs://{fake_hdfs.new_bucket()}", {"http_address": proxy.url})
    made.require_writable()
    proxy.seen.clear()
    yield made
    proxy.plan = lambda seen: None


def refused(exception: str, message: str = "canary", status: int = 403) -> Any:
    remote = {"RemoteException": {"exception": exception, "message": message}}
    return answered(status, json.dumps(remote))


@pytest.mark.slow
def test_each_call_costs_the_requests_that_it_must(watched: HdfsStore, proxy: Proxy) -> None:
    def cost(call: Any) -> list[str]:
        proxy.seen.clear()
        call()
        return [seen.path.partition("op=")[2].partition("&")[0] for seen in proxy.seen]

    def stream(size: int) -> None:
        with watched.create(f"t/{size}", sync=True) as writer:
            writer.write(b"x" * size)

    write = ["CREATE", "CREATE", "RENAME"]
    assert cost(lambda: watched.put_if_absent(SLOT, b"x")) == write
    assert cost(lambda: watched.put("a", b"0123456789" * 100_000, sync=True)) == write
    assert cost(lambda: watched.get("a", limit=1_000_000)) == ["OPEN"] * 2
    assert cost(lambda: watched.get_ranges("a", [(7, 3), (100, 1), (0, 2)])) == ["OPEN"] * 2
    assert cost(lambda: stream(1000)) == write
    assert cost(lambda: stream(3 * PART)) == write
    assert cost(lambda: list(watched.list("t/"))) == ["LISTSTATUS_BATCH"]
    assert cost(lambda: watched.remove_many([SLOT, "a", "t/1000"])) == ["DELETE"] * 3
    assert cost(watched.require_writable) == []


@pytest.mark.slow
def test_written_bytes_are_synced_to_the_disks_of_the_datanodes(
    watched: HdfsStore, proxy: Proxy
) -> None:
    watched.put_if_absent(SLOT, b"x")
    with watched.create("t/a", sync=True) as writer:
        writer.write(b"x" * (PART + 1))
    created = [seen.path for seen in proxy.seen if "op=CREATE" in seen.path]
    assert len(created) == 4
    assert all("createflag=CREATE%2CSYNC_BLOCK" in path for path in created)


@pytest.mark.slow
def test_more_objects_than_a_page_are_listed_in_all_folders(store: HdfsStore) -> None:
    wanted = [f"t{number % 3}/{number:03}" for number in range(330)]
    store.together([partial(store.put, name, b"x", sync=False) for name in wanted])
    assert sorted(info.name for info in store.list("")) == sorted(wanted)
    assert sorted(store.folders()) == ["t0", "t1", "t2"]
    assert sorted(info.name for info in store.list("t1")) == sorted(wanted[1::3])


def test_a_server_without_pages_is_asked_for_the_whole_folder(
    watched: HdfsStore, proxy: Proxy
) -> None:
    watched.put("t/a", b"x", sync=True)
    entries = [
        {"length": 1, "modificationTime": 5, "pathSuffix": name, "type": "FILE"} for name in "abc"
    ]
    whole = answered(200, json.dumps({"FileStatuses": {"FileStatus": entries}}))
    first = {"FileStatuses": {"FileStatus": entries[:2]}}
    same = {"DirectoryListing": {"partialListing": first, "remainingEntries": 1}}
    unknown = refused("IllegalArgumentException", 'webhdfs parameter "op": x', 400)
    for batch in (unknown, answered(200, json.dumps(same))):
        proxy.plan = lambda seen, batch=batch: (  # type: ignore[misc]
            batch if "LISTSTATUS_BATCH" in seen.path else whole
        )
        assert [info.name for info in watched.list("t/")] == ["t/a", "t/b", "t/c"]


def test_a_folder_is_removed_only_if_it_is_one_and_is_empty(store: HdfsStore) -> None:
    store.put("t/o/a", b"x", sync=True)
    for name in ("t", "t/o", "t/o/a", "t/absent"):
        store.remove_folder(name)
    assert store.get("t/o/a") == b"x"
    store.delete("t/o/a")
    assert list(store.folders()) == ["t"]
    store.remove_folder("t/o")
    store.remove_folder("t")
    assert list(store.folders()) == []


def test_an_object_is_never_moved_into_a_folder_of_its_name(store: HdfsStore) -> None:
    store.put("t/a/b", b"x", sync=True)
    with pytest.raises(StoreError, match="t/a could not be written"):
        store.put_if_absent("t/a", b"y")
    with pytest.raises(StoreError, match="t/a could not be written"):
        store.put("t/a", b"y", sync=True)
    with pytest.raises(NotFoundError):
        store.get("t/a")
    assert [info.name for info in store.list("")] == ["t/a/b"]
    assert list(store.list_unfinished()) == []


def half_written(store: HdfsStore, name: str) -> ObjectWriter:
    """Begin an object, and wait until the server has its file: no client waits for that."""
    writer = store.create(name, sync=True)
    writer.write(b"x" * (2 * PART))
    deadline = time.monotonic() + 30
    while not list(store.list_unfinished()):
        assert time.monotonic() < deadline, f"The server never made a file for {name}."
        time.sleep(0.01)
    return writer


def test_files_that_killed_writers_leave_are_listed_in_any_folder_and_can_be_removed(
    store: HdfsStore,
) -> None:
    writer = half_written(store, "t/o/a")
    store.bucket._files.write_unfinished(f"{store._prefix}{SLOT}", b"half")
    left = sorted(info.name for info in store.list_unfinished())
    assert [name.partition(".tmp-")[0] for name in left] == ["_manifest/", "t/o/"]
    assert sorted(info.name for info in store.list_all(lambda name: True)) == left
    assert list(store.list("")) == []
    writer.abort()
    store.delete_unfinished(left[0])
    store.delete_unfinished(left[0])
    assert list(store.list_unfinished()) == []


def test_a_writer_whose_file_a_vacuum_removes_fails_and_makes_no_object(store: HdfsStore) -> None:
    writer = half_written(store, "t/a")
    for info in store.list_unfinished():
        store.delete_unfinished(info.name)
    with pytest.raises(StoreError):
        writer.close()
    assert list(store.list("")) == []


def test_dates_come_from_the_server(store: HdfsStore) -> None:
    store.put("a", b"x", sync=True)
    written, now = store.modified_ms("a"), store.date_of_write("a")
    assert written is not None
    assert now is not None
    assert abs(now - written) < 60_000


def test_of_two_namenodes_the_active_one_is_found(fake_hdfs: FakeHdfs, proxy: Proxy) -> None:
    place = f"hdfs://{fake_hdfs.new_bucket()}"
    for standby in (proxy.url, "http://127.0.0.1:9"):
        store = HdfsStore(place, {"http_address": [standby, fake_hdfs.url], "patience": 5})
        proxy.plan = lambda seen: refused("StandbyException")
        store.put("a", b"x", sync=True)
        proxy.seen.clear()
        assert store.get("a") == b"x"
        assert not proxy.seen, "the next request goes to the active one at once"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("exception", "sentence"),
    [
        ("AccessControlException", "permission denied; the user needs permission to write there"),
        ("NSQuotaExceededException", "the quota of names of its folder is used up"),
        ("InvalidToken", "the delegation token is not valid any more; get a new one"),
        ("Strange", "the server refused it .HTTP 403, Strange"),
    ],
)
def test_a_refusal_is_one_sentence(
    watched: HdfsStore, proxy: Proxy, exception: str, sentence: str
) -> None:
    proxy.plan = lambda seen: refused(exception)
    with pytest.raises(StoreError, match=sentence) as failed:
        watched.put_if_absent(SLOT, b"x")
    assert "canary" not in failed.value.message
    assert not failed.value.retryable


@pytest.mark.slow
@pytest.mark.parametrize(
    ("exception", "message", "sentence"),
    [
        ("SafeModeException", "canary", "the namenode is in safe mode"),
        ("IOException", "File could only be written to 0 of the 1 nodes", "no datanode takes"),
    ],
)
def test_a_cluster_that_cannot_write_now_may_do_so_later(
    fake_hdfs: FakeHdfs, proxy: Proxy, exception: str, message: str, sentence: str
) -> None:
    store = HdfsStore(
        f"hdfs://{fake_hdfs.new_bucket()}", {"http_address": proxy.url, "patience": 1}
    )
    proxy.plan = lambda seen: None
    store.require_writable()
    proxy.plan = lambda seen: refused(exception, message)
    with pytest.raises(StoreError, match=sentence) as failed:
        store.put_if_absent(SLOT, b"x")
    assert failed.value.retryable
    proxy.plan = lambda seen: None
    assert store.put_if_absent(SLOT, b"y") is PutOutcome.CREATED


def test_a_server_whose_rename_knows_no_options_is_refused(
    fake_hdfs: FakeHdfs, proxy: Proxy
) -> None:
    store = HdfsStore(f"hdfs://{fake_hdfs.new_bucket()}", {"http_address": proxy.url})
    yes = answered(200, '{"boolean": true}')
    proxy.plan = lambda seen: yes if "op=RENAME" in seen.path else None
    with pytest.raises(InvalidInputError, match="refuses conditional writes.*renames that replace"):
        store.put_if_absent(SLOT, b"x")
    proxy.plan = lambda seen: None
    assert list(store.list_unfinished()) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "answer", [answered(404, "<html>canary</html>"), answered(200, "<html>canary</html>")]
)
def test_a_server_that_speaks_something_else_is_not_one_without_objects(
    watched: HdfsStore, proxy: Proxy, answer: Any
) -> None:
    proxy.plan = lambda seen: answer
    for call in (
        lambda: watched.get("a"),
        lambda: list(watched.list("")),
        lambda: watched.modified_ms("a"),
        lambda: watched.put("a", b"x", sync=True),
        lambda: watched.delete("a"),
    ):
        with pytest.raises(StoreError, match="does not speak WebHDFS; check the host") as failed:
            call()
        assert "canary" not in failed.value.message


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        '{"other": 1}',
        "[]",
        "null",
        '{"FileStatus": null, "DirectoryListing": []}',
        '{"FileStatus": {"pathSuffix": "", "type": "FILE", "length": "x", "modificationTime": 1}}',
        '{"DirectoryListing": {"partialListing": {"FileStatuses": {"FileStatus": [{}]}}}}',
    ],
)
def test_an_answer_in_another_form_is_an_error_and_not_an_empty_folder(
    watched: HdfsStore, proxy: Proxy, text: str
) -> None:
    proxy.plan = lambda seen: answered(200, text)
    for call in (
        lambda: list(watched.list("")),
        lambda: list(watched.folders()),
        lambda: watched.modified_ms("a"),
        lambda: watched.get_ranges("a", [(0, 0)]),
    ):
        with pytest.raises(StoreError, match="does not speak WebHDFS; check the host"):
            call()


def test_no_line_of_a_log_holds_a_token(proxy: Proxy, caplog: pytest.LogCaptureFixture) -> None:
    options = {"http_address": proxy.url, "token": "canary", "patience": 1}
    proxy.plan = lambda seen: refused("InvalidToken")
    with caplog.at_level(logging.DEBUG), pytest.raises(StoreError):
        HdfsStore("hdfs://node/db", options).get("a")
    assert "op=OPEN" in caplog.text
    assert "canary" not in caplog.text


@pytest.mark.slow
def test_no_error_and_none_of_its_causes_holds_a_token(proxy: Proxy) -> None:
    options = {"http_address": "http://127.0.0.1:9", "token": "canary", "patience": 1}
    dead = HdfsStore("hdfs://node/db", options)
    strange = HdfsStore("hdfs://node/db", {**options, "http_address": proxy.url})
    proxy.plan = lambda seen: refused("InvalidToken")
    calls: list[Callable[[], object]] = [
        lambda: dead.get("a"),
        lambda: strange.get("a"),
        lambda: strange.require_writable(),
    ]
    for call in calls:
        with pytest.raises(StoreError) as failed:
            call()
        shown = "".join(traceback.format_exception(failed.value))
        assert "canary" not in shown
        assert not any("canary" in repr(each.args) for each in chain(failed.value))
    assert "delegation=canary" in proxy.seen[-1].path, "the token is in each URL"


def chain(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error with all errors that its traceback may ever show."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


@pytest.mark.slow
def test_a_store_survives_the_way_to_an_executor_and_shows_no_secret(
    watched: HdfsStore, proxy: Proxy
) -> None:
    store = HdfsStore(watched.url, {"http_address": proxy.url, "user": "canary"})
    store.put("a", b"x", sync=True)
    assert "user.name=canary" in proxy.seen[-1].path
    again = pickle.loads(pickle.dumps(store))
    assert again.get("a") == b"x"
    assert client_of(again._settings) is client_of(store._settings)
    assert "canary" not in f"{again!r} {again.url} {again._settings!r} {again.bucket!r}"


def test_the_user_is_the_one_of_hadoops_clients(
    watched: HdfsStore, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HADOOP_USER_NAME", "ada")
    HdfsStore(watched.url, {"http_address": proxy.url}).put("a", b"x", sync=True)
    assert "user.name=ada" in proxy.seen[-1].path


def test_hadoops_own_files_lead_from_an_hdfs_url_to_the_namenode(
    fake_hdfs: FakeHdfs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "hdfs-site.xml"
    site.write_text(
        "<configuration><property><name>dfs.namenode.http-address</name>"
        f"<value>127.0.0.1:{fake_hdfs.port}</value></property></configuration>"
    )
    monkeypatch.setenv("HADOOP_CONF_DIR", str(tmp_path))
    store = open_store(f"hdfs://127.0.0.1:8020/{secrets.token_hex(4)}")
    store.put("a", b"x", sync=True)
    assert store.get("a") == b"x"
    site.write_text("<configuration>")
    with pytest.raises(InvalidInputError, match=r"hdfs-site\.xml is not a file of Hadoop's"):
        open_store("hdfs://127.0.0.1:8020/db")


def test_datanodes_may_have_other_names_here(fake_hdfs: FakeHdfs) -> None:
    for proxy in ({"127.0.0.1": "localhost"}, lambda url: url.replace("127.0.0.1", "localhost")):
        options = fake_hdfs.options(data_proxy=proxy)
        store = HdfsStore(f"hdfs://{fake_hdfs.new_bucket()}", options)
        with store.create("a", sync=True) as writer:
            writer.write(b"x" * (PART + 1))
        assert store.get_range("a", PART, 1) == b"x"


@pytest.mark.slow
@pytest.mark.parametrize(
    "location", ["/webhdfs/v1/a?op=OPEN", "ftp://node/a", "http:///a", "http://node:port/a"]
)
def test_a_redirect_that_leads_nowhere_is_an_error(
    watched: HdfsStore, proxy: Proxy, location: str
) -> None:
    def redirected(handler: Handler, body: bytes) -> None:
        handler.answer(307, [("Location", location)], b"")

    proxy.plan = lambda seen: redirected
    for call in (
        lambda: watched.get("a"),
        lambda: watched.put("a", b"x", sync=True),
        lambda: write_much(watched),
    ):
        with pytest.raises(StoreError, match="does not speak WebHDFS; check the host"):
            call()


def write_much(store: HdfsStore) -> None:
    with store.create("a", sync=True) as writer:
        writer.write(bytes(9 << 20))


def test_no_redirect_leads_a_token_out_of_encryption() -> None:
    settings = parse_settings(
        {"http_address": "https://node", "token": "canary"},
        parse_address("hdfs://node/db"),
        {},
        "somebody",
    )
    client = HdfsClient(settings)
    assert client.to_datanode("https://other:9865/a?delegation=canary")
    with pytest.raises(RefusedError):
        client.to_datanode("http://other:9864/a?delegation=canary")


def test_kerberos_without_its_client_is_refused_with_what_to_install(
    monkeypatch: pytest.MonkeyPatch, fake_hdfs: FakeHdfs
) -> None:
    monkeypatch.setitem(sys.modules, "requests_kerberos", None)
    store = HdfsStore(f"hdfs://{fake_hdfs.new_bucket()}", fake_hdfs.options(kerberos=True))
    with pytest.raises(InvalidInputError, match="needs the package requests-kerberos; install"):
        store.get("a")


def test_without_its_client_hdfs_is_refused_with_the_command_to_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ours = "colonnade.manifests.store.hdfs"
    for name in [each for each in sys.modules if each.startswith((ours, "requests."))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "requests", None)
    with pytest.raises(InvalidInputError, match=r"HDFS need requests: install colonnade\[hdfs\]"):
        open_store("hdfs://node/db")


@pytest.mark.long
@pytest.mark.parametrize(
    ("kind", "processes", "rounds"),
    [("fake_hdfs", 3, 30), ("hdfs", 8, 200)],
)
def test_of_racing_processes_one_wins_each_slot(
    kind: str, processes: int, rounds: int, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    server = request.getfixturevalue(kind)
    url = f"webhdfs://127.0.0.1:{server.port}/race-{rounds}"
    won = race(url, os.environ, processes, rounds)
    store = open_store(url)
    bodies = store.read_many([f"_manifest/{slot}" for slot in range(rounds)])
    assert [bytes(body)[:1] for body in bodies] == won  # type: ignore[arg-type]
