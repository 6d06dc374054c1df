"""The text of a path: a local folder, a URL of another store, or an error; never a wrong folder."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.store.path_text import is_url, local_path

NAMES = st.text("abcXYZ019 ._-é:", min_size=1, max_size=12)


@given(NAMES)
def test_a_path_that_begins_with_a_slash_or_a_dot_is_local_whatever_it_contains(name: str) -> None:
    for text in (f"/{name}", f"./{name}", f"../{name}/s3://b"):
        assert local_path(text) == text
        assert not is_url(text)


@given(st.sampled_from(("s3", "gs", "abfss", "memory", "x-y.z+1")), NAMES)
def test_a_scheme_with_two_slashes_is_a_url(scheme: str, name: str) -> None:
    assert local_path(f"{scheme}://{name}") is None
    assert is_url(f"{scheme}://{name}")
    assert local_path(f"{scheme}::/{name}") is None


@given(st.sampled_from(("file:///", "file:/", "local:/", "local:///")), st.text("ab.", min_size=1))
def test_a_file_url_is_the_absolute_path_after_its_scheme(begin: str, rest: str) -> None:
    assert local_path(begin + rest) == "/" + rest
    assert is_url(begin + rest)


@pytest.mark.parametrize("text", ["C:/data", "c:\\data", "a:b", "orders:2024", "data/s3:x", ""])
def test_a_colon_inside_a_name_makes_no_url(text: str) -> None:
    assert local_path(text) == text


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("s3:/bucket/t", "s3://bucket/t"),
        ("s3a:bucket", "s3a://bucket"),
        ("S3:bucket", "S3://bucket"),
        ("unknown:/x", "unknown://x"),
        ("dbfs:/mnt/t", "/dbfs/mnt/t"),
    ],
)
def test_a_url_with_too_few_slashes_is_refused_with_the_right_spelling(
    text: str, meant: str
) -> None:
    with pytest.raises(InvalidInputError) as caught:
        local_path(text)
    assert meant in str(caught.value)
    assert f"./{text}" in str(caught.value)


@pytest.mark.parametrize("text", ["file:", "local:", "file:////host/x", "file:/a::s3://b"])
def test_a_file_url_without_a_folder_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError, match="names no folder"):
        local_path(text)
