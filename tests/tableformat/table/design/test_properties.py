"""Properties of a table are checked before they are stored."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonnade.manifests.errors import InvalidInputError
from colonnade.tableformat.table.design.properties import (
    SORT_KEY,
    check_comment,
    checked_properties,
)

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
UNKNOWN = st.dictionaries(TEXTS.map(lambda text: "user." + text), TEXTS)


@given(UNKNOWN)
def test_properties_that_colonnade_does_not_know_may_have_any_text(given: dict[str, str]) -> None:
    assert checked_properties(given) == given


@given(UNKNOWN, TEXTS, st.characters(categories=["Cs"]), st.booleans())
def test_half_of_a_surrogate_pair_is_refused_in_a_name_and_in_a_value(
    given: dict[str, str], text: str, half: str, in_name: bool
) -> None:
    bad = {text + half: text} if in_name else {"user." + text: text + half}
    with pytest.raises(InvalidInputError, match="half of a surrogate pair"):
        checked_properties({**given, **bad})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("isolation", "read committed"),
        ("invalid-text", "ignore"),
        ("retention.hours", "a day"),
        ("compaction.auto", "perhaps"),
        ("compaction.schedule", "@daily"),
        (SORT_KEY, "id"),
    ],
)
def test_a_value_that_a_known_property_does_not_allow_is_refused_by_its_name(
    name: str, value: str
) -> None:
    with pytest.raises(InvalidInputError, match=f"'{name}'"):
        checked_properties({"user.owner": "Ann", name: value})


@pytest.mark.parametrize("value", [1, None, b"text", ["text"]])
def test_a_property_that_is_not_text_is_refused(value: object) -> None:
    with pytest.raises(InvalidInputError, match="'owner' must have text"):
        checked_properties({"owner": value})  # type: ignore[dict-item]
    with pytest.raises(InvalidInputError, match="must be a dict of texts"):
        checked_properties(value)  # type: ignore[arg-type]
    if value is not None:
        with pytest.raises(InvalidInputError, match="comment of a table must be text"):
            check_comment(value)  # type: ignore[arg-type]
