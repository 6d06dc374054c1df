"""The table of conflicts: it has a rule for each pair of kinds, and every rule is used.

`rebase/test_carried.py` and `rebase/test_tombstones.py` commit a statement of each kind after one
of each kind, and `tests/spec/test_golden_registries.py` compares the page with it.
"""

from __future__ import annotations

from itertools import product
from typing import get_args

from colonnade.manifests.commit.conflict_table import CONFLICTS, Kind, Rule, rule
from colonnade.manifests.model.operations import RowKind


def test_each_kind_of_change_has_a_rule_after_each_kind() -> None:
    assert set(CONFLICTS) == set(product(Kind, Kind))
    assert set(CONFLICTS.values()) == set(Rule)


def test_changes_of_rows_are_found_in_the_table_by_the_kind_that_the_log_states() -> None:
    for mine, theirs in product((*get_args(RowKind), "replace"), get_args(RowKind)):
        kinds = {"delete": Kind.DELETE, "replace": Kind.REPLACE}
        wanted = CONFLICTS[kinds.get(mine, Kind.MOVE), kinds.get(theirs, Kind.MOVE)]
        assert rule(mine, theirs) is wanted
        assert rule(mine, Kind.COMPACTION) is CONFLICTS[kinds.get(mine, Kind.MOVE), Kind.COMPACTION]
