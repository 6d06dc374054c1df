"""Options of a bucket are those of s3fs, and a refusal names no value."""

from __future__ import annotations

import pytest

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.store import open_store
from colonnade.manifests.store.s3.settings import parse_settings


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"kee": "canary"}, "no storage options .'kee'.; the options are those of s3fs"),
        ({"client_kwargs": {"regoin": "canary"}}, "no client_kwargs .'regoin'"),
        ({"client_kwargs": "canary"}, "client_kwargs .* must be a dictionary"),
        ({"config_kwargs": {"retries": {"canary": 1}}}, "give the storage option patience"),
        ({"patience": 0}, "patience .* must be a number"),
        ({"max_concurrency": "canary"}, "max_concurrency .* must be a number"),
    ],
)
def test_an_option_that_cannot_work_is_named_and_its_value_is_not(
    options: dict[str, object], sentence: str
) -> None:
    with pytest.raises(InvalidInputError, match=sentence) as refused:
        open_store("s3://bucket/db", options)
    assert "canary" not in refused.value.message


@pytest.mark.slow
def test_settings_that_the_client_refuses_are_named_and_their_values_are_not() -> None:
    for options in (
        {"profile": "canary-profile"},
        {"config_kwargs": {"no_such_setting": "canary"}},
        {"endpoint_url": "canary no url"},
    ):
        store = open_store("s3://bucket/db", {"key": "canary", "secret": "canary", **options})
        with pytest.raises(InvalidInputError, match="storage options for S3 cannot be") as refused:
            store.get("a")
        assert "canary" not in refused.value.message


def test_options_are_those_of_s3fs() -> None:
    options = {
        "key": "k",
        "secret": "s",
        "token": "t",
        "endpoint_url": "http://host",
        "client_kwargs": {"region_name": "r"},
        "config_kwargs": {"s3": {"addressing_style": "path"}},
        "s3_additional_kwargs": {"ServerSideEncryption": "AES256"},
        "requester_pays": True,
        "profile": "p",
        "use_listings_cache": False,
        "max_concurrency": 3,
    }
    found = parse_settings(options, "s3://bucket", {})
    assert found.client == {
        "use_ssl": True,
        "aws_access_key_id": "k",
        "aws_secret_access_key": "s",
        "aws_session_token": "t",
        "endpoint_url": "http://host",
        "region_name": "r",
    }
    assert found.session == {"profile": "p"}
    assert found.extra == {"ServerSideEncryption": "AES256"}
    assert found.payer == {"RequestPayer": "requester"}
    assert found.config["s3"] == {"addressing_style": "path"}
    assert found.config["retries"] == {"total_max_attempts": 1, "mode": "standard"}
    assert found.parallel == 3
    assert "k" not in repr(found).replace("S3Settings", "")
    anonymous = parse_settings({"anon": True, "key": "k"}, "s3://bucket", {})
    assert anonymous.client == {"use_ssl": True}
    assert "signature_version" in anonymous.config
