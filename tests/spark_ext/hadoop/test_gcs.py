"""Hadoop's settings for GCS become storage options of gcsfs, or an error that names them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.store.gcs.settings import parse_settings
from colonnade.spark_ext.hadoop.stores import with_hadoop

URL = "gs://lake/folder"
ACCOUNT = "fs.gs.auth.service.account."
USER = {"fs.gs.auth.client.id": "I", "fs.gs.auth.client.secret": "MARKED"}
USER["fs.gs.auth.refresh.token"] = "MARKED"
KEY = {
    f"{ACCOUNT}email": "me@google",
    f"{ACCOUNT}private.key": "MARKED\\nlines",
    f"{ACCOUNT}private.key.id": "7",
}
NAMES = [
    *USER,
    *KEY,
    *(f"{ACCOUNT}{name}" for name in ("enable", "json.keyfile", "keyfile")),
    *("fs.gs.auth.type", "fs.gs.auth.null.enable", "google.cloud.auth.null.enable"),
    *("fs.gs.storage.root.url", "fs.gs.project.id", "fs.gs.requester.pays.mode"),
    *("fs.gs.requester.pays.buckets", "fs.gs.encryption.key", "fs.gs.encryption.key.hash"),
    *("fs.gs.auth.access.token.provider.impl", "fs.gs.auth.impersonation.service.account"),
]
KINDS = ["APPLICATION_DEFAULT", "COMPUTE_ENGINE", "UNAUTHENTICATED", "USER_CREDENTIALS"]
KINDS += ["SERVICE_ACCOUNT_JSON_KEYFILE", "ACCESS_TOKEN_PROVIDER"]


def options(settings: Mapping[str, str], **given: Any) -> dict[str, Any]:
    found = with_hadoop(URL, settings, given)
    parse_settings(found, URL, {})
    return found


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, {}),
        ({"fs.gs.project.id": "p", "fs.gs.impl": "x"}, {}),
        ({"fs.gs.storage.root.url": "https://storage.googleapis.com/"}, {}),
        (
            {"fs.gs.storage.root.url": "http://emulator:4443/"},
            {"endpoint_url": "http://emulator:4443"},
        ),
        (
            {"fs.gs.requester.pays.mode": "AUTO", "fs.gs.project.id": "p"},
            {"requester_pays": "p"},
        ),
        (
            {
                "fs.gs.requester.pays.mode": "custom",
                "fs.gs.requester.pays.buckets": "pond, lake",
                "fs.gs.requester.pays.project.id": "q",
            },
            {"requester_pays": "q"},
        ),
        (
            {
                "fs.gs.requester.pays.mode": "CUSTOM",
                "fs.gs.requester.pays.buckets": "pond",
                "fs.gs.project.id": "p",
            },
            {},
        ),
        ({"fs.gs.auth.type": "APPLICATION_DEFAULT"}, {}),
        ({"fs.gs.auth.type": "COMPUTE_ENGINE"}, {"token": "cloud"}),
        ({"fs.gs.auth.type": "UNAUTHENTICATED"}, {"token": "anon"}),
        (
            {
                "fs.gs.auth.type": "SERVICE_ACCOUNT_JSON_KEYFILE",
                f"{ACCOUNT}json.keyfile": "/keys/a.json",
            },
            {"token": "/keys/a.json"},
        ),
        ({"google.cloud.auth.service.account.json.keyfile": "/a.json"}, {"token": "/a.json"}),
        ({f"{ACCOUNT}enable": "false", "fs.gs.auth.null.enable": "true"}, {"token": "anon"}),
        ({f"{ACCOUNT}enable": "false"}, {}),
        ({**KEY, f"{ACCOUNT}json.keyfile": "/a.json"}, {"token": "/a.json"}),
    ],
)
def test_settings_become_the_options_that_mean_the_same(
    settings: dict[str, str], expected: dict[str, Any]
) -> None:
    assert options(settings) == expected


def test_credentials_in_the_settings_become_a_key_as_google_writes_it() -> None:
    user = {"type": "authorized_user", "client_id": "I"}
    user |= {"client_secret": "MARKED", "refresh_token": "MARKED"}
    assert options({**USER, "fs.gs.auth.type": "user_credentials"}) == {"token": user}
    assert options({**USER, f"{ACCOUNT}enable": "false"}) == {"token": user}
    service = options(KEY)["token"]
    assert service["type"] == "service_account"
    assert service["private_key"] == "MARKED\nlines"
    assert service["client_email"] == "me@google"
    assert service["token_uri"].startswith("https://oauth2.googleapis.com")


def test_a_given_token_replaces_all_credentials_and_other_options_go_before_settings() -> None:
    settings = {"fs.gs.auth.type": "ACCESS_TOKEN_PROVIDER", "fs.gs.storage.root.url": "http://a"}
    assert options(settings, token="t") == {"token": "t", "endpoint_url": "http://a"}
    assert options(settings, token="t", endpoint_url="http://b")["endpoint_url"] == "http://b"
    assert with_hadoop("s3://lake", USER, {}) == {}


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"fs.gs.auth.type": "ACCESS_TOKEN_PROVIDER"}, "auth.type is ACCESS_TOKEN_PROVIDER"),
        ({"fs.gs.auth.access.token.provider.impl": "com.acme.X"}, "access.token.provider.impl has"),
        ({"fs.gs.auth.impersonation.service.account": "a"}, "impersonation.service.account has"),
        (
            {"fs.gs.auth.impersonation.service.account.for.user.ada": "a"},
            "impersonation.service.account has",
        ),
        ({f"{ACCOUNT}keyfile": "/a.p12"}, "names a file of PKCS12"),
        ({f"{ACCOUNT}private.key": "MARKED"}, "service.account.email is not set"),
        ({"fs.gs.auth.type": "SERVICE_ACCOUNT_JSON_KEYFILE"}, "json.keyfile is not set"),
        ({"fs.gs.auth.type": "USER_CREDENTIALS"}, "auth.client.id is not set"),
    ],
)
def test_a_setting_without_a_counterpart_is_named_with_the_option_to_give(
    settings: dict[str, str], sentence: str
) -> None:
    with pytest.raises(InvalidInputError, match=sentence) as refused:
        options(settings)
    assert "set spark.colonnade.storage.token" in refused.value.message
    assert "MARKED" not in refused.value.message
    assert options(settings, token="anon") == {"token": "anon"}


def test_keys_of_customers_are_refused() -> None:
    with pytest.raises(InvalidInputError, match=r"fs\.gs\.encryption\.key has no counterpart"):
        options({"fs.gs.encryption.key": "MARKED"}, token="anon")


def refusal_of(settings: Mapping[str, str]) -> str:
    """Return the sentence of an error, or an empty text for settings that can be used."""
    try:
        options(settings)
    except InvalidInputError as error:
        return error.message
    return ""


@given(
    st.dictionaries(
        st.sampled_from(NAMES), st.sampled_from([*KINDS, "true", "false", "MARKED", "CUSTOM", " "])
    )
)
def test_any_settings_give_options_that_the_store_takes_or_an_error_without_secrets(
    settings: dict[str, str],
) -> None:
    settings.pop("fs.gs.storage.root.url", None)
    refusal = refusal_of(settings).replace(settings.get("fs.gs.auth.type", "-"), "")
    assert "MARKED" not in refusal
    assert not refusal or "fs.gs." in refusal
