"""Loss and damage of the objects of a database: right rows, or an error that says what to do.

Each object alone, and each pair of objects of the log, is lost or damaged. Afterwards the database
is opened anew, read, written to and repaired. It never shows other rows than it had, and no new
database can take its place.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import TypeVar

import pyarrow as pa
import pytest

from colonnade.manifests.checkpoint.reader import read_hint
from colonnade.manifests.errors import (
    AlreadyExistsError,
    CorruptionError,
    NotFoundError,
)
from colonnade.manifests.limits import LIMITS, Limits
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.object_names import (
    COPIES,
    FREED,
    HINT,
    MANIFEST,
    checkpoint_name,
    epoch_name,
)
from colonnade.manifests.store import MemoryStore, ObjectStore
from colonnade.tableformat.repair.caches import rebuild_caches
from colonnade.tableformat.table.database import ArrowDatabase
from tests.far_store import FarStore

SCHEMA = pa.schema([("id", pa.int64()), ("s", pa.string())])
FILES = Limits(
    inline_bytes=0, inline_rowset_bytes=0, segment_rowsets=2, listed_rowsets=1, segment_vectors=1
)
BLOCK = 4

T = TypeVar("T")
Rows = dict[str, list[int]]


class Whole(MemoryStore):
    """A database, and the rows of its head and of the tag `kept`."""

    head: Rows
    kept: Rows


def open_log(store: ObjectStore, limits: Limits = LIMITS) -> Log:
    return Log(store, checkpoint_interval=4, pause=lambda _: None, limits=limits)


def open_database(store: ObjectStore) -> ArrowDatabase:
    log = open_log(store)
    return ArrowDatabase(store, log, log.reader.read_head())


def rows(first: int, count: int = 4) -> pa.Table:
    ids = range(first, first + count)
    return pa.table({"id": ids, "s": [f"text {i}" for i in ids]}, SCHEMA)


def make(limits: Limits, block: int = BLOCK, epochs: int = 16) -> Whole:
    """A database whose first blocks of slots are freed, with a tag below the floor."""
    store = Whole()
    create_database(store, lone_table=False, slot_block=block)
    log = open_log(store, limits)
    db = ArrowDatabase(store, log, log.reader.read_head())
    for name in "ab":
        db.create_table(name, SCHEMA)
    while (epoch := db.refresh().epoch) < epochs:
        table = db.table("ab"[epoch % 2])
        table.append(rows(10 * epoch))
        table.delete(f"id = {10 * epoch + 1}")
        if epoch == 6:
            db.tag("kept", epoch)
    db.vacuum(0, retain_epochs=3, force=True)
    while db.refresh().epoch % 4:
        db.table("a").append(rows(10 * db.refresh().epoch))
    store.head, store.kept = rows_of(db), rows_of(db, tag="kept")
    return store


def rows_at(store: ObjectStore, tag: str | None) -> Rows:
    return rows_of(open_database(store), tag)


def rows_of(db: ArrowDatabase, tag: str | None = None) -> Rows:
    """The ids of all rows, by table."""
    found = {}
    for name in db.tables():
        table = db.table(name).scan(tag=tag).to_arrow()
        assert table["s"].to_pylist() == [f"text {i}" for i in table["id"].to_pylist()]
        found[name] = sorted(table["id"].to_pylist())
    return found


def copy_of(store: Whole) -> Whole:
    copy = Whole()
    names = sorted((info.name for info in store.list("")), key=lambda name: name != epoch_name(0))
    for name in names:
        copy.put_if_absent(name, store.get(name))
    return copy


def names_of(store: ObjectStore, prefix: str = "") -> list[str]:
    return sorted(info.name for info in store.list(prefix))


def lose(store: ObjectStore, name: str) -> None:
    store.delete(name)


def flip(store: ObjectStore, name: str) -> None:
    data = bytearray(store.get(name))
    data[len(data) // 2] ^= 4
    store.put(name, bytes(data), sync=False)


def cut(store: ObjectStore, name: str) -> None:
    store.put(name, store.get(name)[:-1] or b"x", sync=False)


def tried(call: Callable[[], T]) -> T | None:
    """The result of a call, or None after an error that says what is damaged or what to do."""
    try:
        return call()
    except CorruptionError as error:
        said = error.message
    assert any(each in said for each in ("`repair`", "estore", "is damaged", "holds")), said
    return None


class Harmed:
    """A database of which some objects were harmed."""

    def __init__(
        self, whole: Whole, harm: Callable[[ObjectStore, str], None], names: Sequence[str]
    ) -> None:
        self.head, self.kept = whole.head, whole.kept
        self.store = copy_of(whole)
        for name in names:
            harm(self.store, name)

    def check(self) -> bool:
        """Read the database in every way. Returns whether all of them gave all rows."""
        whole = True
        stores, kept = (self.store, FarStore(self.store)), ((None, self.head), ("kept", self.kept))
        for store, (tag, wanted) in itertools.product(stores, kept):
            found = tried(partial(rows_at, store, tag))
            whole &= found is not None
            assert found in (wanted, None)
        return whole

    def check_append(self) -> None:
        """An append is refused, or every later reader sees it."""
        with suppress(CorruptionError, NotFoundError):
            open_database(self.store).table("a").append(rows(10**6, 1))
            self.head = {**self.head, "a": [*self.head["a"], 10**6]}
        self.check()

    def check_taken(self) -> None:
        """No new database takes the place."""
        with pytest.raises((AlreadyExistsError, CorruptionError)):
            create_database(self.store, lone_table=False)

    def repair(self) -> bool:
        """Repair the log. Returns whether that worked."""
        return tried(lambda: rebuild_caches(open_log(self.store))) is not None


def check(whole: Whole, harm: Callable[[ObjectStore, str], None], *names: str) -> bool:
    """Check a harmed database before and after a repair. Returns whether it is whole again."""
    harmed = Harmed(whole, harm, names)
    harmed.check()
    harmed.check_taken()
    Harmed(whole, harm, names).check_append()
    return harmed.repair() and harmed.check()


HARMS = [lose, flip, cut]


@pytest.mark.slow
@pytest.mark.parametrize("harm", HARMS)
@pytest.mark.parametrize("limits", [LIMITS, pytest.param(FILES, marks=pytest.mark.long)])
def test_loss_of_any_one_object_shows_all_rows_or_an_error_that_says_what_to_do(
    limits: Limits, harm: Callable[[ObjectStore, str], None]
) -> None:
    whole = make(limits)
    mended = {name for name in names_of(whole) if check(whole, harm, name)}
    assert {HINT, *(name for name in names_of(whole) if name.startswith((FREED, COPIES)))} <= mended


@pytest.mark.long
@pytest.mark.parametrize("part", range(16))
@pytest.mark.parametrize("harm", [lose, flip])
@pytest.mark.parametrize("limits", [LIMITS, FILES])
def test_loss_of_any_two_objects_of_the_log_shows_all_rows_or_an_error_that_says_what_to_do(
    limits: Limits, harm: Callable[[ObjectStore, str], None], part: int
) -> None:
    whole = make(limits)
    pairs = itertools.combinations(names_of(whole, f"{MANIFEST}/"), 2)
    for pair in itertools.islice(pairs, part, None, 16):
        if not hides_end(whole, pair):
            check(whole, harm, *pair)


def hides_end(whole: Whole, lost: Sequence[str]) -> bool:
    """Whether the newest epoch is lost together with all that proves it: the hint and its root."""
    hint = read_hint(whole)
    assert hint is not None
    newest = epoch_name(hint[0].epoch)
    return newest in lost and bool({HINT, checkpoint_name(hint[0].root)} & {*lost})


@pytest.mark.slow
@pytest.mark.parametrize("harm", [lose, flip])
@pytest.mark.parametrize(("block", "epochs"), [(BLOCK, 16), (BLOCK, 100), (64, 130), (64, 200)])
def test_a_log_that_lost_its_hint_and_all_marks_is_opened_again_after_a_repair(
    block: int, epochs: int, harm: Callable[[ObjectStore, str], None]
) -> None:
    whole = make(LIMITS, block, epochs)
    assert check(whole, harm, HINT, *names_of(whole, FREED))
