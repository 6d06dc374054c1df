"""The feed from a to b, applied to the rows at a, gives the rows at b: for random histories."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import pyarrow as pa
import pytest

from colonnade import ArrowTable
from colonnade.manifests.errors import ColonnadeError
from colonnade.manifests.feed.steps import read_steps
from colonnade.manifests.limits import Limits
from colonnade.tableformat.feed.changes import FEED_COLUMNS, Feed
from tests.tableformat.statements.test_row_histories import FORMS, History

Row = tuple[Any, ...]
LIMITS = (
    Limits(),
    Limits(inline_bytes=0),
    Limits(listed_rowsets=1),
    Limits(in_place_bytes=0),
    Limits(in_place_bytes=0, inline_bytes=0, listed_rowsets=1),
)
"""Origins and vectors in the log or as objects, RowSets in segments, columns replaced in place."""
OWN = [each.name for each in FEED_COLUMNS]


class Longer(History):
    """A history that also restores, empties and alters its table."""

    def _check(self, renewed: set[int]) -> None:
        pass

    def turn(self) -> None:
        rng, table = self.rng, self.table()
        if "s2" in table.columns:
            table.rename_column("s2", "s")
        kind = rng.randrange(16)
        if kind == 0:
            epoch = rng.randrange(2, table.epoch + 1)
            attempt(table.restore, epoch)
        elif kind == 1:
            attempt(table.delete, None) if rng.random() < 0.3 else None
        elif kind == 2:
            attempt(table.update, {"s": f"'{rng.randrange(3)}'"}, None)
        elif kind == 3:
            attempt(table.delete, f"k BETWEEN {rng.randrange(24)} AND {rng.randrange(24)}")
        elif kind == 4:
            attempt(table.rename_column, "s", "s2")
        elif kind == 5:
            table.optimize().option("min-rowsets", 2).executeCompaction()
        else:
            super().turn()


def attempt(call: Any, *arguments: Any) -> None:
    with suppress(ColonnadeError):
        call(*arguments)


def feed(table: ArrowTable, first: int, last: int, *, net: bool = False, **how: Any) -> list[Any]:
    reader, state = table._log.reader, table._state
    shown = reader.read_at(last).tables[state.id]
    found = Feed(reader, shown, shown.schema, **how)
    steps = read_steps(reader, state.id, reader.read_at(first - 1), last)
    batches = [batch for each in found.differences(steps, net=net) for batch in found.rows(each)]
    return pa.Table.from_batches(batches, found.schema).to_pylist()


def values(row: dict[str, Any]) -> Row:
    return tuple(value for name, value in row.items() if name not in OWN)


def rows_at(table: ArrowTable, epoch: int) -> Counter[Row]:
    return Counter(values(row) for row in table.scan(epoch=epoch).to_pylist())


def apply(rows: Counter[Row], changes: Iterable[dict[str, Any]]) -> Counter[Row]:
    """Apply changes to rows. Each deleted row must be there."""
    left = Counter(rows)
    for change in changes:
        row = values(change)
        if change["_change_type"] in ("delete", "update_preimage"):
            assert left[row] > 0, (change, left)
            left[row] -= 1
        else:
            left[row] += 1
    return +left


def by_epoch(changes: list[dict[str, Any]]) -> dict[int, list[dict[str, Any]]]:
    found: dict[int, list[dict[str, Any]]] = {}
    for each in changes:
        found.setdefault(each["_commit_version"], []).append(each)
    return found


def in_order(changes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Put the rows that an epoch takes away before those that it adds."""
    takes = {"delete": 0, "update_preimage": 0, "insert": 1, "update_postimage": 1}
    return sorted(changes, key=lambda each: (each["_commit_version"], takes[each["_change_type"]]))


SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(1, 60))]


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("form", FORMS)
def test_the_feed_leads_from_the_rows_at_one_epoch_to_those_at_another(
    form: str, seed: int
) -> None:
    rng = random.Random(f"feed {form} {seed}")
    limits = rng.choice(LIMITS)
    history = Longer(form, rng, limits)
    for _ in range(20):
        history.turn()
    table = history.table()
    last, keyed = table.epoch, "key" in FORMS[form]
    for _ in range(25):
        first = rng.randint(2, last)
        end = rng.randint(first, last)
        before, after = rows_at(table, first - 1), rows_at(table, end)
        each, net = feed(table, first, end), feed(table, first, end, net=True)
        assert apply(before, in_order(each)) == after, (first, end)
        assert apply(before, in_order(net)) == after, (first, end)
        for changes in (net, *by_epoch(each).values()):
            check_shape(changes, keyed=keyed)
        if keyed:
            assert len(net) == minimal(before, after)


def check_shape(changes: list[dict[str, Any]], *, keyed: bool) -> None:
    """An epoch names each row once before and once after it; pairs differ and stand together."""
    old = [c for c in changes if c["_change_type"] in ("delete", "update_preimage")]
    new = [c for c in changes if c["_change_type"] in ("insert", "update_postimage")]
    for some in (old, new):
        assert len({each["_row_handler"] for each in some}) == len(some)
        if keyed:
            assert len({each["k"] for each in some}) == len(some)
    before = [c for c in changes if c["_change_type"] == "update_preimage"]
    after = [c for c in changes if c["_change_type"] == "update_postimage"]
    assert len(before) == len(after)
    for one, other in zip(before, after, strict=True):
        assert values(one) != values(other)
        assert one["k"] == other["k"]
    if keyed:
        deleted = {c["k"] for c in old} - {c["k"] for c in before}
        assert deleted.isdisjoint(c["k"] for c in new)


def minimal(before: Counter[Row], after: Counter[Row]) -> int:
    """The number of rows of the smallest feed between rows with different keys."""
    old, new = ({row[0]: row for row in rows} for rows in (before, after))
    return sum(
        (key in old) + (key in new)
        for key in old.keys() | new.keys()
        if old.get(key) != new.get(key)
    )
