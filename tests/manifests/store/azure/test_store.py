"""A store in a container of Azure: what its options mean, and how many requests it makes."""

from __future__ import annotations

import os
import pickle
import secrets
import subprocess
import sys
import tracemalloc
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from azure.core.credentials import AccessToken
from azure.core.exceptions import ClientAuthenticationError
from azure.storage.blob import ContainerSasPermissions, generate_container_sas

from colonnade.manifests.errors import ColonnadeError, InvalidInputError, StoreError
from colonnade.manifests.store import open_store
from colonnade.manifests.store.azure import AzureStore
from colonnade.manifests.store.azure.address import parse_address
from colonnade.manifests.store.azure.client import client_of
from colonnade.manifests.store.azure.failures import classify
from colonnade.manifests.store.azure.settings import AzureSettings, parse_settings
from colonnade.manifests.store.azure.upload import PART, UNDER_WAY
from tests.manifests.store.races import race
from tests.setup.azurite import ACCOUNT, KEY, Azurite
from tests.setup.http_proxy import Proxy, answered

pytestmark = pytest.mark.timeout(900)  # the first test may install the server
SLOT = "_manifest/00000000000000000000.json"
ROOT = Path(__file__).resolve().parents[4]
ADDRESS = parse_address("abfss://lake@acc.dfs.core.windows.net/t")


@pytest.fixture(scope="module")
def proxy(azurite: Azurite) -> Iterator[Proxy]:
    made = Proxy(azurite.port)
    yield made
    made.stop()


@pytest.fixture(scope="module")
def container(azurite: Azurite) -> str:
    return azurite.new_bucket()


@pytest.fixture
def store(azurite: Azurite, proxy: Proxy, container: str) -> Iterator[AzureStore]:
    made = AzureStore(f"az://{container}/{secrets.token_hex(4)}", azurite.at(proxy.url))
    made.require_writable()
    proxy.seen.clear()
    yield made
    proxy.plan = lambda seen: None


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


def settings(environment: dict[str, str] | None = None, **options: Any) -> AzureSettings:
    return parse_settings(options, ADDRESS, environment or {})


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"acount_key": "canary"}, "no storage options .'acount_key'.; .* are those of adlfs"),
        ({"account_name": "other"}, "names another account than its storage option account_name"),
        ({"patience": 0}, "patience .* must be a number"),
        ({"read_timeout": "canary"}, "read_timeout .* must be a number"),
    ],
)
def test_an_option_that_cannot_work_is_named_and_its_value_is_not(
    options: dict[str, object], sentence: str
) -> None:
    with pytest.raises(InvalidInputError, match=sentence) as refused:
        open_store(ADDRESS.place.url, options)
    assert "canary" not in refused.value.message


def test_a_container_without_an_account_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="names no account; give .* or write abfss://"):
        parse_settings({}, parse_address("az://lake/t"), {})


def test_settings_that_the_client_refuses_are_named_and_their_values_are_not() -> None:
    for options in ({"account_key": "canary not base64"}, {"connection_string": "canary"}):
        store = open_store("az://lake/t", {"account_name": "acc", **options})
        with pytest.raises(ColonnadeError, match="; check account_(name|key)") as refused:
            store.get("a")
        assert "canary" not in refused.value.message


def test_options_are_those_of_adlfs() -> None:
    assert settings().account_url == "https://acc.blob.core.windows.net"
    assert settings(account_host="own:1").account_url == "https://own:1"
    assert settings({"AZURE_STORAGE_ACCOUNT_KEY": "k"}).given["account_key"] == "k"
    assert settings({"AZURE_STORAGE_ANON": "true"}).given["anon"]
    assert not settings().given["anon"]
    assert not settings({"AZURE_STORAGE_ANON": "true"}, anon=False).given["anon"]
    found = settings(connection_timeout=2, read_timeout=3, max_concurrency=4, blocksize=5)
    assert (found.timeouts_s, found.parallel) == ((2, 3), 4)
    assert "canary" not in repr(settings(account_key="canary"))
    assert settings(account_key="a").identity != settings(account_key="b").identity
    place = parse_address("az://lake/t")
    by_text = parse_settings({"connection_string": "text"}, place, {})
    assert by_text.account_url is None


class _Token:
    def get_token(self, *scopes: str, **others: Any) -> AccessToken:
        return AccessToken("canary", 1 << 40)


class _LateToken:
    async def get_token(self, *scopes: str, **others: Any) -> AccessToken:
        return AccessToken("canary", 1 << 40)


def test_the_credentials_that_are_given_are_used() -> None:
    shared, bearer = "SharedKeyCredentialPolicy", "StorageBearerTokenCredentialPolicy"
    for options, kinds in (
        ({"account_key": KEY}, {shared}),
        ({"credential": _Token()}, {bearer}),
        ({"client_id": "i", "client_secret": "s", "tenant_id": "t"}, {bearer}),
        ({}, {bearer}),
        ({"anon": True}, set()),
    ):
        container = client_of(settings(**options)).container
        steps = container._pipeline._impl_policies
        policies = {type(getattr(each, "_policy", each)).__name__ for each in steps}
        assert policies & {shared, bearer} == kinds
    assert client_of(settings(sas_token="?sig=x")).container.url.endswith("?sig=x")
    with pytest.raises(InvalidInputError, match="azure.identity, and not of azure.identity.aio"):
        settings(credential=_LateToken())


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


