"""Which tests a push runs of those that take long: a sample, and another one in each run.

A number chooses the sample, so that a run can be repeated: files of tests with a JVM, and cases of
a test. The first case of a test always runs if its file does.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from random import Random

import pytest

from tests.setup.sharing import needs_jvm

CASES = 2
"""The most cases of a test with a JVM in a push, unless `@pytest.mark.sampled(n)` says it."""


def mark_sampled(items: Iterable[pytest.Item]) -> None:
    """Mark the tests of which a push runs a sample, so that a long run has all of them."""
    for item in items:
        if needs_jvm(item) and _most(item) is None:
            item.add_marker(pytest.mark.sampled(CASES))


def left_by_sample(items: Iterable[pytest.Item], seed: int) -> list[pytest.Item]:
    """Return the cases of sampled tests that are not in the sample of a seed."""
    left = []
    for test, (first, *others) in _cases(items).items():
        most = _most(first)
        if most is not None and len(others) >= most:
            left += Random(f"{seed} {test}").sample(others, len(others) - most + 1)
    return left


def left_by_share(files: Sequence[str], seed: int, share: int) -> set[str]:
    """Return all files but one of each `share` neighbours, which the seed chooses.

    Neighbours are alike in what they test and in how long they take.
    """
    left = set(files)
    for at in range(0, len(files), share):
        left.discard(Random(f"{seed} {at}").choice(files[at : at + share]))
    return left


def _cases(items: Iterable[pytest.Item]) -> dict[str, list[pytest.Item]]:
    found: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        found[item.nodeid.partition("[")[0]].append(item)
    return found


def _most(item: pytest.Item) -> int | None:
    """Return how many cases of a test a push runs at most; None: all."""
    found = item.get_closest_marker("sampled")
    return None if found is None else found.args[0]
