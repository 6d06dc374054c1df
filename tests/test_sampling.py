"""A push runs a sample of slow cases: never a test without a case, and each case in some run."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests.setup.sampling import CASES, left_by_sample, left_by_share, mark_sampled
from tests.setup.sharing import files_with_jvm


def items_of(**counts: int) -> list[pytest.Item]:
    """Cases of tests that use Spark; what pytest would give them."""
    found = []
    for test, count in counts.items():
        for case in range(count):
            marks: dict[str, object] = {"spark": True}
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


def test_each_case_is_in_some_sample() -> None:
    items = items_of(many=20)
    assert set.union(*(names(items) - names(left_by_sample(items, n)) for n in range(99))) == names(
        items
    )


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


def test_a_long_run_has_all_tests_of_which_a_push_runs_a_sample() -> None:
    assert all(item.get_closest_marker("sampled") for item in items_of(many=20, few=1))
