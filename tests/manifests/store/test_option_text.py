"""Texts of storage options: what is JSON, what stays text, and that errors show no secret."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.store.option_text import option_value, option_values

json_values = st.recursive(
    st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@given(st.text() | st.dictionaries(st.text(), json_values) | st.lists(json_values))
def test_quoted_text_objects_and_lists_keep_every_value(value: object) -> None:
    assert option_value("k", json.dumps(value)) == value


@given(st.text().filter(lambda text: not text.startswith(("{", "[", '"')) and not text.isdigit()))
def test_text_that_looks_like_no_json_stays_as_it_is(text: str) -> None:
    found = option_value("k", text)
    assert found == {"true": True, "false": False}.get(text, text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0),
        ("123456789", 123456789),
        # A key of ten digits or with a leading zero would lose digits as a number.
        ("1234567890", "1234567890"),
        ("007", "007"),
        ("-1", "-1"),
        ("1.5", "1.5"),
        ("null", "null"),
        ("True", "True"),
        ("١٢", "١٢"),
        ("", ""),
        ("12\n", "12\n"),
    ],
)
def test_only_short_whole_numbers_become_numbers(text: str, value: object) -> None:
    found = option_value("k", text)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    "text", ["{S3CRET", '["S3CRET"', '"S3CRET', '{"a": "S3CRET"} x', "[" * 100_000 + "S3CRET"]
)
def test_broken_json_is_refused_with_the_name_and_without_the_value(text: str) -> None:
    with pytest.raises(InvalidInputError, match="Storage option token ") as caught:
        option_values({"anon": "true", "token": text})
    assert "S3CRET" not in str(caught.value)
    assert caught.value.__cause__ is None
