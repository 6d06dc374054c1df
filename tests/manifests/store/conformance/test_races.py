"""Threads that race for a name, in every store."""

from __future__ import annotations

import threading

import pytest

from colonnade.manifests.errors import AlreadyExistsError
from colonnade.manifests.store import ObjectStore, PutOutcome


@pytest.mark.slow
@pytest.mark.usefixtures("eager_switching")
def test_of_racing_threads_exactly_one_creates_a_name(store: ObjectStore) -> None:
    rounds, racers = 20, 4
    created: list[tuple[int, int]] = []
    start = threading.Barrier(racers, timeout=10)

    def race(racer: int) -> None:
        for slot in range(rounds):
            start.wait()
            if store.put_if_absent(f"s/{slot}", bytes([racer]) * 4096) is PutOutcome.CREATED:
                created.append((slot, racer))

    _run_all([threading.Thread(target=race, args=(racer,)) for racer in range(racers)])
    assert sorted(slot for slot, _ in created) == list(range(rounds))
    for slot, racer in created:
        assert store.get(f"s/{slot}") == bytes([racer]) * 4096


@pytest.mark.usefixtures("eager_switching")
def test_of_racing_writers_exactly_one_publishes_a_name(store: ObjectStore) -> None:
    rounds, racers = 20, 3
    published: list[int] = []
    start = threading.Barrier(racers, timeout=10)

    def race() -> None:
        for slot in range(rounds):
            start.wait()
            try:
                with store.create(f"s/{slot}", sync=False) as writer:
                    writer.write(b"x")
                published.append(slot)
            except AlreadyExistsError:
                pass

    _run_all([threading.Thread(target=race) for _ in range(racers)])
    assert sorted(published) == list(range(rounds))


@pytest.mark.slow
@pytest.mark.usefixtures("eager_switching")
def test_a_reader_never_sees_part_of_an_object(store: ObjectStore) -> None:
    bodies = {bytes([digit]) * 300_000 for digit in range(1, 4)}
    store.put("hint", min(bodies), sync=False)
    over = threading.Event()
    torn: list[int] = []

    def read() -> None:
        while not over.is_set():
            torn.extend(len(data) for data in [store.get("hint")] if data not in bodies)
            for info in store.list("s/"):
                data = store.get(info.name)
                torn.extend({info.size, len(data)} - {300_000})
                torn.extend(len(data) for _ in range(data not in bodies))

    reader = threading.Thread(target=read)
    reader.start()
    try:
        for number in range(8):
            for body in bodies:
                store.put("hint", body, sync=False)
            store.put_if_absent(f"s/{number % 5}", max(bodies))
    finally:
        over.set()
        reader.join()
    assert torn == []


def _run_all(threads: list[threading.Thread]) -> None:
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
