"""Storage options of GCS are those of gcsfs, and a value is never shown."""

from __future__ import annotations

import pytest

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.store import open_store
from colonnade.manifests.store.gcs.settings import GOOGLE, parse_settings


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"tokn": "canary"}, "no storage options .'tokn'.; the options are those of gcsfs"),
        ({"access": "canary"}, "access .* must be one of"),
        ({"token": "browser"}, "gcloud auth application-default login"),
        ({"endpoint_url": "http://user:canary@host"}, "endpoint_url .* must have the form"),
        ({"endpoint_url": "canary://host"}, "endpoint_url .* must have the form"),
        ({"requester_pays": True}, "requester_pays without a project"),
        ({"patience": 0}, "patience .* must be a number"),
        ({"read_timeout": "canary"}, "read_timeout .* must be a number"),
    ],
)
def test_an_option_that_cannot_work_is_named_and_its_value_is_not(
    options: dict[str, object], sentence: str
) -> None:
    with pytest.raises(InvalidInputError, match=sentence) as refused:
        open_store("gs://bucket/db", options)
    assert "canary" not in refused.value.message


def test_options_are_those_of_gcsfs() -> None:
    found = parse_settings(
        {"token": "t", "project": "p", "requester_pays": True, "cache_timeout": 3}, "gs://b", {}
    )
    assert (found.endpoint, found.token, found.payer) == (GOOGLE, "t", "p")
    assert not found.is_anonymous
    assert "'t'" not in repr(found)
    assert parse_settings({"requester_pays": "q"}, "gs://b", {}).payer == "q"
    assert parse_settings({"token": "anon"}, "gs://b", {}).is_anonymous
    emulator = parse_settings({}, "gs://b", {"STORAGE_EMULATOR_HOST": "localhost:4443"})
    assert emulator.endpoint == "http://localhost:4443"
    assert emulator.is_anonymous, "an emulator gets no token of Google"
    assert not parse_settings({}, "gs://b", {}).is_anonymous
    assert parse_settings({"token": "a"}, "x", {}).identity != found.identity