def test_each_call_costs_the_requests_that_it_must(store: AzureStore, proxy: Proxy) -> None:
    def cost(call: Any) -> list[str]:
        proxy.seen.clear()
        call()
        return [seen.method for seen in proxy.seen]

    def stream(size: int) -> None:
        with store.create(f"t/{size}", sync=True) as writer:
            writer.write(b"x" * size)

    assert cost(lambda: store.put_if_absent(SLOT, b"x")) == ["PUT"]
    assert cost(lambda: store.put_if_absent(SLOT.replace("0.j", "1.j"), b"x")) == ["PUT"]
    assert cost(lambda: store.put("a", b"0123456789" * 100_000, sync=True)) == ["PUT"]
    assert cost(lambda: store.get("a", limit=1_000_000)) == ["GET"]
    assert cost(lambda: store.get_ranges("a", [(900_000, 9), (5, 5), (200_000, 1)])) == ["GET"] * 2
    assert cost(lambda: store.get_ranges("a", [(7, 3), (100, 1), (0, 2)])) == ["GET"]
    assert cost(lambda: stream(1000)) == ["PUT"]
    assert cost(lambda: stream(PART)) == ["PUT"]
    assert cost(lambda: stream(PART + 1)) == ["PUT"] * 3
    assert cost(lambda: list(store.list(""))) == ["GET"]
    assert cost(lambda: store.remove_many([SLOT, "a", "t/1000"])) == ["POST"]
    assert cost(lambda: store.delete("b")) == ["DELETE"]
    assert cost(store.require_writable) == []


def test_every_write_carries_the_condition_and_a_checksum(store: AzureStore, proxy: Proxy) -> None:
    store.put_if_absent(SLOT, b"x")
    with store.create("t/a", sync=True) as writer:
        writer.write(b"x" * (PART + 1))
    conditions = [seen.headers.get("if-none-match") for seen in proxy.seen]
    assert conditions == ["*", None, None, "*"]
    assert all("content-md5" in seen.headers for seen in proxy.seen[:3])


def test_more_objects_than_a_page_are_listed_and_removed_in_batches(
    store: AzureStore, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("colonnade.manifests.store.azure.requests._PAGE", 200)
    wanted = [f"t/{number:04}" for number in range(550)]
    store.together([partial(store.put, name, b"x", sync=False) for name in wanted])
    proxy.seen.clear()
    assert [info.name for info in store.list("t/")] == wanted
    assert proxy.count("GET") == 3
    assert store.remove_many([*wanted, "t/absent"]) == {}
    assert proxy.count("POST") == 3
    assert list(store.list("")) == []


def test_folders_of_an_account_with_folders_are_no_objects(store: AzureStore) -> None:
    store.put("t/a", b"x", sync=True)
    folder = store.bucket._blob(f"{store._prefix}t")
    folder.upload_blob(b"", metadata={"hdi_isfolder": "true"})
    assert [info.name for info in store.list("")] == ["t/a"]


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


def test_blocks_of_a_writer_that_aborts_are_no_object(store: AzureStore) -> None:
    writer = store.create("t/a", sync=True)
    writer.write(b"x" * (PART + 1))
    writer.abort()
    assert list(store.list("")) == []
    assert list(store.list_unfinished()) == []
    with store.create("t/a", sync=True) as again:
        again.write(b"y" * (PART + 1))
    assert store.get("t/a") == b"y" * (PART + 1)


def test_a_stream_holds_a_few_parts_in_memory(store: AzureStore) -> None:
    block = secrets.token_bytes(1 << 20)
    tracemalloc.start()
    try:
        with store.create("t/a", sync=True) as writer:
            for _ in range(96):
                writer.write(block)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert next(store.list("t/")).size == 96 << 20
    # The proxy of this test is in the same process, and holds a part for each under way, too.
    assert peak < (2 * UNDER_WAY + 4) * PART


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


def test_a_wrong_key_is_named_and_not_shown(azurite: Azurite, container: str) -> None:
    place = azurite.options()["connection_string"].replace(KEY, KEY[::-1].lstrip("=") + "==")
    store = AzureStore(f"az://{container}/db", {"connection_string": place})
    with pytest.raises(StoreError, match="refuses these credentials .* check the key") as refused:
        store.get("a")
    assert "AccountKey" not in refused.value.message


SENTENCES = {
    (403, "AuthorizationFailure"): "the account refuses these credentials or this network",
    (403, "AuthenticationFailed"): "the credentials are wrong or have expired",
    (409, "BlobImmutableDueToPolicy"): "an immutability policy or a legal hold",
    (409, "BlobArchived"): "in the archive tier",
    (412, "LeaseIdMissing"): "somebody holds a lease",
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


@pytest.mark.parametrize(
    ("processes", "rounds"), [(3, 30), pytest.param(8, 200, marks=pytest.mark.long)]
)
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
