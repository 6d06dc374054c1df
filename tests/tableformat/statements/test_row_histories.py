"""The log says of each row whether it was inserted, deleted or moved, and where to.

Random histories of statements run beside concurrent writers and compactions. A model knows which
row each key denotes. What the log and the vectors say of an epoch must be what the model says.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pytest

import colonnade
from colonnade import ArrowTable, WriteSettings
from colonnade.manifests.commit.change import Change
from colonnade.manifests.errors import ConflictError
from colonnade.manifests.limits import Limits
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.model.operations import Compaction, ReplaceRows
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.store import MemoryStore, ObjectStore
from colonnade.tableformat.location import Location
from colonnade.tableformat.table.database import ArrowDatabase
from tests.row_changes import changes_of, places, row_changes
from tests.tableformat.statements.tables import made

SCHEMA = pa.schema(
    [pa.field("k", pa.int64(), nullable=False), ("v", pa.int64()), ("s", pa.string())]
)
KEYS = 24
MERGE = {"merge.v": "max", "merge.s": "concat:+", "onDuplicate": "merge"}
FORMS: dict[str, dict[str, Any]] = {
    "plain": {},
    "sorted": {"sort_key": ["v"]},
    "partitioned": {"partition_by": ["bucket(3, v)"], "sort_key": ["k"]},
    "keyed": {"key": ["k"]},
    "adding": {"key": ["k"], "properties": {"merge.v": "add"}, "partition_by": ["bucket(2, k)"]},
    "merging": {"key": ["k"], "sort_key": ["v"], "properties": MERGE},
    "replacing": {"key": ["k"], "properties": {"onDuplicate": "merge"}},
    "ignoring": {"key": ["k"], "properties": {"onDuplicate": "ignore"}},
    "remembering": {"key": ["k"], "properties": {"sequence": "v", "onDuplicate": "merge"}},
}
FEW = WriteSettings(max_records=3)
Step = Callable[[Any], "set[int]"]
"""A statement on a table. Returns the keys of rows that it deletes and inserts anew."""


@dataclass
class History:
    """A table of some form, whose keys are all different, and statements on it."""

    form: str
    rng: random.Random
    limits: Limits
    store: ObjectStore = field(default_factory=MemoryStore)
    checked: int = 0
    moved: int = 0

    def __post_init__(self) -> None:
        made(self.store, SCHEMA, **FORMS[self.form])
        self.table().append(self.rows(range(0, KEYS, 2)), settings=FEW)
        self.checked = self.table().epoch

    def log(self) -> Log:
        return Log(self.store, pause=lambda _: None, limits=self.limits)

    def table(self) -> ArrowTable:
        log = self.log()
        return ArrowTable(Location(self.store, "t", exists=True), log, log.reader.read_head())

    def rows(self, keys: Iterable[int]) -> pa.Table:
        """Rows with some keys, in some order."""
        chosen = [*keys]
        self.rng.shuffle(chosen)
        values = [self.rng.choice((None, self.rng.randrange(9))) for _ in chosen]
        if self.form == "remembering":
            values = [self.rng.randrange(9) for _ in chosen]
        return pa.table({"k": chosen, "v": values, "s": [f"s{k}" for k in chosen]}, SCHEMA)

    def some(self, among: Iterable[int], most: int = 6) -> list[int]:
        keys = sorted(among)
        return self.rng.sample(keys, min(len(keys), self.rng.randint(0, most)))

    def step(self) -> Step:
        """Choose a statement."""
        keyed, rng = "key" in FORMS[self.form], self.rng
        merges = FORMS[self.form].get("properties", {}).get("onDuplicate") == "merge"
        kinds = ["append", "delete", "update", "update", "upsert", "upsert", "overwrite where"]
        kinds += ["overwrite"] if rng.random() < 0.2 else []
        kinds += ["upsert some columns", "delete keys"] if keyed else []
        kinds += ["insert"] * 2 if merges else []
        kind = rng.choice(kinds)
        chosen = self.some(range(KEYS))
        where = f"k IN ({', '.join(map(str, [*chosen, -1]))})"
        rows = self.rows(chosen)

        def run(table: Any) -> set[int]:
            there = keys_of(table)
            match kind:
                case "append":
                    new = self.rows(set(chosen) - there)
                    table.append(new, settings=FEW)
                case "insert":
                    table.append(rows, settings=FEW)
                case "delete":
                    table.delete(where, count_rows=True)
                case "update":
                    table.update({"v": rng.randrange(9)}, where, settings=FEW)
                case "upsert":
                    on = {} if keyed else {"on": "k"}
                    table.upsert(rows, settings=FEW, **on)
                case "upsert some columns":
                    table.upsert(rows.select(["k", "v"]), settings=FEW)
                case "delete keys":
                    columns = ["k", "v"] if self.form == "remembering" else ["k"]
                    table.delete_keys(rows.select(columns))
                case "overwrite":
                    table.overwrite(rows, settings=FEW)
                    return set(chosen)
                case "overwrite where":
                    table.overwrite(rows, where, settings=FEW)
                    return set(chosen)
            return set()

        return run

    def transaction(self) -> set[int]:
        """Run several statements as one epoch. Returns the keys of rows that are not the same."""
        log = self.log()
        database = ArrowDatabase(self.store, log, log.reader.read_head())
        with database.transaction() as tx:
            table = tx.table("t")
            same = keys_of(table)
            for _ in range(self.rng.randint(2, 4)):
                same -= self.step()(table)
                same &= keys_of(table)
            return keys_of(table) - same

    def meanwhile(self) -> None:
        """Commit something that rarely conflicts: a compaction, new rows, a deletion."""
        table = self.table()
        match self.rng.randrange(4):
            case 0 | 1:
                table.optimize().option("min-rowsets", 2).executeCompaction()
            case 2:
                table.append(self.rows(self.some(set(range(KEYS, 2 * KEYS)) - keys_of(table), 2)))
            case 3:
                gone = self.some(keys_of(table) & set(range(KEYS, 2 * KEYS)), 1)
                if gone:
                    table.delete(f"k IN ({gone[0]}, -1)", count_rows=True)

    def turn(self) -> None:
        """Run a statement or a transaction, perhaps beside others, and check all new epochs."""
        with self._beside() if self.rng.random() < 0.6 else alone():
            try:
                if self.rng.random() < 0.3:
                    renewed = self.transaction()
                else:
                    renewed = self.step()(self.table())
            except ConflictError:
                renewed = set()
        self._check(renewed)

    @contextmanager
    def _beside(self) -> Iterator[None]:
        """A block in which concurrent writers are first, right before the next commit."""
        commit, count = Log.commit_change, self.rng.randint(1, 3)

        def late(log: Log, change: Change, base: Snapshot) -> tuple[Snapshot, Epoch | None]:
            with patch.object(Log, "commit_change", commit):
                for _ in range(count):
                    self.meanwhile()
            own.stop()
            return commit(log, change, base)

        own = patch.object(Log, "commit_change", late)
        own.start()
        try:
            yield
        finally:
            patch.stopall()

    def _check(self, renewed: set[int]) -> None:
        """Compare the epochs since the last check with the model. The last one renewed rows."""
        table = self.table()
        log, head = table._log, table.epoch
        for number in range(self.checked + 1, head + 1):
            before, after = log.reader.read_at(number - 1), log.reader.read_at(number)
            [epoch] = log.reader.read_epochs(number, 1)
            if any(isinstance(op, Compaction) for op in epoch.ops):
                continue
            anew = renewed if number == head else set()
            expected = changes_of(places(log, before, "t"), places(log, after, "t"), anew)
            assert row_changes(log, before, epoch, after, table._state.id) == expected, epoch
            assert any(isinstance(op, ReplaceRows) for op in epoch.ops) == bool(expected.moved)
            self.moved += len(expected.moved)
        self.checked = head


@contextmanager
def alone() -> Iterator[None]:
    yield


def keys_of(table: Any) -> set[int]:
    if isinstance(table, ArrowTable):
        table.refresh()
    return set(table.scan(["k"]).to_arrow()["k"].to_pylist())


SEEDS = [*range(6), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(6, 60))]


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("form", FORMS)
def test_the_log_says_which_row_each_new_version_replaces(form: str, seed: int) -> None:
    rng = random.Random(f"{form} {seed}")
    # Some histories store origins as objects, and list RowSets in segments.
    limits = rng.choice((Limits(), Limits(inline_bytes=0), Limits(listed_rowsets=1)))
    history = History(form, rng, limits)
    for _ in range(25):
        history.turn()
    assert history.moved


STATIC = pa.schema([("p", pa.int64()), ("k", pa.int64()), ("owner", pa.string())])


def static_rows(owner: str, *parts: int) -> pa.Table:
    rows = [{"p": p, "k": p * 10 + len(owner), "owner": f"{owner}{p}"} for p in parts]
    return pa.Table.from_pylist(rows, STATIC)


@pytest.mark.parametrize(
    ("change", "moved"),
    [
        (lambda t: t.append(static_rows("new", 2, 3, 4)), 2),
        (lambda t: t.append(static_rows("a", 5)), 0),
        (lambda t: t.upsert(static_rows("a", 1, 2, 9).select(["p", "k", "owner"])), 0),
        (lambda t: t.upsert(static_rows("other", 1, 9)), 1),
        (lambda t: t.update({"owner": "'x'"}, "p < 3"), 2),
        (lambda t: t.statics.delete("p = 1", count_rows=True), 0),
    ],
)
@pytest.mark.parametrize("in_transaction", [False, True])
def test_the_log_says_which_static_values_replace_others(
    change: Callable[[Any], object], moved: int, in_transaction: bool
) -> None:
    store = MemoryStore()
    table = made(store, STATIC, ["p", "k"], static=["owner"], partition_key=["p"])
    table.append(static_rows("a", 1, 2, 3))
    log, base = table._log, table.epoch
    if in_transaction:
        with ArrowDatabase(store, log, log.reader.read_head()).transaction() as tx:
            change(tx.table("t"))
    else:
        change(table)
    before, after = log.reader.read_at(base), log.reader.read_head()
    [epoch] = log.reader.read_epochs(after.epoch, 1)
    statics = table.statics._state
    old, new = (places(log, state, statics.name, "p") for state in (before, after))
    expected = changes_of(old, new, set())
    assert row_changes(log, before, epoch, after, statics.id) == expected
    # A transaction writes values, too, that are there already.
    assert in_transaction or len(expected.moved) == moved


def test_stored_origins_are_kept_as_long_as_their_epochs(tmp_path: Path) -> None:
    table = colonnade.create(tmp_path / "t", SCHEMA)
    table._log.reader.limits = Limits(inline_bytes=0)
    table.append(pa.table({"k": range(9), "v": [0] * 9, "s": [""] * 9}, SCHEMA))
    table.update({"v": 1}, "k IN (1, 4, 7)")

    def origins() -> list[str]:
        return [each.name for each in table._log.store.list("") if each.name.endswith(".origin")]

    [first] = origins()
    table.vacuum(retention_hours=1, force=True)
    table.update({"v": 2}, "k IN (2, 4)")
    assert first in origins()
    table.append(pa.table({"k": [10], "v": [0], "s": [""]}, SCHEMA))
    table.vacuum(retention_hours=0, force=True)
    assert origins() == []
    assert table.verify(4).is_sound
