"""Hadoop's settings for S3 become storage options, or an error that names them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.store.s3.settings import parse_settings
from colonnade.spark_ext.hadoop.s3 import with_hadoop

URL = "s3a://lake/folder"
KEYS = {"access.key": "AK", "secret.key": "MARKED"}
PAIR = {"key": "AK", "secret": "MARKED"}
NONE: Mapping[str, Any] = {}
APACHE = "org.apache.hadoop.fs.s3a."


def options(given: Mapping[str, Any] = NONE, /, **texts: Any) -> dict[str, Any]:
    """The options for settings, whose names have `_` in place of a dot."""
    settings = {f"fs.s3a.{name.replace('_', '.')}": text for name, text in texts.items()}
    found = with_hadoop(URL, settings, given)
    parse_settings(found, URL, {})
    return found


def with_keys(**texts: Any) -> dict[str, Any]:
    return options(access_key="AK", secret_key="MARKED", **texts)


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ({}, {}),
        ({"endpoint": "s3.amazonaws.com"}, {}),
        (
            {"endpoint": "s3.eu-central-1.amazonaws.com"},
            {"client_kwargs": {"region_name": "eu-central-1"}},
        ),
        ({"endpoint": "http://minio:9000"}, {"endpoint_url": "http://minio:9000"}),
        ({"endpoint": "minio:9000"}, {"endpoint_url": "https://minio:9000"}),
        (
            {"endpoint": "minio:9000", "connection_ssl_enabled": "false"},
            {"endpoint_url": "http://minio:9000"},
        ),
        ({"endpoint_region": "us-west-2"}, {"client_kwargs": {"region_name": "us-west-2"}}),
        ({"endpoint_region": "sdk"}, {}),
        (
            {"path_style_access": "true"},
            {"config_kwargs": {"s3": {"addressing_style": "path"}}},
        ),
        ({"requester_pays_enabled": "true"}, {"requester_pays": True}),
        (
            {"encryption_algorithm": "SSE-KMS", "encryption_key": "arn:k"},
            {
                "s3_additional_kwargs": {
                    "ServerSideEncryption": "aws:kms",
                    "SSEKMSKeyId": "arn:k",
                }
            },
        ),
        (
            {"acl_default": "BucketOwnerFullControl"},
            {"s3_additional_kwargs": {"ACL": "bucket-owner-full-control"}},
        ),
        (
            {"proxy_host": "gate", "proxy_port": "8080", "proxy_username": "me"},
            {
                "config_kwargs": {
                    "proxies": {"http": "http://me:@gate:8080", "https": "http://me:@gate:8080"}
                }
            },
        ),
    ],
)
def test_the_server_and_what_is_sent_are_taken_over(
    texts: dict[str, str], expected: dict[str, Any]
) -> None:
    assert options(**texts) == expected


def test_credentials_are_those_of_the_first_provider_that_has_some() -> None:
    assert with_keys() == PAIR
    assert with_keys(session_token="T") == {**PAIR, "token": "T"}
    simple = f"{APACHE}SimpleAWSCredentialsProvider"
    name = {"aws_credentials_provider": simple}
    assert with_keys(session_token="T", **name) == PAIR
    anonymous = {"aws_credentials_provider": f"{APACHE}AnonymousAWSCredentialsProvider"}
    assert with_keys(**anonymous) == {"anon": True}
    for chain in (
        "com.amazonaws.auth.InstanceProfileCredentialsProvider",
        "software.amazon.awssdk.auth.credentials.DefaultCredentialsProvider",
        f"{APACHE}auth.IAMInstanceCredentialsProvider",
        "com.amazonaws.auth.EnvironmentVariableCredentialsProvider,\n com.acme.Never",
        f"{APACHE}TemporaryAWSCredentialsProvider, {simple}, {chain_of_environment()}",
    ):
        assert options(aws_credentials_provider=chain) == {}


def chain_of_environment() -> str:
    return "software.amazon.awssdk.auth.credentials.EnvironmentVariableCredentialsProvider"


def test_settings_of_a_bucket_go_before_the_others_and_mean_no_other_bucket() -> None:
    settings = {
        "fs.s3a.access.key": "AK",
        "fs.s3a.secret.key": "MARKED",
        "fs.s3a.bucket.lake.secret.key": "OTHER",
        "fs.s3a.bucket.lake.endpoint": "http://minio:9000",
        "fs.s3a.bucket.my.lake.endpoint": "http://elsewhere",
    }
    found = with_hadoop("s3://lake", settings, {})
    assert found == {"key": "AK", "secret": "OTHER", "endpoint_url": "http://minio:9000"}
    assert with_hadoop("S3A://pond/x", settings, {}) == PAIR
    dotted = with_hadoop("s3://my.lake/x", settings, {})
    assert dotted == {**PAIR, "endpoint_url": "http://elsewhere"}
    assert with_hadoop("gs://lake/x", settings, {"token": "t"}) == {"token": "t"}
    assert with_hadoop("/data/lake", settings, {}) == {}


def test_given_options_go_before_hadoop_and_bring_all_their_credentials() -> None:
    texts = {"session_token": "T", "endpoint": "http://minio", "endpoint_region": "us-west-2"}

    def given(**own: Any) -> dict[str, Any]:
        return options(own, access_key="AK", secret_key="MARKED", **texts)

    region = {"client_kwargs": {"region_name": "us-west-2"}}
    place = {"endpoint_url": "http://minio", **region}
    assert given(key="K", secret="S") == {"key": "K", "secret": "S", **place}
    assert given(profile="p") == {"profile": "p", **place}
    assert given(anon=True) == {"anon": True, **place}
    assert given(endpoint_url="http://a")["endpoint_url"] == "http://a"
    client = {"endpoint_url": "http://a", "verify": False}
    found = given(client_kwargs=client)
    assert found["client_kwargs"] == {**client, "region_name": "us-west-2"}
    assert "endpoint_url" not in found
    mine = {"aws_access_key_id": "K", "aws_secret_access_key": "S"}
    assert "key" not in given(client_kwargs=mine)


def test_a_role_is_taken_on_with_the_credentials_of_its_own_providers() -> None:
    role = {
        "aws_credentials_provider": f"{APACHE}auth.AssumedRoleCredentialProvider",
        "assumed_role_arn": "arn:role",
        "assumed_role_session_duration": "1h",
        "assumed_role_sts_endpoint": "sts.eu-west-1.amazonaws.com",
        "assumed_role_sts_endpoint_region": "eu-west-1",
    }
    assert with_keys(**role) == {
        **PAIR,
        "assume_role": {
            "role_arn": "arn:role",
            "session_name": "colonnade",
            "duration_s": 3600,
            "endpoint_url": "https://sts.eu-west-1.amazonaws.com",
            "region_name": "eu-west-1",
        },
    }
    assert "key" not in options(**role)
    with pytest.raises(InvalidInputError, match=r"assumed\.role\.arn is not set"):
        with_keys(**{**role, "assumed_role_arn": ""})


@pytest.mark.parametrize(
    ("texts", "named"),
    [
        ({"aws_credentials_provider": "com.acme.Vault"}, "com.acme.Vault"),
        ({"aws_credentials_provider": f"{APACHE}SimpleAWSCredentialsProvider"}, "access.key"),
        ({"encryption_algorithm": "SSE-C", "encryption_key": "MARKED"}, "SSE-C"),
        ({"accesspoint_arn": "arn:MARKED"}, "accesspoint.arn"),
        ({"custom_signers": "MARKED"}, "custom.signers"),
    ],
)
def test_a_setting_without_a_counterpart_is_named_without_its_value(
    texts: dict[str, str], named: str
) -> None:
    with pytest.raises(InvalidInputError) as refused:
        options(**texts)
    assert named in str(refused.value)
    assert str(refused.value).startswith("Hadoop's setting fs.s3a.")
    assert "MARKED" not in str(refused.value)


def test_an_option_helps_where_a_provider_has_no_counterpart() -> None:
    with pytest.raises(InvalidInputError, match=r"set spark\.colonnade\.storage\.key and"):
        options(aws_credentials_provider="com.acme.Vault")
    given = {"key": "K", "secret": "S"}
    assert options(given, aws_credentials_provider="com.acme.Vault") == given


def test_unreadable_credential_files_matter_only_where_nothing_else_has_credentials() -> None:
    why = {"colonnade.credentials.unreadable": "IOException"}
    with pytest.raises(InvalidInputError, match=r"could not be read \(IOException\)"):
        with_hadoop(URL, why, {})
    keys = {f"fs.s3a.{name}": text for name, text in KEYS.items()}
    assert with_hadoop(URL, {**why, **keys}, {}) == PAIR
    assert with_hadoop("gs://lake", why, {}) == {}
