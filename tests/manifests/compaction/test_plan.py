"""A plan prints as a table that people read, or says which limits nothing passes."""

from __future__ import annotations

from tests.manifests.compaction.measured import MIB, facts, plan


def test_a_plan_prints_as_a_table() -> None:
    made = plan(facts([10 * MIB] * 9 + [200 * MIB], [0.0] * 9 + [0.25]))
    assert str(made) == "\n".join(
        [
            "simulated at epoch 7: 10 of 10 RowSets in 2 groups, 290 MiB to read",
            "",
            "kind     RowSets     rows  deleted       in      out  why",
            "copy           9  900,000        0   90 MiB   90 MiB  9 small RowSets, the largest"
            " of 10 MiB",
            "rewrite        1  100,000   25,000  200 MiB  150 MiB  25.0% of the rows are deleted"
            " (more than 10.0%)",
        ]
    )
    assert made.reason == ""


def test_a_plan_without_groups_says_why() -> None:
    assert str(plan(facts([]))) == "simulated: nothing to compact: there are no RowSets."
    assert str(plan(facts([10 * MIB] * 7))) == (
        "simulated: nothing to compact: of 7 RowSets, fewer than 8 of a partition are small and of"
        " a similar size, none has more than 10.0% deleted rows, and at most 8 of a sorted table"
        " may hold one key."
    )
