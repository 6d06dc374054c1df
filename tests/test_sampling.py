"""A push runs a sample of slow cases: never a test without a case, and each case in some run."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests.setup.sampling import CASES, left_by_sample, left_by_share, mark_sampled


def items_of(**counts: int) -> list[pytest.Item]:
    """Cases of tests that use Spark; what pytest would give them."""
    found = []
    for test, count in counts.items():
        for case in range(count):
            marks = {"spark": pytest.mark.spark.mark}
            item = SimpleNamespace(
                nodeid=f"tests/test_sampling.py::{test}[{case}]",
                get_closest_marker=marks.get,
                add_marker=lambda given, marks=marks: marks.update({given.name: given.mark}),
            )
            found.append(cast(Any, item))
    mark_sampled(found)
    return found


def names(items: list[pytest.Item]) -> set[str]:
    return {item.nodeid.partition("::")[2] for item in items}


def test_a_sample_has_the_first_case_of_each_test_and_few_others() -> None:
    items = items_of(many=20, few=CASES, one=1)
    for seed in range(20):
        ran = names(items) - names(left_by_sample(items, seed))
        assert {"many[0]", "one[0]", *(f"few[{case}]" for case in range(CASES))} <= ran
        assert sum(name.startswith("many") for name in ran) == CASES
        assert names(left_by_sample(items, seed)) == names(left_by_sample(items_of(many=20), seed))


def test_cases_of_which_others_are_left_out_already_all_run() -> None:
    left = [item for item in items_of(many=20) if item.nodeid.endswith(("[0]", "[7]"))]
    assert not left_by_sample(left, 1)


def test_each_case_and_each_test_is_in_some_sample() -> None:
    items = items_of(many=20)
    assert set.union(*(names(items) - names(left_by_sample(items, n)) for n in range(99))) == names(
        items
    )
    tests = items_of(**{f"test_{number}": 2 for number in range(10)})
    shares = [names(tests) - names(left_by_share(tests, seed, 3)) for seed in range(50)]
    assert {len(each) for each in shares} == {8}  # four tests, whole
    assert set.union(*shares) == names(tests)


def test_a_long_run_has_all_cases_of_which_a_push_runs_a_sample() -> None:
    marked = [item for item in items_of(many=20, few=CASES) if item.get_closest_marker("sampled")]
    assert len(marked) == 20
