"""The property that says when rows that have expired are worth a rewrite."""

from __future__ import annotations

import pytest

from colonnade.manifests.compaction.purge import PURGE_SHARE, purge_share
from colonnade.manifests.errors import InvalidInputError


def test_a_fifth_is_enough_unless_the_table_says_another_share() -> None:
    assert purge_share({}) == 0.2
    assert purge_share({PURGE_SHARE: " 0 "}) == 0
    assert purge_share({PURGE_SHARE: "1", "ttl": "ignored"}) == 1


@pytest.mark.parametrize("text", ["-0.1", "1.5", "half", "nan", ""])
def test_what_is_no_share_is_refused_by_its_name(text: str) -> None:
    with pytest.raises(InvalidInputError, match=r"'ttl.purge.share' must be a number from 0 to 1"):
        purge_share({PURGE_SHARE: text})
