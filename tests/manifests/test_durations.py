"""Times as people write them."""

from __future__ import annotations

import re

import pytest

from colonnade.manifests.durations import duration_text, parse_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("30s", 30),
        ("1 second", 1),
        ("10m", 600),
        (" 5 minutes ", 300),
        ("90 Min", 5400),
        ("6h", 21_600),
        ("12 hours", 43_200),
        ("1 D", 86_400),
        ("999999 days", 86_399_913_600),
    ],
)
def test_a_time_is_a_whole_number_and_a_unit(text: str, seconds: int) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize(
    "text", ["", "5", "0 minutes", "-1 day", "1.5 hours", "1 month", "1000000s", "a day", "5 5m"]
)
def test_any_other_text_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        parse_duration(text)


def test_a_time_is_shown_in_its_largest_unit_and_read_again() -> None:
    shown = {1: "1 second", 90: "90 seconds", 3600: "1 hour", 7200: "2 hours", 86_400: "1 day"}
    for seconds, text in shown.items():
        assert duration_text(seconds) == text
        assert parse_duration(text) == seconds
