"""Damage of any one object of an anchor loses nothing: no state, no file, and no command."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest

from colonnade.manifests.checkpoint.anchor_list import read_anchors
from colonnade.manifests.checkpoint.reader import read_hint
from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.limits import Limits
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.object_names import CHECKPOINTS, COPIES, HINT, checkpoint_name, copy_name
from colonnade.manifests.store import MemoryStore, ObjectStore
from colonnade.manifests.vacuum.copies import AnchorObject
from colonnade.manifests.vacuum.floor import read_anchor
from colonnade.manifests.vacuum.hinted_checkpoints import cached_objects
from colonnade.manifests.vacuum.references import StateObjects
from colonnade.tableformat.repair.caches import rebuild_caches
from colonnade.tableformat.table.database import ArrowDatabase
from tests.faults import Fault, FaultyStore, Stopped
from tests.manifests.vacuum.world import Hooked
from tests.tableformat.repair.damaged import repair_as_planned

SCHEMA = pa.schema([("id", pa.int64())])
TABLES = ("a", "b", "c")
PAGED = Limits(
    listed_rowsets=1, segment_rowsets=2, segment_vectors=1, inline_bytes=0, group_rowsets=2,
    root_tables=0, root_bytes=0, page_bytes=300,
)  # fmt: skip
PLAIN = Limits(listed_rowsets=0, segment_rowsets=2, segment_vectors=1)
LISTED = Limits(listed_anchors=0)

Contents = dict[tuple[int, str], list[int]]
"""The rows of each table at each epoch."""


def open_database(store: ObjectStore, limits: Limits) -> ArrowDatabase:
    log = Log(store, checkpoint_interval=4, pause=lambda _: None, limits=limits)
    return ArrowDatabase(store, log, log.reader.read_head())


def make(limits: Limits) -> MemoryStore:
    """Two vacuums, each with a tag below its floor, among appends and deletes."""
    store = MemoryStore(now_ms=lambda: 0)
    create_database(store, lone_table=False)
    db = open_database(store, limits)
    for name in TABLES:
        db.create_table(name, SCHEMA)
    for turn in range(2):
        for number, name in enumerate(TABLES[: 2 + turn]):
            table = db.table(name)
            first = 100 * turn + 10 * number
            table.append(pa.table({"id": range(first, first + 4)}, SCHEMA))
            table.delete(f"id = {first}")
        db.tag(f"tag{turn}", db.refresh().epoch)
        db.table("a").append(pa.table({"id": [1000 + turn, 2000 + turn]}, SCHEMA))
        db.vacuum(0, force=True)
    db.table("a").append(pa.table({"id": [5000]}, SCHEMA))
    return store


def clone(store: MemoryStore) -> MemoryStore:
    made = MemoryStore(now_ms=lambda: 0)
    for info in store.list(""):
        made.put(info.name, store.get(info.name), sync=False)
    return made


def read(db: ArrowDatabase, name: str, epoch: int) -> list[int]:
    return sorted(db.table(name, epoch=epoch).scan(epoch=epoch).to_arrow()["id"].to_pylist())


def read_all(db: ArrowDatabase) -> Contents:
    """All rows of the head, the floor and every tag."""
    head = db._refresh()
    return {
        (epoch, name): sorted(
            db.table(name, epoch=epoch).scan(epoch=epoch).to_arrow()["id"].to_pylist()
        )
        for epoch in {head.epoch, head.floor, *head.tags.values()}
        for name in TABLES
    }


def parts(db: ArrowDatabase) -> list[AnchorObject]:
    """The objects that the anchors of a database are made of."""
    objects = StateObjects(db._log.store)
    head = db._refresh()
    if head.anchor_list is not None:
        objects.add_anchor_list(head.anchor_list)
    for anchor in read_anchors(db._log.store, head):
        objects.add_root(anchor)
        objects.add(read_anchor(db._log.reader, anchor)[0])
    return list(objects.parts)


def damages(
    store: MemoryStore, found: list[AnchorObject], *, every: bool
) -> Iterator[tuple[str, bytes | None]]:
    """The files of anchors, lost, flipped and cut; or each file in one of these ways."""
    for number, name in enumerate(name for part in found for name in part.places):
        whole = store.get(name)
        flipped = bytearray(whole)
        flipped[len(whole) * 2 // 3] ^= 4
        ways = (None, bytes(flipped), whole[:-1])
        for way in ways if every else (ways[number // 2 % 3],):
            yield name, way


def damaged(store: MemoryStore, name: str, data: bytes | None) -> MemoryStore:
    made = clone(store)
    if data is None:
        made.delete(name)
    else:
        made.put(name, data, sync=False)
    return made


@pytest.mark.slow
@pytest.mark.parametrize(
    ("limits", "every"),
    [
        # A state of pages has objects of each kind that a plain state has.
        pytest.param(PAGED, False, id="paged"),
        pytest.param(LISTED, False, id="listed"),
        pytest.param(PLAIN, True, id="plain-every", marks=pytest.mark.long),
        pytest.param(PAGED, True, id="paged-every", marks=pytest.mark.long),
        pytest.param(LISTED, True, id="listed-every", marks=pytest.mark.long),
    ],
)
def test_any_one_damaged_object_of_an_anchor_is_named_survived_and_restored(
    limits: Limits, every: bool
) -> None:
    store = make(limits)
    db = open_database(store, limits)
    expected, found = read_all(db), parts(db)
    assert db.verify(1).findings == ()
    assert len(read_anchors(store, db._snapshot)) == 3
    for number, (name, data) in enumerate(damages(store, found, every=every)):
        broken = damaged(store, name, data)
        if number % 3:
            broken.delete(HINT)
        db = open_database(broken, limits)
        assert read_all(db) == expected, name
        report = db.verify(1)
        kind = "damage" if name.startswith(CHECKPOINTS) else "cache"
        assert (kind, name) in {(each.kind, each.file) for each in report.findings}, (name, report)
        assert {each.file for each in report.findings} <= {name, HINT}
        repaired = bool(number % 2)
        if repaired:
            assert repair_as_planned(db._log).restored == (name,)
            assert broken.get(name) == store.get(name)
        db.table("b").append(pa.table({"id": [6000]}, SCHEMA))
        assert db.vacuum(0, force=True).epoch is not None, name
        after = read_all(open_database(broken, limits))
        kept = {key: rows for key, rows in expected.items() if key[0] in db.tags().values()}
        assert {**after, **kept} == after, name
        assert 6000 in after[db._snapshot.epoch, "b"]
        # A vacuum restores what is lost or cut; damage at full size shows only to those who read.
        hidden = data is not None and len(data) == len(store.get(name)) and not repaired
        left = {each.file for each in db.verify(2).findings}
        assert left <= ({name} if hidden else set())


@pytest.mark.parametrize("limits", [PLAIN, PAGED, LISTED], ids=["plain", "paged", "listed"])
def test_a_vacuum_copies_anchors_of_earlier_versions_and_what_was_lost(limits: Limits) -> None:
    store = make(limits)
    whole = {info.name: store.get(info.name) for info in store.list("_manifest/c")}
    for name in whole:
        if name.startswith(COPIES):
            store.delete(name)
    db = open_database(store, limits)
    planned = clone(store)
    open_database(planned, limits).vacuum(0, dry_run=True)
    assert not list(planned.list(COPIES))
    db.vacuum(0, retain_epochs=100, force=True)
    assert all(store.get(name) == whole[name] for part in parts(db) for name in part.places)


@pytest.mark.slow
def test_a_tag_whose_state_is_lost_at_both_places_is_named_and_can_be_given_up() -> None:
    store = make(PLAIN)
    db = open_database(store, PLAIN)
    [tagged] = [a for a in db._snapshot.anchors if a.epoch == db.tags()["tag0"]]
    for name in next(part for part in parts(db) if part.object == tagged.root).places:
        store.delete(name)
    files = {info.name for info in store.list("")}
    report = db.verify(1)
    assert [
        f"epoch {tagged.epoch}" in each.problem for each in report.findings if each.kind == "damage"
    ]
    calls: dict[str, Any] = {"vacuum": lambda: db.vacuum(0, force=True), "repair": db.repair}
    for name, call in calls.items():
        with pytest.raises(CorruptionError, match="which tag 'tag0' keeps"):
            call()
        assert files <= {info.name for info in store.list("")}, name
    db.untag("tag0")
    assert db.vacuum(0, force=True).epoch is not None
    assert open_database(store, PLAIN).verify(4).is_sound


@pytest.mark.slow
def test_a_lost_list_of_anchors_is_named_with_all_its_tags_and_can_be_given_up() -> None:
    store = make(LISTED)
    db = open_database(store, LISTED)
    listed = db._refresh().anchor_list
    assert listed is not None
    expected = read_all(db)
    for name in (checkpoint_name(listed.object), copy_name(listed.object)):
        store.delete(name)
    files = {info.name for info in store.list("")}
    [finding] = db.verify(1).findings[:1]
    assert all(f"tag {name!r}" in finding.problem for name in db.tags()), finding
    calls: dict[str, Any] = {"vacuum": lambda: db.vacuum(0, force=True), "repair": db.repair}
    for name, call in calls.items():
        with pytest.raises(CorruptionError, match="which tag 'tag0' keeps"):
            call()
        assert files <= {info.name for info in store.list("")}, name
    for name in db.tags():
        db.untag(name)
    assert db.vacuum(0, force=True).epoch is not None
    db = open_database(store, LISTED)
    assert db.verify(4).is_sound
    newest = max(epoch for epoch, _ in expected)
    after = {key[1]: rows for key, rows in read_all(db).items() if key[0] == db._snapshot.epoch}
    assert after == {name: expected[newest, name] for name in TABLES}


def floor_objects(db: ArrowDatabase) -> list[AnchorObject]:
    """The objects that only the anchor of the floor is made of, its root first."""
    head = db._refresh()
    objects, others = StateObjects(db._log.store), StateObjects(db._log.store)
    for anchor in read_anchors(db._log.store, head):
        kind = objects if anchor.epoch == head.floor else others
        kind.add_root(anchor)
        kind.add(read_anchor(db._log.reader, anchor)[0])
    shared = {part.object for part in others.parts}
    return [part for part in objects.parts if part.object not in shared]


@pytest.mark.slow
@pytest.mark.parametrize("limits", [PLAIN, PAGED, LISTED], ids=["plain", "paged", "listed"])
@pytest.mark.parametrize("gone", [True, False], ids=["missing", "damaged"])
def test_a_log_whose_oldest_state_is_lost_begins_at_a_later_checkpoint(
    limits: Limits, gone: bool
) -> None:
    """Whichever object of the floor's anchor is damaged at both of its places."""
    store = make(limits)
    db = open_database(store, limits)
    for number in range(9):
        db.table("b").append(pa.table({"id": [7000 + number]}, SCHEMA))
    floor, tags, expected = db._refresh().floor, db.tags(), read_all(db)
    newest, shared, mended = db._snapshot.epoch, cached_objects(store, floor), 0
    tagged = {key: rows for key, rows in expected.items() if key[0] in tags.values()}
    for part in floor_objects(db):
        broken = clone(store)
        for name in part.places:
            if gone:
                broken.delete(name)
            else:
                broken.put(name, b"?" * part.length, sync=False)
        files = {info.name for info in broken.list("")}
        db = open_database(broken, limits)
        with pytest.raises(CorruptionError, match="--give-up-lost-epochs"):
            db.repair()
        if part.object in shared:
            # What later checkpoints need of the lost object is nowhere else.
            with pytest.raises(CorruptionError, match="No later checkpoint"):
                repair_as_planned(db._log, give_up_lost_epochs=True)
            assert {info.name for info in broken.list("")} == files
            continue
        mended += 1
        result = repair_as_planned(db._log, give_up_lost_epochs=True)
        db._refresh()
        assert (result.epoch, result.floor) == (db._snapshot.epoch, db._snapshot.floor)
        assert result.given_up == (floor, db._snapshot.floor - 1)
        assert floor < db._snapshot.floor <= newest
        for lost_hint in (False, True):
            if lost_hint:
                broken.delete(HINT)
            db = open_database(broken, limits)
            found, head = read_all(db), db._snapshot.epoch
            for name in TABLES:
                assert found[head, name] == expected[newest, name]
            assert {key: found[key] for key in tagged} == tagged
            assert db.verify(4).is_sound, str(db.verify(4))
        db.table("a").append(pa.table({"id": [9999]}, SCHEMA))
        assert db.vacuum(0, force=True).epoch is not None
        assert open_database(broken, limits).verify(4).is_sound
    assert mended


