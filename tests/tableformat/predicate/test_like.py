"""Patterns of LIKE mean what their definition says."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonnade.manifests.errors import InvalidInputError
from colonnade.tableformat.predicate.like import parse_like
from tests.tableformat.predicate.oracle import like

ALPHABET = "ab%_.\\*\n\U0001f600"
TEXTS = st.text(ALPHABET, max_size=6)


@given(TEXTS, st.lists(TEXTS, max_size=8), st.sampled_from("\\a*\U0001f600"))
def test_a_pattern_matches_the_texts_that_its_definition_matches(
    pattern: str, texts: list[str], escape: str
) -> None:
    try:
        parsed = parse_like(pattern, escape)
    except InvalidInputError:
        unescaped = pattern.replace(escape * 2, "").replace(escape + "%", "")
        assert escape in unescaped.replace(escape + "_", "")
        return
    found = pc.match_substring_regex(pa.array(texts, pa.string()), parsed.regex).to_pylist()
    assert found == [like(text, pattern, escape) for text in texts]
    assert all(
        text.startswith(parsed.prefix) for text, hit in zip(texts, found, strict=True) if hit
    )


@pytest.mark.parametrize(
    ("pattern", "prefix", "rest"),
    [
        ("", "", ""),
        ("abc", "abc", ""),
        ("abc%", "abc", "%"),
        ("a_c%", "a", "_c%"),
        (r"50\%%", "50%", "%"),
        ("%", "", "%"),
    ],
)
def test_the_prefix_ends_before_the_first_wildcard(pattern: str, prefix: str, rest: str) -> None:
    parsed = parse_like(pattern, "\\")
    assert (parsed.prefix, parsed.rest) == (prefix, rest)


@pytest.mark.parametrize("pattern", ["a\\", "\\a", "%\\b%"])
def test_an_escape_before_another_character_or_at_the_end_is_refused(pattern: str) -> None:
    with pytest.raises(InvalidInputError, match="write it twice"):
        parse_like(pattern, "\\")


@pytest.mark.parametrize("escape", ["", "ab", "%", "_"])
def test_an_escape_that_is_not_one_plain_character_is_refused(escape: str) -> None:
    with pytest.raises(InvalidInputError, match="escape of LIKE must be one character"):
        parse_like("a", escape)
