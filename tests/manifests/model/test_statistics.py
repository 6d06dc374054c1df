"""Bounds are kept as text without a loss, and damaged text is refused."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.model.statistics import (
    decode_bound,
    encode_bound,
    prefix_widens,
    read_bound,
    value_after,
    widest_prefix,
)

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
BOUNDS = st.one_of(st.integers(), st.floats(allow_nan=False), TEXTS, st.binary())


@given(BOUNDS)
def test_a_bound_is_the_same_after_it_was_written(bound: int | float | str | bytes) -> None:
    prefix = {int: "i", float: "f", str: "s", bytes: "b"}[type(bound)]
    text = encode_bound(bound, prefix)
    found = decode_bound(text, prefix)
    assert (type(found), found) == (type(bound), bound)
    assert read_bound(text) == (prefix, bound)
    if isinstance(bound, float):
        assert math.copysign(1, found) == math.copysign(1, bound), "-0.0 keeps its sign"  # type: ignore[arg-type]


TAGS = ("i", "i1", "i2", "i38", "d", "f", "s", "b", "")


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        ("i:7", {"i": 7, "i1": 70, "i2": 700, "i38": 7 * 10**38, "f": 7.0}),
        ("i1:75", {"i1": 75, "i2": 750, "i38": 75 * 10**37}),
        ("i38:-9", {"i38": -9}),
        ("d:2", {"d": 2, "i": 2 * 86_400_000_000}),
        ("d:-2147483648", {"d": -(2**31), "i": -(2**63)}),
        ("f:0.5", {"f": 0.5}),
        ("s:a", {"s": "a"}),
        ("b:AA==", {"b": b"\0"}),
    ],
)
def test_a_bound_has_its_value_in_each_type_that_its_type_widens_to(
    text: str, fits: dict[str, object]
) -> None:
    for prefix in TAGS:
        if prefix in fits:
            assert decode_bound(text, prefix) == fits[prefix]
            continue
        with pytest.raises(CorruptionError, match="does not fit a column of this type"):
            decode_bound(text, prefix)


def test_a_bound_that_no_float_can_hold_is_refused() -> None:
    with pytest.raises(CorruptionError, match="too large"):
        decode_bound(f"i:{10**400}", "f")


@given(st.lists(st.sampled_from(("i", "i2", "i7", "d")), max_size=4))
def test_the_widest_of_some_tags_takes_the_bounds_of_all(prefixes: list[str]) -> None:
    if "d" in prefixes and {"i2", "i7"} & {*prefixes}:
        with pytest.raises(CorruptionError, match="cannot be compared"):
            widest_prefix(prefixes)
        return
    found = widest_prefix(prefixes)
    assert found in (prefixes or ["i"])
    assert all(prefix_widens(each, found) for each in prefixes)


@pytest.mark.parametrize(
    "text",
    [
        *("", "i", "i:", "i:1.5", "f:nan", "f:x", "b:?", "b:YQ", "x:1", "1"),
        *("i0:1", "i02:1", "i39:1", "i-1:1", "d2:1", "f1:1.0", "d:", "ii:1"),
    ],
)
def test_malformed_text_is_refused(text: str) -> None:
    with pytest.raises(CorruptionError, match="cannot be read"):
        read_bound(text)


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
