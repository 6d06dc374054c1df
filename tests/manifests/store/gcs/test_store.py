"""A store in a bucket of GCS: what its URLs and options mean, and how many requests it makes."""

from __future__ import annotations

import json
import os
import pickle
import secrets
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from colonnade.manifests.errors import InvalidInputError, NotFoundError, StoreError
from colonnade.manifests.store import open_store
from colonnade.manifests.store.gcs import GcsStore
from colonnade.manifests.store.gcs.client import client_of
from colonnade.manifests.store.gcs.store import parse_address
from tests.manifests.store.races import race
from tests.setup.gcs import FakeGcs
from tests.setup.gcs_sessions import SessionProxy
from tests.setup.http_proxy import answered

pytestmark = pytest.mark.timeout(900)  # the first test may build the server
SLOT = "_manifest/00000000000000000000.json"
ROOT = Path(__file__).resolve().parents[4]


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


def test_the_object_of_a_killed_probe_is_unfinished_and_can_be_removed(store: GcsStore) -> None:
    left = f"_manifest/.tmp-{'0' * 16}-00000000000000000000.json"
    store.bucket.put(store._prefix + left, b"x", if_absent=True)
    assert [info.name for info in store.list_unfinished()] == [left]
    assert list(store.list("")) == []
    store.delete_unfinished(left)
    store.delete_unfinished(left)
    assert list(store.list_unfinished()) == []


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


@pytest.mark.parametrize(("processes", "rounds"), [(2, 20), (8, 200)])
@pytest.mark.long
def test_of_racing_processes_one_wins_each_slot(
    gcs: FakeGcs, bucket: str, processes: int, rounds: int
) -> None:
    url = f"gs://{bucket}/race-{rounds}"
    environment = {**os.environ, "STORAGE_EMULATOR_HOST": gcs.url}
    won = race(url, environment, processes, rounds)
    store = GcsStore(url, gcs.options())
    bodies = store.read_many([f"_manifest/{slot}" for slot in range(rounds)])
    assert [bytes(body)[:1] for body in bodies] == won  # type: ignore[arg-type]
