"""The way to the head that docs/spec/reading.md gives, in its words, beside the product.

This reader knows the log from the page alone. It takes an epoch as applied where it follows the
state; what operations mean is another page.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonnade.manifests.log.log import create_database
from colonnade.manifests.object_names import epoch_name
from colonnade.manifests.reading.reader import LogReader
from colonnade.manifests.store import LocalStore, MemoryStore
from colonnade.manifests.vacuum.run import VacuumRequest, vacuum
from tests.log_samples import append, change, make_log, table
from tests.spec.golden_logs import contents, copy

GOLDEN = Path(__file__).parent / "golden"
FAR = (1, 2, 4, 8, 16, 32, 64)


class Damaged(Exception):
    """The page says CORRUPTION."""


class State(NamedTuple):
    """What the way to the head needs of a state."""

    epoch: int
    transaction: str


class Place:
    """The objects of a database, read by name."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self._files = files
        first = self.slot(0)
        if first is None:
            raise Damaged
        (made,) = first["ops"]
        self.first = State(0, first["transaction"])
        self.database, self.block = made["database"], made["slot_block"]

    def body(self, name: str) -> dict[str, Any] | None:
        data = self._files.get(f"_manifest/{name}.json")
        return None if data is None else dict(json.loads(data)["body"])

    def slot(self, number: int) -> dict[str, Any] | None:
        return self.body(f"{number:020}")

    def has_mark(self, block: int) -> bool:
        return f"_manifest/freed-{self.database}-{block:020}.json" in self._files

    def checkpoint(self, root: str) -> State | None:
        found = self.body(f"checkpoint/{root}")
        return None if found is None else State(found["checkpoint"], found["transaction"])

    def hinted(self) -> State | None:
        hint = self.body("hint")
        found = None if hint is None else self.checkpoint(hint["root"])
        if found is None:
            return None
        epoch = self.slot(found.epoch)
        return found if epoch and epoch["transaction"] == found.transaction else None

    def floor(self) -> State:
        block = 0
        while self.has_mark(block):
            block += 1
        number, vacuums = max(1, block * self.block), []
        while (epoch := self.slot(number)) is not None:
            vacuums += [op for op in epoch["ops"] if op["op"] == "vacuum"]
            number += 1
        if not vacuums:
            if block:
                raise Damaged
            return self.first
        last = vacuums[-1]
        (anchor,) = (each for each in last["anchors"] if each["epoch"] == last["floor"])
        found = self.checkpoint(anchor["root"])
        assert found is not None, "nobody raises the floor meanwhile"
        return found

    def head(self) -> State:
        state = self.hinted() or self.first
        while True:
            number = state.epoch + 1
            found = self.slot(number)
            if found is not None and found.get("previous") == state.transaction:
                state = State(number, found["transaction"])
                continue
            behind = any(self.slot(number + far) is not None for far in FAR)
            marked = self.has_mark(number // self.block)
            if found is None and not marked and not behind:
                return state
            later = self.floor()
            if later.epoch <= state.epoch:
                raise Damaged
            state = later


def test_a_lost_epoch_and_a_lost_mark_are_damage() -> None:
    """What the page calls corruption."""
    files = contents(written(5))
    lost = {name: data for name, data in files.items() if name != epoch_name(3)}
    with pytest.raises(Damaged):
        Place(lost).head()


def written(epochs: int) -> MemoryStore:
    """A log of some epochs behind epoch 0, in blocks of four slots."""
    store = MemoryStore()
    log = make_log(store, interval=8)
    head = create_database(store, lone_table=False, clock_ms=lambda: 0, slot_block=4)
    for number in range(epochs):
        made = append() if number else change(table(), name="create_table")
        head = log.commit(made, head)
    return store


def ways(files: dict[str, bytes]) -> Iterator[dict[str, bytes]]:
    """A database as it is, and without its hint."""
    yield files
    yield {name: data for name, data in files.items() if not name.endswith("/hint.json")}


@pytest.mark.parametrize(
    "whole",
    sorted(each.parent for each in GOLDEN.rglob("_manifest") if "drop" not in str(each)),
    ids=lambda whole: str(whole.relative_to(GOLDEN)),
)
def test_the_way_of_the_page_leads_to_the_head_of_every_golden_log(whole: Path) -> None:
    files = contents(LocalStore(str(whole)))
    expected = LogReader(LocalStore(str(whole))).read_head()
    for each in ways(files):
        assert Place(each).head() == (expected.epoch, expected.transaction)


@pytest.mark.slow
@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(1, 6)), min_size=1, max_size=4),
    st.sets(st.integers(1, 40)),
)
def test_the_way_leads_to_the_head_past_freed_slots_that_late_writers_have_filled(
    lives: list[tuple[int, int]], late: set[int]
) -> None:
    """Each life is some commits and a vacuum that keeps some epochs."""
    store = written(1)
    log = make_log(store, interval=8, start_ms=10_000)
    head, ever = log.reader.read_head(), dict[str, bytes]()
    for commits, kept in lives:
        for _ in range(commits):
            head = log.commit(append(), head)
        ever |= contents(store)
        vacuum(log, VacuumRequest(hours=0, epochs=kept))
        head = log.reader.read_head()
    files = contents(store)
    back = {name: ever[name] for name in map(epoch_name, late) if name in ever}
    for each in ways({**back, **files}):
        copied = MemoryStore()
        copy(each, copied)
        expected = LogReader(copied).read_head()
        assert Place(each).head() == (expected.epoch, expected.transaction)
        assert expected.epoch == head.epoch
