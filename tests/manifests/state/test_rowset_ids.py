"""A table says early enough that its RowSet ids run out, and what to do."""

from __future__ import annotations

from dataclasses import replace

import pytest

from colonnade.manifests.state.rowset_ids import ROWSET_IDS, warn_of_end
from tests.log_samples import table_state


@pytest.mark.parametrize("used", [0, ROWSET_IDS // 2 - 1])
def test_a_table_that_has_used_less_than_half_of_its_ids_is_not_warned_of(used: int) -> None:
    assert warn_of_end(replace(table_state(), next_rowset_id=used)) is None


@pytest.mark.parametrize(
    ("used", "share", "left"),
    [
        (ROWSET_IDS // 2, "50 %", ROWSET_IDS // 2),
        (ROWSET_IDS - 1, "99 %", 1),
        (ROWSET_IDS, "100 %", 0),
    ],
)
def test_a_warning_names_the_table_what_is_left_and_the_remedy(
    used: int, share: str, left: int
) -> None:
    warning = warn_of_end(replace(table_state(), next_rowset_id=used)) or ""
    for part in ("'orders'", share, f"and {left} are left", "into a new table"):
        assert part in warning
