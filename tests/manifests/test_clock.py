"""Times of the log as text, and a clock that only goes forwards."""

from __future__ import annotations

import pytest

from colonnade.manifests.clock import elapsed_s, now_ms, utc


@pytest.mark.parametrize(
    ("time_ms", "text"),
    [
        (0, "1970-01-01 00:00:00.000"),
        (1_700_000_000_001, "2023-11-14 22:13:20.001"),
        (-1, "1969-12-31 23:59:59.999"),
        (10**17, "100000000000000000 ms since 1970"),
        (-(10**17), "-100000000000000000 ms since 1970"),
    ],
)
def test_any_time_of_a_log_has_a_text(time_ms: int, text: str) -> None:
    assert utc(time_ms) == text


def test_clocks_do_not_go_backwards() -> None:
    elapsed, now = elapsed_s(), now_ms()
    assert elapsed_s() >= elapsed
    assert now_ms() >= now > 1_600_000_000_000
