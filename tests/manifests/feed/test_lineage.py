"""Rows are followed through updates, compactions and restores: a key tells which row each is."""

from __future__ import annotations

import random
from typing import Any

import pytest

from colonnade.manifests.arrays.origins import NEW, rowsets_and_rows
from colonnade.manifests.feed.lineage import Lineage
from colonnade.manifests.feed.steps import read_steps
from colonnade.manifests.limits import Limits
from tests.row_changes import Place, places
from tests.tableformat.feed.test_histories import LIMITS, Longer
from tests.tableformat.statements.test_row_histories import FORMS, History


class Followed(Longer):
    """Notes at each epoch which key's row is which row: a number that only a new row gets."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.known: list[dict[int, int]] = [{}, {}]
        self.next = 0
        self._note(set())

    def _check(self, renewed: set[int]) -> None:
        self._note(renewed)

    def _note(self, renewed: set[int]) -> None:
        """Number the rows of new epochs. The last one has renewed the rows of some keys."""
        head = self.table().epoch
        for epoch in range(len(self.known), head + 1):
            [done] = self.table()._log.reader.read_epochs(epoch, 1)
            there = keys_of_epoch(self.table(), epoch)
            if done.operation == "restore":
                restored = next(op.epoch for op in done.ops if op.op == "restore")
                self.known.append(dict(self.known[restored]))
                continue
            anew = renewed if epoch == head else set()
            kept = {k: v for k, v in self.known[-1].items() if k in there and k not in anew}
            for key in sorted(there - kept.keys()):
                self.next += 1
                kept[key] = self.next
            self.known.append(kept)


def keys_of_epoch(table: Any, epoch: int) -> set[int]:
    return set(table.scan(["k"], epoch=epoch).to_arrow()["k"].to_pylist())


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("form", [each for each in FORMS if each != "sorted"])
def test_each_row_leads_back_to_the_row_that_it_was(form: str, seed: int) -> None:
    rng = random.Random(f"lineage {form} {seed}")
    history = Followed(form, rng, rng.choice(LIMITS))
    for _ in range(15):
        history.turn()
        history._note(set())
    table = history.table()
    log, id_ = table._log, table._state.id
    assert len(history.known) == table.epoch + 1
    followed = 0
    for _ in range(20):
        first = rng.randint(3, table.epoch)
        last = rng.randint(first, table.epoch)
        base, after = log.reader.read_at(first - 1), log.reader.read_at(last)
        lineage = Lineage(log.reader, id_, base)
        for step in read_steps(log.reader, id_, base, last):
            lineage.follow(step)
        old, new = places(log, base, "t"), places(log, after, "t")
        rows = {history.known[first - 1][key]: place for key, place in old.items()}
        for key, place in new.items():
            expected = rows.get(history.known[last][key])
            # A restore brings back rows that were stored, but deleted, before the span.
            found = ancestor(lineage, place)
            found = found if found in old.values() else None
            assert found == expected, (first, last, key)
            followed += expected not in (None, place)
    assert followed


def ancestor(lineage: Lineage, place: Place) -> Place | None:
    rowset, row = place
    if not lineage.is_new(rowset):
        return place
    origins = lineage.of(rowset)
    number = NEW if origins is None else int(origins.where.array()[row])
    if number == NEW:
        return None
    old, at = rowsets_and_rows(number)  # type: ignore[arg-type]
    return int(old), int(at)


@pytest.mark.slow
def test_each_span_is_followed_once_however_often_it_was_restored(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A restore asks for the span before it, which has restores of its own."""
    history = History("plain", random.Random(1), Limits())
    base = history.table().epoch
    for turn in range(8):
        table = history.table()
        table.update({"v": turn}, "k = 2")
        epoch = table.epoch
        table.update({"v": turn + 9}, "k = 2")
        table.restore(epoch)
    followed = list[tuple[int, int]]()

    def counted(reader: Any, of: Any, start: Any, last: int) -> Any:
        followed.append((start.epoch, last))
        return read_steps(reader, of, start, last)

    monkeypatch.setattr("colonnade.manifests.feed.lineage.read_steps", counted)
    history.table().changes(base + 1, net=True).to_arrow()
    assert 0 < len(followed) == len(set(followed)) <= 8
