"""A store in a container of Azure: what its options mean, and how many requests it makes.

A refusal is one sentence, and never counts as a commit of another writer.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from azure.core.exceptions import ClientAuthenticationError
from azure.storage.blob import ContainerSasPermissions, generate_container_sas

from colonnade.manifests.errors import ColonnadeError, InvalidInputError, StoreError
from colonnade.manifests.store import open_store
from colonnade.manifests.store.azure import AzureStore
from colonnade.manifests.store.azure.client import client_of
from colonnade.manifests.store.azure.failures import classify
from tests.manifests.store.races import race
from tests.setup.azurite import ACCOUNT, KEY, Azurite
from tests.setup.http_proxy import Proxy, answered

pytestmark = pytest.mark.timeout(900)  # the first test may install the server
SLOT = "_manifest/00000000000000000000.json"
ROOT = Path(__file__).resolve().parents[4]


def with_sas(
    azurite: Azurite, store: AzureStore, may: str, valid: timedelta = timedelta(hours=1)
) -> AzureStore:
    """Return the same store, opened with a signature that permits only some letters."""
    sas = generate_container_sas(
        ACCOUNT,
        store.bucket.name,
        KEY,
        permission=ContainerSasPermissions.from_string(may),
        start=datetime.now(timezone.utc) - timedelta(hours=3),
        expiry=datetime.now(timezone.utc) + valid,
    )
    place = f"BlobEndpoint={azurite.url}/{ACCOUNT};SharedAccessSignature={sas}"
    return AzureStore(store.url, {"connection_string": place})


def test_a_store_survives_the_way_to_an_executor_and_shows_no_secret(store: AzureStore) -> None:
    store.put("a", b"x", sync=True)
    again = pickle.loads(pickle.dumps(store))
    assert again.get("a") == b"x"
    assert client_of(again._settings) is client_of(store._settings)
    assert KEY not in f"{again!r} {again.url} {again._settings!r} {again.bucket!r}"


def test_without_its_client_a_container_is_refused_with_the_command_to_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ours = "colonnade.manifests.store.azure"
    for name in [each for each in sys.modules if each.startswith((ours, "azure."))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "azure", None)
    with pytest.raises(InvalidInputError, match=r"azure-identity: install colonnade\[azure\]"):
        open_store("az://lake/db")


def test_colonnade_loads_no_client_that_it_does_not_use() -> None:
    code = "import sys, colonnade; sys.exit(bool({'requests', 'azure.core'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT).returncode == 0


def test_a_large_object_is_refused_before_it_takes_memory(
    store: AzureStore, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    with store.create("t/a", sync=True) as writer:
        writer.write(b"x" * (18 << 20))
    proxy.seen.clear()
    with pytest.raises(ColonnadeError, match="18874368 bytes"):
        store.get("t/a", limit=17 << 20)
    assert proxy.count("GET") == 1
    assert len(store.get("t/a")) == 18 << 20


def test_the_object_of_a_killed_probe_is_unfinished_and_can_be_removed(store: AzureStore) -> None:
    left = f"_manifest/.tmp-{'0' * 16}-00000000000000000000.json"
    store.bucket.put(store._prefix + left, b"x", if_absent=True)
    assert [info.name for info in store.list_unfinished()] == [left]
    assert list(store.list("")) == []
    store.delete_unfinished(left)
    store.delete_unfinished(left)
    assert list(store.list_unfinished()) == []


def test_dates_come_from_the_server(store: AzureStore) -> None:
    store.put("a", b"x", sync=True)
    written, now = store.modified_ms("a"), store.date_of_write("a")
    assert written is not None
    assert now is not None
    assert abs(now - written) < 60_000


def test_a_missing_container_is_named(azurite: Azurite) -> None:
    store = AzureStore("az://no-such-container/db", azurite.options())
    for call in (
        lambda: store.get("a"),
        lambda: list(store.list("")),
        lambda: store.put_if_absent("a", b"x"),
        store.require_writable,
    ):
        with pytest.raises(StoreError, match="no-such-container/.*the container does not exist; c"):
            call()


@pytest.mark.parametrize(
    ("may", "call", "needed"),
    [
        ("rl", lambda store: store.put_if_absent(SLOT, b"x"), "Contributor, .* c and w"),
        ("rl", lambda store: store.delete("a"), "Contributor, .* permission d"),
        ("rwc", lambda store: list(store.list("")), "Reader, .* permission l"),
        ("l", lambda store: store.get("a"), "Reader, .* permission r"),
    ],
)
def test_a_missing_permission_is_named_and_reading_goes_on(
    azurite: Azurite, store: AzureStore, may: str, call: Any, needed: str
) -> None:
    store.put("a", b"x", sync=True)
    limited = with_sas(azurite, store, may)
    with pytest.raises(StoreError, match=f"permission denied; .* {needed}") as refused:
        call(limited)
    assert "sig=" not in refused.value.message
    if "r" in may:
        assert limited.get("a") == b"x"


def test_a_signature_that_has_expired_is_one_sentence(azurite: Azurite, store: AzureStore) -> None:
    late = with_sas(azurite, store, "rwdl", valid=-timedelta(hours=1))
    with pytest.raises(
        StoreError, match="refuses these credentials .* the end of the SAS"
    ) as refused:
        late.get("a")
    assert "sig=" not in refused.value.message


SENTENCES = {
    (403, "AuthorizationFailure"): "the account refuses these credentials or this network",
    (403, "AuthenticationFailed"): "the credentials are wrong or have expired",
    (409, "BlobImmutableDueToPolicy"): "an immutability policy or a legal hold",
    (409, "BlobArchived"): "in the archive tier",
    (412, "LeaseIdMissing"): "another client holds a lease",
    (412, "Strange"): "the server refused it .HTTP 412, Strange",
    (401, "Strange"): "have expired",
    (418, "Strange"): "the server refused it .HTTP 418, Strange",
}


@pytest.mark.parametrize("answer", SENTENCES, ids=str)
def test_a_refusal_is_one_sentence(
    store: AzureStore, proxy: Proxy, answer: tuple[int, str]
) -> None:
    text = f"<Error><Code>{answer[1]}</Code><Message>canary</Message></Error>"
    proxy.plan = lambda seen: answered(answer[0], text)
    for call in (lambda: store.get("t/a"), lambda: store.put_if_absent("t/b", b"x")):
        with pytest.raises(StoreError, match=SENTENCES[answer]) as refused:
            call()
        assert "canary" not in refused.value.message
        assert not refused.value.retryable


def test_credentials_that_cannot_be_found_are_one_sentence() -> None:
    error = ClientAuthenticationError("canary")
    failure = classify("read", error)
    assert failure is not None
    assert not failure.arrived
    message = failure.translate("az://lake/t/a", "read").message
    assert "could not be fetched; check account_key" in message
    assert "canary" not in message


@pytest.mark.parametrize(("processes", "rounds"), [(2, 20), (8, 200)])
@pytest.mark.long
def test_of_racing_processes_one_wins_each_slot(
    azurite: Azurite, container: str, processes: int, rounds: int
) -> None:
    url = f"az://{container}/race-{rounds}"
    place = azurite.options()["connection_string"]
    environment = {**os.environ, "AZURE_STORAGE_CONNECTION_STRING": place}
    won = race(url, environment, processes, rounds)
    store = AzureStore(url, azurite.options())
    bodies = store.read_many([f"_manifest/{slot}" for slot in range(rounds)])
    assert [bytes(body)[:1] for body in bodies] == won  # type: ignore[arg-type]
