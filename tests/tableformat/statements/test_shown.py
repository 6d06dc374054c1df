"""The log keeps what a statement said, and never a text without end."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from colonnade.tableformat.statements.shown import LONGEST, shortened, shown


@given(st.text(max_size=40), st.integers(1, 30))
def test_a_text_is_as_long_as_allowed_or_ends_with_an_ellipsis(text: str, limit: int) -> None:
    found = shortened(text, limit)
    assert len(found) <= limit
    assert found == text if len(text) <= limit else found == text[: limit - 1] + "…"


def test_each_parameter_has_its_own_limit() -> None:
    found = shown({"where": "a" * LONGEST, "set": "b" * (LONGEST + 1)})
    assert found["where"] == "a" * LONGEST
    assert found["set"] == "b" * (LONGEST - 1) + "…"
