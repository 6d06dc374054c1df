"""Storage options of Azure are those of adlfs, and a value is never shown."""

from __future__ import annotations

from typing import Any

import pytest

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.store import open_store
from colonnade.manifests.store.azure.address import parse_address
from colonnade.manifests.store.azure.settings import AzureSettings, parse_settings

ADDRESS = parse_address("abfss://lake@acc.dfs.core.windows.net/t")


def settings(environment: dict[str, str] | None = None, **options: Any) -> AzureSettings:
    return parse_settings(options, ADDRESS, environment or {})


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"acount_key": "canary"}, "no storage options .'acount_key'.; .* are those of adlfs"),
        ({"account_name": "other"}, "names another account than its storage option account_name"),
        (
            {"connection_string": "AccountName=other;AccountKey=canary"},
            "names another account than its storage option connection_string",
        ),
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


def test_a_connection_string_counts_for_the_account_of_the_url_alone() -> None:
    own, other = "AccountKey=k;AccountName=acc", "AccountName=other;AccountKey=k"
    assert settings(connection_string=own).account_url is None
    variable = "AZURE_STORAGE_CONNECTION_STRING"
    assert settings({variable: own}).account_url is None
    assert settings({variable: other}).account_url == "https://acc.blob.core.windows.net"
    assert settings(connection_string="SharedAccessSignature=s").account_url is None
