"""A property that is computed once, while no other object waits for it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from colonnade.manifests.once import once


class Asked:
    def __init__(self, meet: Barrier | None = None) -> None:
        self.meet, self.count = meet, 0

    @once
    def value(self) -> int:
        """What it is."""
        self.count += 1
        if self.meet is not None:
            self.meet.wait(timeout=60)
        return self.count


def test_a_value_is_computed_when_it_is_first_read_and_kept() -> None:
    asked = Asked()
    assert asked.count == 0
    assert [asked.value, asked.value] == [1, 1]
    assert Asked.value.__doc__ == "What it is."


def test_two_objects_compute_their_values_side_by_side() -> None:
    meet = Barrier(2)
    with ThreadPoolExecutor(2) as threads:
        assert list(threads.map(lambda asked: asked.value, (Asked(meet), Asked(meet)))) == [1, 1]


def test_threads_that_compute_a_value_at_once_agree_on_one() -> None:
    asked = Asked(Barrier(2))
    with ThreadPoolExecutor(2) as threads:
        first, second = threads.map(lambda _: asked.value, range(2))
    assert first == second == asked.value
