"""A URL names one bucket and one key, literally, or is refused without its secrets."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.store.bucket.place import KEY_LIMIT, BucketPlace, parse_place

BUCKET = re.compile(r"[a-z0-9.-]{3,63}")
PARTS = st.text(
    st.characters(blacklist_categories=("C", "Z"), blacklist_characters="/?"), min_size=1
).filter(lambda part: part not in (".", "..") and len(part.encode()) < 90)


def parsed(url: str) -> BucketPlace:
    return parse_place(url, "s3|s3a", "s3", BUCKET, "key and secret")


@given(st.lists(PARTS, max_size=4), st.booleans())
def test_every_key_is_taken_literally_and_its_url_names_the_same_place(
    parts: list[str], slash: bool
) -> None:
    key = "/".join(parts)
    place = parsed(f"S3A://bucket/{key}{'/' if slash else ''}")
    assert (place.bucket, place.prefix) == ("bucket", f"{key}/" if key else "")
    assert parsed(place.url) == place
    assert not place.url.endswith("/")


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("gs://bucket/a", "names no bucket; write s3://bucket/folder"),
        ("s3://B/a", "names no bucket"),
        ("s3://bucket/a//b", "an empty part"),
        ("s3://bucket/../b", "an empty part, '.', '..'"),
        ("s3://bucket/a\x7fb", "a control character"),
        ("s3://key:canary@bucket/a?canary", r"pass them as storage options \(key and secret\)"),
        ("s3://bucket/a?sig=canary", "leave out the '[?]'"),
        ("s3://bucket/" + "ü" * (KEY_LIMIT // 2 + 1), "at most 400 bytes"),
    ],
)
def test_a_url_that_cannot_work_is_refused_without_its_secrets(url: str, sentence: str) -> None:
    with pytest.raises(InvalidInputError, match=sentence) as refused:
        parsed(url)
    assert "canary" not in str(refused.value)


def test_the_longest_key_is_counted_in_bytes() -> None:
    assert parsed("s3://bucket/" + "ü" * (KEY_LIMIT // 2)).prefix
