"""A store in a bucket of GCS: what its URLs and options mean, and how many requests it makes."""

from __future__ import annotations

import json
import os
import pickle
import secrets
import subprocess
import sys
import threading
import tracemalloc
from collections.abc import Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import google.auth.credentials
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from colonnade.manifests.errors import InvalidInputError, NotFoundError, StoreError
from colonnade.manifests.store import PutOutcome, open_store
from colonnade.manifests.store.gcs import GcsStore
from colonnade.manifests.store.gcs.client import client_of
from colonnade.manifests.store.gcs.settings import GOOGLE, parse_settings
from colonnade.manifests.store.gcs.store import parse_address
from colonnade.manifests.store.gcs.upload import PART
from tests.manifests.store.races import race
from tests.setup.gcs import FakeGcs
from tests.setup.gcs_sessions import SessionProxy
from tests.setup.http_proxy import Fault, Seen, answered

pytestmark = pytest.mark.timeout(900)  # the first test may build the server
SLOT = "_manifest/00000000000000000000.json"
ROOT = Path(__file__).resolve().parents[4]


@pytest.fixture(scope="module")
def proxy(gcs: FakeGcs) -> Iterator[SessionProxy]:
    made = SessionProxy(gcs.port)
    yield made
    made.stop()


@pytest.fixture(scope="module")
def bucket(gcs: FakeGcs) -> str:
    return gcs.new_bucket()


@pytest.fixture
def store(gcs: FakeGcs, proxy: SessionProxy, bucket: str) -> Iterator[GcsStore]:
    made = GcsStore(f"gs://{bucket}/{secrets.token_hex(4)}", {"endpoint_url": proxy.url})
    made.require_writable()
    proxy.seen.clear()
    yield made
    proxy.plan = lambda seen: None


@pytest.mark.parametrize(
    ("url", "place", "shown"),
    [
        ("gs://bucket", ("bucket", ""), "gs://bucket"),
        ("gcs://bucket/a/b/", ("bucket", "a/b/"), "gs://bucket/a/b"),
        ("GS://my.bucket_1/a b%20/ü#x", ("my.bucket_1", "a b%20/ü#x/"), None),
    ],
)
def test_a_url_names_a_bucket_and_a_key(
    url: str, place: tuple[str, str], shown: str | None
) -> None:
    assert parse_address(url)[1:] == place
    assert parse_address(url).url == (shown or "gs://my.bucket_1/a b%20/ü#x")
    assert isinstance(open_store(url), GcsStore)


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("gs:///a", "names no bucket; write gs://bucket/folder"),
        ("gs://Bucket/a", "names no bucket"),
        ("gs://bucket/a/../b", "an empty part, '.', '..'"),
        ("gs://bucket/a//b", "an empty part, '.', '..'"),
        ("gs://bucket/a\nb", "a control character"),
        ("gs://bucket/" + "x" * 401, "too long"),
        ("gs://key:canary@bucket/a", r"pass them as storage options \(token\)"),
        ("gs://bucket/a?X-Goog-Signature=canary", "leave out the '[?]'"),
    ],
)
def test_a_url_that_cannot_work_is_refused_without_its_secrets(url: str, sentence: str) -> None:
    with pytest.raises(InvalidInputError, match=sentence) as refused:
        open_store(url)
    assert "canary" not in refused.value.message


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"tokn": "canary"}, "no storage options .'tokn'.; the options are those of gcsfs"),
        ({"access": "canary"}, "access .* must be one of"),
        ({"token": "browser"}, "gcloud auth application-default login"),
        ({"endpoint_url": "http://user:canary@host"}, "endpoint_url .* must have the form"),
        ({"endpoint_url": "canary://host"}, "endpoint_url .* must have the form"),
        ({"requester_pays": True}, "requester_pays without a project"),
        ({"patience": 0}, "patience .* must be a number"),
        ({"read_timeout": "canary"}, "read_timeout .* must be a number"),
    ],
)
def test_an_option_that_cannot_work_is_named_and_its_value_is_not(
    options: dict[str, object], sentence: str
) -> None:
    with pytest.raises(InvalidInputError, match=sentence) as refused:
        open_store("gs://bucket/db", options)
    assert "canary" not in refused.value.message


def test_options_are_those_of_gcsfs() -> None:
    found = parse_settings(
        {"token": "t", "project": "p", "requester_pays": True, "cache_timeout": 3}, "gs://b", {}
    )
    assert (found.endpoint, found.token, found.payer) == (GOOGLE, "t", "p")
    assert not found.is_anonymous
    assert "'t'" not in repr(found)
    assert parse_settings({"requester_pays": "q"}, "gs://b", {}).payer == "q"
    assert parse_settings({"token": "anon"}, "gs://b", {}).is_anonymous
    emulator = parse_settings({}, "gs://b", {"STORAGE_EMULATOR_HOST": "localhost:4443"})
    assert emulator.endpoint == "http://localhost:4443"
    assert emulator.is_anonymous, "an emulator gets no token of Google"
    assert not parse_settings({}, "gs://b", {}).is_anonymous
    assert parse_settings({"token": "a"}, "x", {}).identity != found.identity