@pytest.mark.slow
def test_a_lost_oldest_state_that_a_pin_or_tag_keeps_is_not_given_up() -> None:
    store = make(PLAIN)
    db = open_database(store, PLAIN)
    for number in range(9):
        db.table("b").append(pa.table({"id": [7000 + number]}, SCHEMA))
    db.tag("oldest", db._refresh().floor)
    for name in floor_objects(db)[0].places:
        store.delete(name)
    with pytest.raises(CorruptionError, match="kept by tag 'oldest', is lost"):
        repair_as_planned(db._log, give_up_lost_epochs=True)
    db.untag("oldest")
    repair_as_planned(db._log, give_up_lost_epochs=True)
    assert open_database(store, PLAIN).verify(4).is_sound


@pytest.mark.slow
def test_the_hint_stays_if_a_log_cannot_be_opened_without_it() -> None:
    """The hint leads to the newest checkpoint, which a person may still restore."""
    store = make(PLAIN)
    db = open_database(store, PLAIN)
    for number in range(9):
        db.table("b").append(pa.table({"id": [7000 + number]}, SCHEMA))
    expected = read(db, "b", db.refresh().epoch)
    found = read_hint(store)
    assert found is not None
    newest = checkpoint_name(found[0].root)
    kept = store.get(newest)
    for name in (newest, *floor_objects(db)[0].places):
        store.delete(name)
    hint = store.get(HINT)
    with pytest.raises(CorruptionError):
        rebuild_caches(Log(store, limits=PLAIN), give_up_lost_epochs=True)
    assert store.get(HINT) == hint
    store.put(newest, kept, sync=False)
    db = open_database(store, PLAIN)
    db.repair(give_up_lost_epochs=True)
    assert read(db, "b", db._snapshot.epoch) == expected


