"""Which tests a push runs: a sample, and another one in each run.

A push runs one of `share` files of tests with a JVM, one of `share` tests marked `slow`, and few
cases of each test. A number, the seed, chooses them, so the same seed repeats a run.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from random import Random

import pytest

CASES = 2
"""The most cases of a test in a push. The first one is always among them."""


def left_by_sample(items: Iterable[pytest.Item], seed: int, share: int | None) -> list[pytest.Item]:
    """Return the cases that are not in the sample of a seed; `share` None: of all slow tests."""
    tests = _cases(items)
    slow = [name for name, (first, *_) in tests.items() if first.get_closest_marker("slow")]
    whole = left_by_share(slow, seed, share) if share is not None else set()
    return [
        item
        for name, cases in tests.items()
        for item in (cases if name in whole else _left_cases(cases, Random(f"{seed} {name}")))
    ]


def left_by_share(names: Sequence[str], seed: int, share: int) -> set[str]:
    """Return all names but one of each `share` neighbours, which the seed chooses.

    Neighbours are alike in what they test and in how long they take.
    """
    left = set(names)
    for at in range(0, len(names), share):
        left.discard(Random(f"{seed} {at}").choice(names[at : at + share]))
    return left


def _left_cases(cases: Sequence[pytest.Item], random: Random) -> Collection[pytest.Item]:
    return random.sample(cases[1:], max(0, len(cases) - CASES))


def _cases(items: Iterable[pytest.Item]) -> dict[str, list[pytest.Item]]:
    found: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        found[item.nodeid.partition("[")[0]].append(item)
    return found
