"""Hadoop's settings for Azure become storage options of adlfs, or an error that names them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.store.azure.address import parse_address
from colonnade.manifests.store.azure.settings import parse_settings
from colonnade.spark_ext.hadoop.s3 import UNREADABLE
from colonnade.spark_ext.hadoop.stores import secrets_of, with_hadoop

HOST = "acc.dfs.core.windows.net"
URL = f"abfss://lake@{HOST}/folder"
OAUTH = "fs.azure.account.oauth2."
PROVIDER = "fs.azure.account.oauth.provider.type"
CLASSES = "org.apache.hadoop.fs.azurebfs.oauth2."
AUTH = "fs.azure.account.auth.type"
CLIENT = {
    AUTH: "OAuth",
    PROVIDER: f"{CLASSES}ClientCredsTokenProvider",
    f"{OAUTH}client.id": "I",
    f"{OAUTH}client.secret": "MARKED",
    f"{OAUTH}client.endpoint": "https://login.microsoftonline.com/tenant-1/oauth2/token",
}
NAMES = [*CLIENT, "fs.azure.account.key", "fs.azure.sas.fixed.token", UNREADABLE]
NAMES += ["fs.azure.sas.token.provider.type", "fs.azure.client-provided-encryption-key"]


def options(settings: Mapping[str, str], url: str = URL, **given: Any) -> dict[str, Any]:
    found = with_hadoop(url, settings, given)
    parse_settings(found, parse_address(url), {})
    return found


def of_account(settings: Mapping[str, str]) -> dict[str, str]:
    return {f"{name}.{HOST}": text for name, text in settings.items()}


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, {}),
        ({"fs.azure.account.key": "MARKED"}, {"account_key": "MARKED"}),
        ({AUTH: "SharedKey", "fs.azure.account.key": "MARKED"}, {"account_key": "MARKED"}),
        ({AUTH: "SAS", "fs.azure.sas.fixed.token": "MARKED"}, {"sas_token": "MARKED"}),
        (
            {
                AUTH: "SAS",
                "fs.azure.sas.token.provider.type": "org.x.FixedSASTokenProvider",
                "fs.azure.sas.fixed.token": "MARKED",
            },
            {"sas_token": "MARKED"},
        ),
        (CLIENT, {"client_id": "I", "client_secret": "MARKED", "tenant_id": "tenant-1"}),
        ({AUTH: "OAuth", PROVIDER: f"{CLASSES}MsiTokenProvider"}, {}),
        (
            {**CLIENT, PROVIDER: f"{CLASSES}WorkloadIdentityTokenProvider"},
            {"client_id": "I"},
        ),
    ],
)
def test_settings_become_the_options_that_mean_the_same(
    settings: dict[str, str], expected: dict[str, Any]
) -> None:
    assert options(settings) == expected
    assert options(of_account(settings)) == expected


def test_the_most_special_form_of_a_setting_counts_and_that_of_another_account_does_not() -> None:
    name = "fs.azure.account.key"
    settings = {name: "1", f"{name}.{HOST}": "2", f"{name}.lake.{HOST}": "3"}
    settings[f"{name}.other.dfs.core.windows.net"] = "4"
    assert options(settings) == {"account_key": "3"}
    assert options(settings, f"abfs://pond@{HOST}/x") == {"account_key": "2"}
    assert options(settings, "abfss://pond@else.dfs.core.windows.net/x") == {"account_key": "1"}
    assert with_hadoop("az://lake/x", settings, {}) == {}, "Hadoop knows no such URL"


def test_given_credentials_replace_all_of_hadoops() -> None:
    custom = {AUTH: "Custom", "fs.azure.account.key": "MARKED"}
    for own in ({"account_key": "k"}, {"sas_token": "s"}, {"client_id": "c"}, {"anon": True}):
        assert options(custom, **own) == own
    assert options(CLIENT, max_concurrency=4)["max_concurrency"] == 4


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({AUTH: "Custom"}, "auth.type is Custom"),
        ({AUTH: "SharedKey"}, "fs.azure.account.key is not set for this account"),
        ({AUTH: "SharedKey", UNREADABLE: "IOException"}, "credential files could not be read"),
        ({AUTH: "SAS"}, "fs.azure.sas.fixed.token is not set"),
        (
            {AUTH: "SAS", "fs.azure.sas.token.provider.type": "com.acme.Sas"},
            "fs.azure.sas.token.provider.type names com.acme.Sas",
        ),
        ({AUTH: "OAuth"}, f"{PROVIDER} is not set"),
        (
            {AUTH: "OAuth", PROVIDER: f"{CLASSES}UserPasswordTokenProvider"},
            "names .*UserPasswordTokenProvider",
        ),
        (
            {**CLIENT, f"{OAUTH}client.endpoint": "https://login.chinacloudapi.cn/t/oauth2/token"},
            "client.endpoint must be like https://login.microsoftonline.com/",
        ),
        ({**CLIENT, f"{OAUTH}client.secret": ""}, "client.secret is not set"),
    ],
)
def test_a_setting_without_a_counterpart_is_named_with_the_option_to_give(
    settings: dict[str, str], sentence: str
) -> None:
    with pytest.raises(InvalidInputError, match=sentence) as refused:
        options(settings)
    assert "set spark.colonnade.storage.account_key" in refused.value.message
    assert "MARKED" not in refused.value.message


def test_keys_of_customers_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="client-provided-encryption-key has no"):
        options({"fs.azure.client-provided-encryption-key": "MARKED"}, anon=True)


def test_credential_files_are_asked_for_each_form_of_a_secret() -> None:
    names = secrets_of(URL)
    for name in ("fs.azure.account.key", "fs.azure.sas.fixed.token", f"{OAUTH}client.secret"):
        assert {name, f"{name}.{HOST}", f"{name}.lake.{HOST}"} <= set(names)


def refusal_of(settings: Mapping[str, str]) -> str:
    """Return the sentence of an error, or an empty text for settings that can be used."""
    try:
        options(settings)
    except InvalidInputError as error:
        return error.message
    return ""


@given(
    st.dictionaries(
        st.sampled_from([*NAMES, *(f"{name}.{HOST}" for name in NAMES)]),
        st.sampled_from([*CLIENT.values(), "SharedKey", "SAS", "Custom", "MARKED", " "]),
    )
)
def test_any_settings_give_options_that_the_store_takes_or_an_error_without_secrets(
    settings: dict[str, str],
) -> None:
    public = {AUTH, PROVIDER, UNREADABLE, "fs.azure.sas.token.provider.type"}
    for name in settings:
        if name.removesuffix(f".{HOST}") in public and settings[name] == "MARKED":
            settings[name] = "Odd"
    refusal = refusal_of(settings)
    assert "MARKED" not in refusal
    assert not refusal or "fs.azure." in refusal