def test_a_store_survives_the_way_to_an_executor_and_shows_no_secret(
    proxy: SessionProxy, bucket: str
) -> None:
    options = {"endpoint_url": proxy.url, "token": "canary-token"}
    store = GcsStore(f"gs://{bucket}/{secrets.token_hex(4)}", options)
    store.put("a", b"x", sync=True)
    assert proxy.seen[-1].headers["authorization"] == "Bearer canary-token"
    again = pickle.loads(pickle.dumps(store))
    assert again.get("a") == b"x"
    assert client_of(again._settings) is client_of(store._settings)
    assert "canary" not in f"{again!r} {again.url} {again._settings!r} {again.bucket!r}"


@pytest.mark.parametrize("missing", ["google", "requests"])
def test_without_its_client_a_bucket_is_refused_with_the_command_to_run(
    monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    ours = "colonnade.manifests.store.gcs"
    for name in [each for each in sys.modules if each.startswith((ours, f"{missing}."))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(InvalidInputError, match=r"need .*: install colonnade\[gcs\]"):
        open_store("gs://bucket/db")


def test_colonnade_loads_no_client_that_it_does_not_use() -> None:
    code = "import sys, colonnade; sys.exit(bool({'requests', 'google.auth'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT).returncode == 0


def test_each_call_costs_the_requests_that_it_must(store: GcsStore, proxy: SessionProxy) -> None:
    def cost(call: Any) -> list[str]:
        proxy.seen.clear()
        call()
        return [seen.method for seen in proxy.seen]

    def stream(size: int) -> None:
        with store.create(f"t/{size}", sync=True) as writer:
            writer.write(b"x" * size)

    assert cost(lambda: store.put_if_absent(SLOT, b"x")) == ["POST"]
    assert cost(lambda: store.put_if_absent(SLOT.replace("0.j", "1.j"), b"x")) == ["POST"]
    assert cost(lambda: store.put("a", b"0123456789" * 100_000, sync=True)) == ["POST"]
    assert cost(lambda: store.get("a", limit=1_000_000)) == ["GET"]
    assert cost(lambda: store.get_ranges("a", [(900_000, 9), (5, 5), (200_000, 1)])) == ["GET"] * 2
    assert cost(lambda: store.get_ranges("a", [(7, 3), (100, 1), (0, 2)])) == ["GET"]
    assert cost(lambda: stream(1000)) == ["POST"]
    assert cost(lambda: stream(PART)) == ["POST"]
    assert cost(lambda: stream(PART + 1)) == ["POST", "PUT", "PUT"]
    assert cost(lambda: list(store.list(""))) == ["GET"]
    assert cost(lambda: store.remove_many([SLOT, "a", "t/1000"])) == ["POST"]
    assert cost(lambda: store.delete("b")) == ["DELETE"]
    assert cost(store.require_writable) == []


def test_every_write_carries_the_condition_a_checksum_and_no_cache(
    store: GcsStore, proxy: SessionProxy
) -> None:
    store.put_if_absent(SLOT, b"x")
    with store.create("t/a", sync=True) as writer:
        writer.write(b"x" * (PART + 1))
    assert ["ifGenerationMatch=0" in seen.path for seen in proxy.seen if seen.method == "POST"] == [
        True,
        True,
    ]
    for name in (SLOT, "t/a"):
        found = store.bucket._client.send(
            "read", "GET", store.bucket._path(store._prefix + name), read=lambda got: got.json()
        )
        assert found["cacheControl"] == "no-store"
        assert found["crc32c"]


def test_more_objects_than_a_page_are_listed_and_removed_in_batches(
    store: GcsStore, proxy: SessionProxy
) -> None:
    wanted = [f"t/{number:04}" for number in range(1_050)]
    store.together([partial(store.put, name, b"x", sync=False) for name in wanted])
    proxy.seen.clear()
    assert [info.name for info in store.list("t/")] == wanted
    assert proxy.count("GET") == 2
    assert store.remove_many([*wanted, "t/absent"]) == {}
    assert proxy.count("POST") == 11
    assert list(store.list("")) == []


def test_an_object_that_a_batch_does_not_remove_is_named_with_the_reason(
    store: GcsStore, proxy: SessionProxy
) -> None:
    store.put("t/a", b"x", sync=True)
    denied = json.dumps({"error": {"errors": [{"reason": "retentionPolicyNotMet"}]}})
    part = "--b\r\nContent-Type: application/http\r\nContent-ID: <response-{}>\r\n\r\n{}\r\n"
    answer = "".join(
        (
            part.format(0, f"HTTP/1.1 403 Forbidden\r\nX: y\r\n\r\n{denied}"),
            part.format(1, "HTTP/1.1 204 No Content\r\nX: y\r\n\r\n"),
            part.format(2, "HTTP/1.1 404 Not Found\r\nX: y\r\n\r\n"),
            part.format(3, "HTTP/1.1 503 Busy\r\nX: y\r\n\r\n"),
            "--b--\r\n",
        )
    ).encode()
    kind = [("Content-Type", "multipart/mixed; boundary=b")]
    proxy.plan = lambda seen: (
        (lambda handler, body: handler.answer(200, kind, answer)) if seen.method == "POST" else None
    )
    failed = store.remove_many(["t/a", "t/b", "t/c", "t/d", "t/e"])
    assert sorted(failed) == ["t/a", "t/d", "t/e"], "what has no answer may still exist"
    assert "t/a could not be removed: a retention policy" in failed["t/a"].message
    assert isinstance(failed["t/d"], StoreError)
    assert failed["t/d"].retryable


def test_the_session_of_a_writer_that_aborts_is_ended(store: GcsStore, proxy: SessionProxy) -> None:
    writer = store.create("t/a", sync=True)
    writer.write(b"x" * (PART + 1))
    writer.abort()
    assert proxy.seen[-1].method == "DELETE"
    assert list(store.list("")) == []
    assert list(store.list_unfinished()) == []


def test_a_server_that_stores_other_bytes_than_were_sent_is_found_out(
    store: GcsStore, proxy: SessionProxy
) -> None:
    final = answered(200, json.dumps({"crc32c": "AAAAAA=="}))
    proxy.plan = lambda seen: final if "/*" not in seen.headers.get("content-range", "/*") else None
    writer = store.create("t/a", sync=True)
    writer.write(b"x" * (PART + 1))
    with pytest.raises(StoreError, match="stored other bytes than were sent"):
        writer.close()


def test_the_object_of_a_killed_probe_is_unfinished_and_can_be_removed(store: GcsStore) -> None:
    left = f"_manifest/.tmp-{'0' * 16}-00000000000000000000.json"
    store.bucket.put(store._prefix + left, b"x", if_absent=True)
    assert [info.name for info in store.list_unfinished()] == [left]
    assert list(store.list("")) == []
    store.delete_unfinished(left)
    store.delete_unfinished(left)
    assert list(store.list_unfinished()) == []


def test_a_stream_holds_a_few_parts_in_memory(store: GcsStore) -> None:
    block = secrets.token_bytes(1 << 20)
    tracemalloc.start()
    try:
        with store.create("t/a", sync=True) as writer:
            for _ in range(60):
                writer.write(block)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert next(store.list("t/")).size == 60 << 20
    # The proxy of this test is in the same process, and holds a part, too.
    assert peak < 6 * PART


def test_dates_come_from_the_server(store: GcsStore) -> None:
    store.put("a", b"x", sync=True)
    written, now = store.modified_ms("a"), store.date_of_write("a")
    assert written is not None
    assert now is not None
    assert abs(now - written) < 60_000


def test_a_missing_bucket_is_named(store: GcsStore, gcs: FakeGcs, proxy: SessionProxy) -> None:
    absent = GcsStore("gs://no-such-bucket/db", gcs.options())
    for call in (
        lambda: list(absent.list("")),
        lambda: absent.put_if_absent("a", b"x"),
        absent.require_writable,
    ):
        with pytest.raises(StoreError, match="no-such-bucket/.*the bucket does not exist; create"):
            call()
    # The server of tests says nothing about the bucket here. GCS does, in these words.
    proxy.plan = lambda seen: answered(404, "The specified bucket does not exist.")
    with pytest.raises(StoreError, match="the bucket does not exist; create"):
        store.get("a")
    proxy.plan = lambda seen: answered(404, "No such object: canary")
    with pytest.raises(NotFoundError):
        store.get("a")


SENTENCES = {
    (403, "forbidden"): "permission denied; the credentials need storage.objects.get",
    (403, "userProjectAccountProblem"): "has no billing account",
    (400, "userProjectMissing"): "give the storage option requester_pays",
    (401, "authError"): "cannot be used or renewed; run 'gcloud auth",
    (418, "strange"): "the server refused it .HTTP 418, strange",
}


@pytest.mark.parametrize("status_and_reason", SENTENCES, ids=str)
def test_a_refusal_is_one_sentence(
    store: GcsStore, proxy: SessionProxy, status_and_reason: tuple[int, str]
) -> None:
    status, reason = status_and_reason
    text = json.dumps({"error": {"message": "canary", "errors": [{"reason": reason}]}})
    proxy.plan = lambda seen: answered(status, text)
    with pytest.raises(StoreError, match=SENTENCES[status_and_reason]) as refused:
        store.get("t/a")
    assert "canary" not in refused.value.message
    assert not refused.value.retryable


@pytest.mark.parametrize(
    ("write", "needed"),
    [
        (lambda store: store.put_if_absent(SLOT, b"x"), "storage.objects.create[.]"),
        (lambda store: store.put("a", b"x", sync=True), "create and storage.objects.delete"),
        (lambda store: store.delete("a"), "storage.objects.delete"),
        (lambda store: list(store.list("")), "storage.objects.list"),
    ],
)
def test_a_missing_permission_is_named_and_reading_goes_on(
    store: GcsStore, proxy: SessionProxy, write: Any, needed: str
) -> None:
    store.put("a", b"x", sync=True)
    denied = answered(403, json.dumps({"error": {"errors": [{"reason": "forbidden"}]}}))
    proxy.plan = lambda seen: None if "alt=media" in seen.path else denied
    with pytest.raises(StoreError, match=f"permission denied; the credentials need .*{needed}"):
        write(store)
    assert store.get("a") == b"x"


class _Renewable(google.auth.credentials.Credentials):  # type: ignore[misc]
    """Credentials whose token has a number, which grows when it is renewed."""

    number = 0

    def refresh(self, request: Any) -> None:
        self.number += 1
        self.token = f"token-{self.number}"


def test_credentials_that_expire_half_way_are_renewed_once(
    proxy: SessionProxy, bucket: str
) -> None:
    credentials = _Renewable()
    options = {"endpoint_url": proxy.url, "token": credentials}
    store = GcsStore(f"gs://{bucket}/{secrets.token_hex(4)}", options)
    store.require_writable()
    expired = answered(401, "{}")

    def plan(seen: Seen) -> Fault | None:
        return expired if seen.headers["authorization"] == "Bearer token-1" else None

    try:
        proxy.plan = plan
        assert store.put_if_absent(SLOT, b"x") is PutOutcome.CREATED
        assert credentials.number == 2
        proxy.plan = lambda seen: expired
        with pytest.raises(StoreError, match="the credentials cannot be used or renewed"):
            store.get(SLOT)
        assert credentials.number == 3
    finally:
        proxy.plan = lambda seen: None


class _TokenServer(BaseHTTPRequestHandler):
    """Refuses to renew a token, with a secret in its answer."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        body = b'{"error": "invalid_grant", "error_description": "canary"}'
        self.send_response(400)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: Any) -> None:
        """Print nothing."""


def test_credentials_that_cannot_be_renewed_are_one_sentence(
    proxy: SessionProxy, bucket: str, tmp_path: Path
) -> None:
    server = HTTPServer(("127.0.0.1", 0), _TokenServer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    private = rsa.generate_private_key(public_exponent=65537, key_size=2048).private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    key = {
        "type": "service_account",
        "client_email": "canary",
        "private_key": private.decode(),
        "token_uri": f"http://127.0.0.1:{server.server_address[1]}",
    }
    (tmp_path / "key.json").write_text(json.dumps(key))
    for token in (key, str(tmp_path / "key.json")):
        store = GcsStore(f"gs://{bucket}/db", {"endpoint_url": proxy.url, "token": token})
        with pytest.raises(StoreError, match="cannot be used or renewed; run") as refused:
            store.get("a")
        assert "canary" not in refused.value.message
    server.shutdown()
    server.server_close()


def test_a_key_of_an_unknown_type_is_refused() -> None:
    store = GcsStore("gs://bucket/db", {"token": {"type": "canary"}})
    with pytest.raises(InvalidInputError, match="token holds a key of an unknown type") as refused:
        store.get("a")
    assert "canary" not in refused.value.message


def test_without_credentials_the_command_that_gets_them_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "absent.json"))
    store = GcsStore("gs://bucket/db", {"patience": 1})
    with pytest.raises(StoreError, match="no credentials were found; run 'gcloud auth"):
        store.get("a")


@pytest.mark.parametrize(
    ("processes", "rounds"), [(3, 30), pytest.param(8, 200, marks=pytest.mark.long)]
)
def test_of_racing_processes_one_wins_each_slot(
    gcs: FakeGcs, bucket: str, processes: int, rounds: int
) -> None:
    url = f"gs://{bucket}/race-{rounds}"
    environment = {**os.environ, "STORAGE_EMULATOR_HOST": gcs.url}
    won = race(url, environment, processes, rounds)
    store = GcsStore(url, gcs.options())
    bodies = store.read_many([f"_manifest/{slot}" for slot in range(rounds)])
    assert [bytes(body)[:1] for body in bodies] == won  # type: ignore[arg-type]