WRITES = {"put", "put_if_absent", "delete"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("gone", "whole"),
    [
        pytest.param(True, False, id="missing"),
        *(
            pytest.param(gone, whole, id=name, marks=pytest.mark.long)
            for gone, whole, name in (
                (False, False, "damaged"),
                (True, True, "missing-whole"),
                (False, True, "damaged-whole"),
            )
        ),
    ],
)
def test_a_later_floor_whose_writer_was_killed_is_finished_by_the_next_repair(
    gone: bool, whole: bool
) -> None:
    """Killed before each write; also where the next repair gives nothing up."""
    limits = PAGED if whole else PLAIN
    store = make(limits)
    db = open_database(store, limits)
    for number in range(9):
        db.table("b").append(pa.table({"id": [7000 + number]}, SCHEMA))
    floor, newest, expected = db._refresh().floor, db._snapshot.epoch, read_all(db)
    shared = cached_objects(store, floor)
    lost = [part for part in floor_objects(db) if part.object not in shared]
    for part in lost if whole else lost[:1]:
        broken = clone(store)
        for name in part.places:
            if gone:
                broken.delete(name)
            else:
                broken.put(name, b"?" * part.length, sync=False)
        calm = FaultyStore(clone(broken))
        open_database(calm, limits).repair(give_up_lost_epochs=True)
        for call in [n for n, each in enumerate(calm.trace, 1) if each.operation in WRITES]:
            left = clone(broken)
            with pytest.raises(Stopped):
                open_database(FaultyStore(left, {call: Fault.STOP_BEFORE}), limits).repair(
                    give_up_lost_epochs=True
                )
            db = open_database(left, limits)
            committed = db._snapshot.floor > floor
            db.repair(give_up_lost_epochs=not committed)
            left.delete(HINT)
            db = open_database(left, limits)
            found, head = read_all(db), db._snapshot.epoch
            assert {name: found[head, name] for name in TABLES} == {
                name: expected[newest, name] for name in TABLES
            }, calm.trace[call - 1]
            if whole:
                assert db.verify(4).is_sound
                assert db.vacuum(0, force=True).epoch is not None
                assert open_database(left, limits).verify(4).is_sound


@pytest.mark.parametrize("limits", [PLAIN, PAGED, LISTED])
def test_a_repair_takes_nothing_for_lost_that_a_vacuum_beside_it_removes(limits: Limits) -> None:
    store = make(limits)

    def meanwhile() -> None:
        db = open_database(store, limits)
        for tag in db.tags():
            db.untag(tag)
        db.table("a").append(pa.table({"id": [7]}, SCHEMA))
        db.vacuum(0, force=True)

    log = Log(Hooked(store, {("get", COPIES): meanwhile}), pause=lambda _: None, limits=limits)
    repaired = rebuild_caches(log)
    head = open_database(store, limits)._log.reader.read_head()
    assert (repaired.epoch, repaired.floor) == (head.epoch, head.floor)
