"""What a URL of Azure names."""

from __future__ import annotations

import pytest

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.store import open_store
from colonnade.manifests.store.address import StoreAddress
from colonnade.manifests.store.azure import AzureStore
from colonnade.manifests.store.azure.address import parse_address
from colonnade.manifests.store.fsspec_files import FsspecStore


@pytest.mark.parametrize(
    ("url", "found", "shown"),
    [
        ("az://lake", ("lake", None, None, ""), "az://lake"),
        ("az://a-b/t", ("a-b", None, None, "t/"), "az://a-b/t"),
        (f"az://{'x-' * 31}y", ("x-" * 31 + "y", None, None, ""), f"az://{'x-' * 31}y"),
        ("AZ://lake/a b%20/ü#x/", ("lake", None, None, "a b%20/ü#x/"), "az://lake/a b%20/ü#x"),
        ("abfs://lake@acc/t", ("lake", "acc", None, "t/"), "abfs://lake@acc/t"),
        (
            "abfss://lake@acc.dfs.core.windows.net/t",
            ("lake", "acc", "acc.blob.core.windows.net", "t/"),
            "abfss://lake@acc.dfs.core.windows.net/t",
        ),
        (
            "az://lake@acc.blob.core.chinacloudapi.cn",
            ("lake", "acc", "acc.blob.core.chinacloudapi.cn", ""),
            "az://lake@acc.blob.core.chinacloudapi.cn",
        ),
    ],
)
def test_a_url_names_a_container_a_key_and_perhaps_an_account(
    url: str, found: tuple[str, str | None, str | None, str], shown: str
) -> None:
    address = parse_address(url)
    assert (address.container, address.account, address.host, address.place.prefix) == found
    assert address.place.url == shown
    assert StoreAddress.of(url).connection_url.rstrip("/") == url.rstrip("/")
    store = open_store(url, {"account_name": found[1] or "acc"})
    assert isinstance(store, AzureStore)
    assert store.address.url == shown


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("az:///a", "names no bucket; write az://container/folder"),
        ("abfss:///a", "write abfss://container@account.dfs.core.windows.net/folder"),
        ("az://Lake/a", "names no bucket"),
        ("az://a--b/a", "names no bucket"),
        ("az://-ab/a", "names no bucket"),
        ("az://ab-/a", "names no bucket"),
        ("az://ab/a", "names no bucket"),
        (f"az://{'x-' * 31}yz/a", "names no bucket"),
        ("az://lake/a/../b", "an empty part, '.', '..'"),
        ("abfss://lake@acc/a//b", "an empty part, '.', '..'"),
        ("az://lake/a\nb", "a control character"),
        ("az://lake/" + "x" * 401, "too long"),
        ("az://key:canary@lake/a", r"pass them as storage options \(account_name, account_key"),
        ("az://lake/a?sv=2026&sig=canary", "leave out the '[?]'"),
    ],
)
def test_a_url_that_cannot_work_is_refused_without_its_secrets(url: str, sentence: str) -> None:
    with pytest.raises(InvalidInputError, match=sentence) as refused:
        open_store(url, {"account_name": "acc"})
    assert "canary" not in refused.value.message


def test_older_schemes_of_azure_are_read_through_fsspec_or_refused_by_name() -> None:
    with pytest.raises(InvalidInputError, match="wasbs"):
        assert isinstance(open_store("wasbs://lake@acc/a", create=True), FsspecStore)
