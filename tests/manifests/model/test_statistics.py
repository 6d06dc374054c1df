"""Bounds are kept as text without a loss, and damaged text is refused."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.model.statistics import decode_bound, encode_bound, value_after

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
BOUNDS = st.one_of(st.integers(), st.floats(allow_nan=False), TEXTS, st.binary())


@given(BOUNDS)
def test_a_bound_is_the_same_after_it_was_written(bound: int | float | str | bytes) -> None:
    found = decode_bound(encode_bound(bound))
    assert (type(found), found) == (type(bound), bound)
    if isinstance(bound, float):
        assert math.copysign(1, found) == math.copysign(1, bound), "-0.0 keeps its sign"  # type: ignore[arg-type]


@given(BOUNDS)
def test_a_bound_of_another_class_than_its_column_is_refused(bound: int | float | str) -> None:
    others = tuple(kind for kind in (int, float, str, bytes) if not isinstance(bound, kind))
    with pytest.raises(CorruptionError, match="does not fit a column of this type"):
        decode_bound(encode_bound(bound), others)


@pytest.mark.parametrize(
    "text", ["", "i", "i:", "i:1.5", "f:nan", "f:x", "b:?", "b:YQ", "x:1", "1"]
)
def test_malformed_text_is_refused(text: str) -> None:
    with pytest.raises(CorruptionError, match="cannot be read"):
        decode_bound(text)


@given(TEXTS, TEXTS, TEXTS)
def test_the_value_after_a_text_is_the_least_one_above_all_texts_that_begin_with_it(
    prefix: str, more: str, other: str
) -> None:
    after = value_after(prefix)
    if isinstance(after, str):
        assert prefix + more < after
        assert other < prefix or other.startswith(prefix) or other >= after
    else:
        assert set(prefix) <= {"\U0010ffff"}


@given(st.binary(), st.binary(), st.binary())
def test_the_value_after_bytes_is_the_least_one_above_all_bytes_that_begin_with_them(
    prefix: bytes, more: bytes, other: bytes
) -> None:
    after = value_after(prefix)
    if isinstance(after, bytes):
        assert prefix + more < after
        assert other < prefix or other.startswith(prefix) or other >= after
    else:
        assert set(prefix) <= {255}


@pytest.mark.parametrize(
    ("prefix", "after"),
    [
        ("a", "b"),
        ("a\U0010ffff", "b"),
        ("\ud7ff", "\ue000"),
        ("\U0010ffff", None),
        ("", None),
        (b"a\xff", b"b"),
        (b"\xff\xff", None),
    ],
)
def test_the_last_character_is_skipped_where_nothing_follows_it(
    prefix: str | bytes, after: str | bytes | None
) -> None:
    assert value_after(prefix) == after
