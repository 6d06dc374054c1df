"""Storage options by the names that other tools give them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.store import StoreAddress
from colonnade.manifests.store.azure.address import parse_address
from colonnade.manifests.store.azure.settings import parse_settings as azure_settings
from colonnade.manifests.store.gcs.settings import parse_settings as gcs_settings
from colonnade.manifests.store.option_names import _TABLES, of_environment, with_own_names
from colonnade.manifests.store.s3.settings import parse_settings as s3_settings

URLS = dict(zip(("S3", "GCS", "AZURE"), ("s3://b/t", "gs://b/t", "az://lake/t"), strict=True))
NAMES = [
    (url, other, own)
    for url, table in zip(URLS.values(), _TABLES.values(), strict=True)
    for other, own in table.items()
]


def settings(url: str, options: dict[str, Any], environment: dict[str, str] | None = None) -> Any:
    if url.startswith("s3"):
        return s3_settings(options, url, environment or {})
    if url.startswith("gs"):
        return gcs_settings(options, url, environment or {})
    return azure_settings(options, parse_address(url), environment or {})


@pytest.mark.parametrize(("url", "other", "own"), NAMES)
@pytest.mark.parametrize("written", [str.lower, str.upper])
def test_another_name_of_an_option_means_the_option(
    url: str, other: str, own: str, written: Any
) -> None:
    assert StoreAddress.of(url, {written(other): "true"}) == StoreAddress.of(url, {own: "true"})
    account = {"account_name": "a", own: "true"} if url.startswith("az") else {own: "true"}
    settings(url, account)  # which refuses options that it does not know


@pytest.mark.parametrize(("url", "other", "own"), NAMES)
def test_two_values_of_one_option_are_refused_by_name_and_never_shown(
    url: str, other: str, own: str
) -> None:
    with pytest.raises(InvalidInputError) as caught:
        StoreAddress.of(url, {own: "private", other: "secret"})
    for name in (own, other, url):
        assert name in str(caught.value)
    assert "private" not in str(caught.value)
    assert "secret" not in str(caught.value).replace("secret_access_key", "").replace(own, "")


def test_names_of_one_kind_of_store_say_nothing_about_another() -> None:
    with pytest.raises(InvalidInputError, match="no storage options"):
        settings("gs://b", with_own_names("gs://b", {"aws_access_key_id": "x"}))
    given = {"aws_region": "x"}
    assert with_own_names("memory://x", given) == given


def test_the_options_of_object_store_reach_botocore() -> None:
    given = {
        "AWS_ACCESS_KEY_ID": "k",
        "AWS_SECRET_ACCESS_KEY": "s",
        "AWS_REGION": "eu-west-1",
        "AWS_ENDPOINT_URL": "http://minio:9000",
        "AWS_ALLOW_HTTP": "true",
        "AWS_VIRTUAL_HOSTED_STYLE_REQUEST": "false",
    }
    found = settings("s3://b", StoreAddress.of("s3://b", given).connection_options)
    assert found.client == {
        "aws_access_key_id": "k",
        "aws_secret_access_key": "s",
        "region_name": "eu-west-1",
        "endpoint_url": "http://minio:9000",
        "use_ssl": True,
    }
    assert found.config["s3"] == {"addressing_style": "path"}


@pytest.mark.parametrize("text", ["false", "0", "no", ""])
def test_a_text_that_says_no_is_not_taken_for_yes(text: str) -> None:
    found = settings("s3://b", {"key": "k", "anon": text, "requester_pays": text})
    assert found.client["aws_access_key_id"] == "k"
    assert found.payer == {}
    assert settings("gs://b", {"anon": text, "token": "t"}).token == "t"


def test_http_that_is_not_allowed_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="allow_http, which forbids"):
        settings("s3://b", {"allow_http": "false", "endpoint_url": "http://minio:9000"})
    settings("s3://b", {"allow_http": "false", "endpoint_url": "https://minio:9000"})


def test_a_region_of_the_environment_counts_where_no_option_names_one() -> None:
    there = {"AWS_REGION": "eu-west-1"}
    assert settings("s3://b", {}, there).client["region_name"] == "eu-west-1"
    assert settings("s3://b", {"region": "r"}, there).client["region_name"] == "r"
    default = {**there, "AWS_DEFAULT_REGION": "us-east-1"}
    assert "region_name" not in settings("s3://b", {}, default).client  # botocore reads that one


def test_variables_of_azure_count_by_each_of_their_names() -> None:
    found = settings(
        "az://lake", {}, {"AZURE_STORAGE_ACCOUNT": "a", "AZURE_STORAGE_ACCESS_KEY": "k"}
    )
    assert (found.account_url, found.given["account_key"]) == (
        "https://a.blob.core.windows.net",
        "k",
    )
    known = {"AZURE_STORAGE_AUTH_MODE": "login", "AZURE_STORAGE_ACCOUNT": ""}
    assert of_environment("az://lake", known, ("AZURE_STORAGE_",)) == {}


def test_a_key_in_the_environment_goes_to_google_alone() -> None:
    there = {"GOOGLE_SERVICE_ACCOUNT": "/keys/a.json"}
    assert settings("gs://b", {}, there).token == "/keys/a.json"
    assert settings("gs://b", {"token": "t"}, there).token == "t"
    elsewhere = {"endpoint_url": "http://localhost:4443"}
    assert settings("gs://b", elsewhere, there).is_anonymous


@pytest.mark.parametrize(("url", "other", "own"), NAMES)
def test_the_page_about_stores_lists_each_name(url: str, other: str, own: str) -> None:
    page = (Path(__file__).parents[3] / "docs" / "stores.md").read_text()
    _, _, after = page.partition("## Names of options\n")
    rows = [line for line in after.partition("\n## ")[0].splitlines() if f"`{own}`" in line]
    assert any(f"`{other}`" in line for line in rows), (url, other, own)
