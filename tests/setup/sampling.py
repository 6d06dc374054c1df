"""Which cases of a test a push runs where each takes long: a sample, and another one in each run.

The first case of a test always runs. A number chooses the others, so that a run can be repeated.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from random import Random

import pytest

from tests.setup.sharing import needs_jvm

CASES = 3
"""The most cases of a test with a JVM in a push, unless `@pytest.mark.sampled(n)` says it."""


def mark_sampled(items: Iterable[pytest.Item]) -> None:
    """Mark the cases of each test of which a push runs a sample, so that a long run has all."""
    for cases in _cases(items).values():
        if len(cases) > CASES and needs_jvm(cases[0]) and _most(cases[0]) is None:
            for case in cases:
                case.add_marker(pytest.mark.sampled(CASES))


def left_by_sample(items: Iterable[pytest.Item], seed: int) -> list[pytest.Item]:
    """Return the cases of sampled tests that are not in the sample of a seed."""
    left = []
    for test, (first, *others) in _cases(items).items():
        most = _most(first)
        if most is not None and len(others) >= most:
            left += Random(f"{seed} {test}").sample(others, len(others) - most + 1)
    return left


def left_by_share(items: Iterable[pytest.Item], seed: int, share: int) -> list[pytest.Item]:
    """Return the cases of all tests but one in `share`, which the seed chooses."""
    tests = _cases(items)
    names = Random(seed).sample(sorted(tests), len(tests) - -(-len(tests) // share))
    return [case for name in names for case in tests[name]]


def _cases(items: Iterable[pytest.Item]) -> dict[str, list[pytest.Item]]:
    found: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        found[item.nodeid.partition("[")[0]].append(item)
    return found


def _most(item: pytest.Item) -> int | None:
    """Return how many cases of a test a push runs at most; None: all."""
    found = item.get_closest_marker("sampled")
    return None if found is None else found.args[0]
