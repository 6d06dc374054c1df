"""A push runs some cases of each fast test; each case and each slow test is in some run."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests.setup.sampling import CASES, left_by_sample, left_by_share
from tests.setup.sharing import files_with_jvm


def items_of(*, slow: bool = False, **counts: int) -> list[pytest.Item]:
    """Cases of tests; what pytest would give them."""
    marks = {"slow": True} if slow else {}
    return [
        cast(
            Any, SimpleNamespace(nodeid=f"test_a.py::{test}[{case}]", get_closest_marker=marks.get)
        )
        for test, count in counts.items()
        for case in range(count)
    ]


def ran(items: list[pytest.Item], seed: int, share: int | None = None) -> set[str]:
    left = left_by_sample(items, seed, share)
    return {item.nodeid.partition("::")[2] for item in items if item not in left}


def test_a_sample_has_the_first_case_of_each_test_and_few_others() -> None:
    items = items_of(many=20, few=CASES, one=1)
    for seed in range(20):
        found = ran(items, seed, 4)
        assert {"many[0]", "one[0]", *(f"few[{case}]" for case in range(CASES))} <= found
        assert sum(name.startswith("many") for name in found) == CASES
        assert ran(items_of(many=20), seed, 4) <= found


def test_each_case_is_in_some_sample() -> None:
    items = items_of(many=20)
    assert len(set.union(*(ran(items, seed) for seed in range(99)))) == 20


def test_a_sample_has_one_of_the_slow_tests_beside_each_other_and_each_in_some_run() -> None:
    items = items_of(slow=True, **{f"slow{number}": 5 for number in range(9)}) + items_of(fast=2)
    found = [ran(items, seed, 3) for seed in range(99)]
    for names in found:
        assert len({name.partition("[")[0] for name in names}) == 3 + 1
        assert len(names) == 3 * CASES + 2
    assert len(set.union(*found)) == 9 * 5 + 2
    assert len(ran(items, 1)) == 9 * CASES + 2


def test_a_share_has_one_of_the_files_beside_each_other_and_each_file_in_some_run() -> None:
    files = [f"test_{number}.py" for number in range(9)]
    shares = [set(files) - left_by_share(files, seed, 3) for seed in range(50)]
    for share in shares:
        assert [sum(each in share for each in files[at : at + 3]) for at in (0, 3, 6)] == [1, 1, 1]
    assert set.union(*shares) == set(files)


def test_every_test_with_a_jvm_is_in_a_file_of_which_a_push_draws() -> None:
    assert "tests/spark_ext/java/catalog/test_catalog.py" in files_with_jvm()  # Spark with the jar
    assert "tests/spark_ext/test_session.py" in files_with_jvm()  # the shared session of Python
    assert "tests/spark_ext/java/read/test_damage.py" in files_with_jvm()  # the reader alone
    assert "tests/spark_ext/test_clusters.py" in files_with_jvm()  # a Spark of its own
    assert "tests/simulation/test_simulation.py" not in files_with_jvm()
