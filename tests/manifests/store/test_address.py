"""An address says where a store is, and never shows how to get in."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.store import LocalStore, StoreAddress, address, open_store
from colonnade.manifests.store.option_text import option_texts, option_value, option_values

SECRET = "HUNTER2"


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("s3://bucket/lake", "s3://bucket/lake"),
        ("s3://bucket/lake/", "s3://bucket/lake"),
        (f"s3://user:{SECRET}@bucket/lake", "s3://bucket/lake"),
        (f"https://{SECRET}@host/lake", "https://host/lake"),
        (f"https://host/lake?sig={SECRET}", "https://host/lake"),
        (f"simplecache::ftp://user:{SECRET}@host/lake", "simplecache::ftp://host/lake"),
        (f"http://host/ftp://user:{SECRET}@x/y", "http://host/ftp://x/y"),
        (
            "abfss://lake@account.dfs.core.windows.net/t",
            "abfss://lake@account.dfs.core.windows.net/t",
        ),
        ("s3://bucket/a@b", "s3://bucket/a@b"),
    ],
)
def test_an_address_shows_no_credentials_and_connects_with_them(given: str, shown: str) -> None:
    found = StoreAddress.of(given, {"key": SECRET})
    assert found.url == shown
    assert found.connection_url.rstrip("/") == given.rstrip("/")
    assert found.storage_options == {"key": SECRET}
    assert SECRET not in repr(found) + str(found)
    assert SECRET not in repr(address._REGISTRY._held)


def test_the_parent_and_the_child_of_an_address_have_its_credentials() -> None:
    place = StoreAddress.of(f"ftp://me:{SECRET}@host/lake/t?mode={SECRET}", {"port": 2121})
    assert place.parent is not None
    assert place.parent.url == "ftp://host/lake"
    assert place.parent.connection_url == f"ftp://me:{SECRET}@host/lake?mode={SECRET}"
    assert place.parent / "t" == place
    assert StoreAddress("s3://bucket").parent is None
    assert StoreAddress("/data").parent is None


@pytest.mark.parametrize("given", [5, SECRET, [("key", SECRET)]])
@pytest.mark.parametrize("path", ["s3://bucket/x", "x"])
def test_options_that_are_no_dictionary_are_refused_without_their_value(
    path: str, given: Any
) -> None:
    with pytest.raises(InvalidInputError, match="must be a dictionary of options") as refused:
        StoreAddress.of(path, given)
    assert SECRET not in refused.value.message


@pytest.mark.parametrize(
    "text", ["s3://", "s3:///", "gs://", "s3://me:pass@", "simplecache::s3://"]
)
def test_a_url_that_names_no_place_is_refused_in_a_sentence_about_that(text: str) -> None:
    with pytest.raises(InvalidInputError, match=r"names no place; write .*://bucket/folder\.$"):
        StoreAddress.of(text)


def test_equal_options_have_one_name_and_other_options_another() -> None:
    first = StoreAddress.of("s3://b/x", {"key": "a", "secret": SECRET})
    assert first == StoreAddress.of("s3://b/x", {"secret": SECRET, "key": "a"})
    assert first != StoreAddress.of("s3://b/x", {"key": "a", "secret": "other"})
    assert StoreAddress.of("s3://b/x") == StoreAddress("s3://b/x")


def test_a_caller_cannot_change_the_options_of_an_address_later() -> None:
    options = {"key": "a"}
    place = StoreAddress.of("s3://b/x", options)
    options["key"] = "b"
    place.storage_options["key"] = "c"
    assert place.storage_options == {"key": "a"}


def test_a_pickled_address_takes_its_options_to_another_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    place = StoreAddress.of(f"ftp://me:{SECRET}@host/lake", {"port": 2121})
    sent = pickle.dumps(place)
    monkeypatch.setattr(address._REGISTRY, "_held", {})
    with pytest.raises(InvalidInputError, match="not known to this process") as refused:
        open_store(place)
    assert SECRET not in str(refused.value)
    assert pickle.loads(sent) == place
    assert place.connection_url == f"ftp://me:{SECRET}@host/lake"
    assert place.storage_options == {"port": 2121}


def test_a_local_path_takes_no_options_and_stays_as_it_is(tmp_path: Any) -> None:
    assert StoreAddress.of(tmp_path) == StoreAddress(str(tmp_path))
    with pytest.raises(InvalidInputError, match=r"takes no storage options; leave \['key'\] out"):
        StoreAddress.of(tmp_path, {"key": SECRET})
    with pytest.raises(InvalidInputError, match="has its storage options already"):
        StoreAddress.of(StoreAddress("s3://b/x"), {"key": SECRET})
    assert LocalStore(tmp_path).address == StoreAddress(str(tmp_path))


def test_options_of_a_caller_replace_defaults_by_name() -> None:
    found = StoreAddress.of("s3://b/x", {"key": "own"}, lambda: {"key": SECRET, "port": 1})
    assert found.storage_options == {"key": "own", "port": 1}
    assert StoreAddress.of("s3://b/x", None, lambda: {"port": 1}).storage_options == {"port": 1}
    assert StoreAddress.of("s3://b/x", None, dict) == StoreAddress("s3://b/x")


def test_defaults_are_not_asked_for_a_store_that_takes_none(tmp_path: Any) -> None:
    def asked() -> dict[str, Any]:
        raise InvalidInputError("The defaults are malformed.")

    assert StoreAddress.of(tmp_path, None, asked) == StoreAddress(str(tmp_path))
    assert StoreAddress.of(found := StoreAddress("s3://b/x"), None, asked) == found
    with pytest.raises(InvalidInputError, match="malformed"):
        StoreAddress.of("s3://b/x", None, asked)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("AKIA+/=", "AKIA+/="),
        ("true", True),
        ("false", False),
        ("True", "True"),
        ("2121", 2121),
        ('"2121"', "2121"),
        ("0123", "0123"),
        ("123456789012", "123456789012"),
        ("1.5", "1.5"),
        ("", ""),
        ('{"region_name": "eu"}', {"region_name": "eu"}),
        ("[1, 2]", [1, 2]),
    ],
)
def test_the_text_of_an_option_means_one_value(text: str, value: Any) -> None:
    assert option_value("x", text) == value
    assert type(option_value("x", text)) is type(value)


def test_an_option_that_is_no_json_is_named_without_its_value() -> None:
    with pytest.raises(InvalidInputError, match="Storage option client_kwargs is not") as refused:
        option_value("client_kwargs", f'{{"secret": {SECRET}')
    assert SECRET not in str(refused.value)
    assert refused.value.__cause__ is None


@given(
    st.dictionaries(
        st.text(min_size=1),
        st.one_of(
            st.text(),
            st.sampled_from(["true", "false", "12", "0", '"x"', "{", "[1]", "null", "-1"]),
            st.booleans(),
            st.integers(0, 999_999_999),
            st.dictionaries(st.text(), st.one_of(st.none(), st.text(), st.integers())),
            st.lists(st.one_of(st.floats(allow_nan=False), st.text())),
        ),
    )
)
def test_an_option_written_as_text_is_read_with_its_value_and_type(options: dict[str, Any]) -> None:
    again = option_values(option_texts(options))
    assert again == options
    assert {name: type(value) for name, value in again.items()} == {
        name: type(value) for name, value in options.items()
    }


@pytest.mark.parametrize("value", [None, 1.5, -1, 10**9, object(), {"a": object()}, (1, 2)])
def test_an_option_without_a_text_is_named_and_not_shown(value: object) -> None:
    with pytest.raises(InvalidInputError, match="^Storage option port has a value that cannot"):
        option_texts({"port": value})
