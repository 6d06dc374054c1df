"""The tasks of a difference, read as the jar reads them, give the rows of the feed."""

from __future__ import annotations

import datetime as dt
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import colonnade
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.feed.steps import read_steps
from colonnade.tableformat.feed import tasks
from colonnade.tableformat.feed.changes import Feed
from colonnade.tableformat.feed.difference import Difference
from colonnade.tableformat.predicate import parse_predicate
from colonnade.tableformat.scan.plan import ScanPlan
from colonnade.tableformat.scan.run import read_plan
from tests.tableformat.feed.test_histories import LIMITS, SEEDS, Longer
from tests.tableformat.statements.test_row_histories import FORMS


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("form", FORMS)
def test_the_tasks_of_a_difference_read_the_rows_of_the_feed(
    form: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(f"tasks {form} {seed}")
    monkeypatch.setattr(tasks, "MOST_PAIRS", rng.choice([1, 3, tasks.MOST_PAIRS]))
    history = Longer(form, rng, rng.choice(LIMITS))
    for _ in range(20):
        history.turn()
    table = history.table()
    reader, state = table._log.reader, table._state
    names = rng.sample(state.schema.names, rng.randint(1, len(state.schema.names)))
    where = rng.choice([None, "k > 3", "_change_type IN ('delete', 'update_postimage')"])
    found = Feed(
        reader,
        state,
        state.schema.select(names),
        None if where is None else parse_predicate(where),
        statics=rng.random() < 0.5,
        updates=rng.random() < 0.7,
    )
    steps = list(read_steps(reader, state.id, reader.read_at(1), table.epoch))
    for each in found.differences(steps, net=rng.random() < 0.5):
        rows = pa.Table.from_batches(found.rows(each), found.schema).drop(["_row_handler"])
        wanted, read = of_values(rows.to_pylist()), of_values(by_tasks(found, each, names))
        # Spark applies the condition again.
        assert read == wanted if where is None else read >= wanted


def of_values(rows: Iterable[dict[str, Any]]) -> Counter[str]:
    return Counter(str([(name, str(row[name])) for name in sorted(row)]) for row in rows)


def by_tasks(feed: Feed, found: Difference, names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Read the tasks of a difference as the jar does."""
    store = feed.reader.store

    def rows(plan: ScanPlan) -> list[dict[str, Any]]:
        return [row for batch in read_plan(store, plan) for row in batch.to_pylist()]

    def shown(row: dict[str, Any], change: str) -> dict[str, Any]:
        time = dt.datetime.fromtimestamp(found.last.epoch.time_ms / 1000, dt.timezone.utc)
        return {
            **{name: row[name] for name in names},
            "_change_type": feed.name_of(change),
            "_commit_version": found.last.number,
            "_commit_timestamp": time,
        }

    for task in tasks.tasks_of(feed, found, names):
        if isinstance(task, tasks.RowsTask):
            yield from (shown(row, task.change) for row in rows(task.plan))
            continue
        after = rows(task.after)
        order = range(len(after)) if task.order is None else task.order.tolist()
        for at, before in zip(order, rows(task.before), strict=True):
            if any(before[name] != after[at][name] for name in task.compared):
                yield shown(before, "update_preimage")
                yield shown(after[at], "update_postimage")


def test_a_range_divides_many_updates_of_large_rows_into_tasks_of_few_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = colonnade.create(tmp_path / "t", {"id": "long", "text": "string"}, primary_key=["id"])
    random_text = random.Random(1).randbytes(2_000_000).hex()
    table.append([{"id": i, "text": random_text[i * 30_000 :][:100_000]} for i in range(64)])
    seen = table.epoch
    table.upsert([{"id": i, "text": random_text[i * 30_000 + 1 :][:100_000]} for i in range(64)])
    monkeypatch.setattr(tasks, "MOST_PAIR_BYTES", 300_000)
    feed = Feed(table._log.reader, table._state, table._state.schema)
    steps = read_steps(feed.reader, table._state.id, feed.reader.read_at(seen), table.epoch)
    (found,) = feed.differences(steps)
    made = list(tasks.tasks_of(feed, found, ["id"]))
    assert len(made) > 1
    assert len(list(by_tasks(feed, found, ["id"]))) == 128


def test_a_type_that_is_not_shown_is_refused_by_tasks_with_the_way_out(tmp_path: Path) -> None:
    table = colonnade.create(tmp_path / "t", {"k": "long", "v": "int"})
    table.append([{"k": 1, "v": 1}])
    narrow = table.epoch
    table.alter(colonnade.WidenColumn("v", "long"))
    table.append([{"k": 2, "v": 2}])
    wide = table.epoch
    table.restore(narrow)
    feed = Feed(table._log.reader, table._state, table._state.schema)
    steps = read_steps(feed.reader, table._state.id, feed.reader.read_at(wide), table.epoch)
    (found,) = feed.differences(steps)
    with pytest.raises(InvalidInputError, match=rf"'v'.* is long at .*schema_epoch={wide}`"):
        list(tasks.tasks_of(feed, found, ["k", "v"]))
    assert [each["k"] for each in by_tasks(feed, found, ["k"])] == [2]
