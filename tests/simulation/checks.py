"""What must hold at the end of a run, when nothing fails any more."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from itertools import count

from colonnade.manifests.checkpoint.reader import read_state
from colonnade.manifests.commit.change import Change
from colonnade.manifests.epochs.freed_slots import freed_slots
from colonnade.manifests.errors import CorruptionError, NotFoundError
from colonnade.manifests.ids import new_transaction_id
from colonnade.manifests.object_names import HINT, epoch_number
from colonnade.manifests.vacuum.copies import damaged_places
from colonnade.manifests.vacuum.references import StateObjects
from colonnade.manifests.vacuum.run import VacuumRequest, vacuum
from colonnade.tableformat.table.database import ArrowDatabase
from tests.simulation.feeds import read_feed
from tests.simulation.keyed.rows import COLUMNS, DATED
from tests.simulation.keyed.rows import TABLES as KEYED
from tests.simulation.keyed.statements import KeyedStep
from tests.simulation.rows import Condition, given_value
from tests.simulation.statements import Step
from tests.simulation.store import EPOCHS, ProcessStore
from tests.simulation.world import DAY_MS, TABLES, World


def check_world(world: World) -> None:
    """In good weather all is well: every epoch reads, and everybody gets on."""
    world.oracle.check_told()
    if world.is_lost and not _salvage(world):
        return
    _check_hint(world)
    for name in [name for name in TABLES if name in world.oracle.states[-1]]:
        _finish(world, name)
    for name in [name for name in KEYED if name in world.oracle.states[-1]]:
        _finish_keyed(world, name)
    database = world.open()
    assert database.refresh().epoch == world.oracle.head
    for seen in world.order.sample(world.seen, min(4, len(world.seen))):
        assert database._log.reader.refresh(seen).epoch == world.oracle.head
    assert database.tags() == world.oracle.tags
    kept = [epoch for epoch in range(2, world.oracle.head) if world.oracle.keeps(epoch)]
    wanted = {world.oracle.head, *world.oracle.tags.values(), *world.order.choices(kept, k=4)}
    for epoch in sorted(wanted):
        for name in world.oracle.states[epoch]:
            found = database.table(name, epoch=epoch).scan(epoch=epoch).to_arrow()
            world.oracle.check_read(epoch, name, Condition(), found)
    _check_feeds(world, database)
    for epoch in range(1, world.oracle.floor):
        if not world.oracle.keeps(epoch):
            with suppress(NotFoundError):
                database.table("plain", epoch=epoch)
                raise AssertionError(f"epoch {epoch} is gone and can be read")
        with suppress(NotFoundError):
            found = database._log.reader.read_at(epoch)
            told = world.oracle.epochs[epoch].transaction
            assert found.transaction == told, f"slot {epoch} was taken for an epoch"
    _check_repair(world, database)
    report = database.verify(4, threads=1)
    assert report.is_sound, str(report)
    _check_retention(world)


def _check_feeds(world: World, database: ArrowDatabase) -> None:
    """Check the changes between some kept epochs, each of them and the net ones."""
    oracle = world.oracle
    for _ in range(2):
        base = world.order.randint(max(oracle.floor, 2), oracle.head - 1)
        last = world.order.randint(base + 1, oracle.head)
        for name in oracle.tables_between(base, oracle.head):
            for net in (False, True):
                read_feed(database, oracle, name, base, last, net=net)


def _salvage(world: World) -> bool:
    """Give up the lost state, if there is a whole checkpoint. Returns whether there is."""
    if world.lost_floor == world.oracle.floor and not world.sound_checkpoints():
        world.given_up += 1
        return False
    world.now += DAY_MS  # No lease lasts so long.
    database = world.open()
    try:
        database.repair(give_up_lost_epochs=True)
    except CorruptionError:
        for tag in database.tags():
            database.untag(tag)
        for pin in database.pins():
            database.unpin(pin)
        database.repair(give_up_lost_epochs=True)
    assert not world.is_lost
    if world.order.random() < 0.5:
        world.disk.delete(HINT)
    return True


def _check_hint(world: World) -> None:
    """Check that the hint leads to a whole checkpoint, or that there is none.

    After a failure, this is true from the next vacuum on, also if it finds nothing to do.
    """
    if world.damaged or world.damaged_caches or world.losses:
        return
    database = world.open()
    if world.weather.faults:
        vacuum(database._log, VacuumRequest(1_000_000, 1, threads=1))
    report = database.verify(1, threads=1)
    assert not report.findings, str(report)


def _check_repair(world: World, database: ArrowDatabase) -> None:
    """Check that verify names all damage and nothing else, and that one repair mends it."""
    if not world.damaged:
        return
    report = database.verify(1, threads=1)
    found = {each.file for each in report.findings if each.kind == "damage"}
    assert found <= world.damaged, str(report)
    objects = StateObjects(world.disk)
    if world.oracle.anchor_list is not None:
        objects.add_anchor_list(world.oracle.anchor_list)
    for anchor in world.oracle.anchors:
        objects.add_root(anchor)
        objects.add(read_state(world.disk, anchor))
    broken = {name for part in objects.parts for name in damaged_places(world.disk, part)}
    assert broken <= {each.file for each in report.findings}, f"{broken} are not named"
    database.repair()
    report = database.verify(1, threads=1)
    assert not report.findings, str(report)


def _check_retention(world: World) -> None:
    """Whatever clocks said, a machine with a right one lets all go that is old."""
    database = world.open()
    store = database._log.store
    assert isinstance(store, ProcessStore)
    store.off_ms = 0
    for name in database.pins():
        database.unpin(name)
    for consumer in database._refresh().consumers.values():
        if consumer.until_ms > world.now + 2 * DAY_MS:  # A clock was wrong when it was renewed.
            database.drop_consumer(consumer.name)
    _end_leases(database)
    tables = sorted(database._refresh().tables.values(), key=lambda table: table.id)
    name = next(table.name for table in tables if table.name not in KEYED)
    intent = world.intend(_whole_row(world, name, world.new_ids(1)[0], 1))
    world.oracle.tell(intent, None, intent.ask(database))
    newest = world.oracle.head
    world.now += 3 * DAY_MS
    result = vacuum(database._log, VacuumRequest(24, 1, threads=1))
    assert result.floor >= newest, f"{newest} is old, and the floor {result}"
    freed = freed_slots(world.disk, database._refresh().blocks)
    listed = {epoch_number(info.name) for info in world.disk.list(EPOCHS)}
    kept = {0, *range(1, world.oracle.head + 1)} - {*freed}
    assert listed == kept, "freed slots are taken"


def _end_leases(database: ArrowDatabase) -> None:
    """End the leases of streams, which last longer than the epochs that are removed here."""
    log, head = database._log, database._refresh()
    if head.leases:
        ended = (each.model_copy(update={"until_ms": 0}) for each in head.leases.values())
        log.commit(Change(new_transaction_id(), "lease", (*ended,), fresh=True), head)


def _finish(world: World, name: str) -> None:
    """Check that every writer succeeds at its first try once faults have stopped."""
    new = world.new_ids(1)[0]
    for step in (
        _whole_row(world, name, new, 1),
        replace(_whole_row(world, name, new, 2), kind="upsert"),
        Step("delete", name, where=Condition("ids", (new,))),
    ):
        intent = world.intend(step)
        world.oracle.tell(intent, None, intent.ask(world.open()))
    world.oracle.check_told()


def _finish_keyed(world: World, name: str) -> None:
    """Check that writers of a keyed table succeed at their first try."""
    [new] = world.new_ids(1)
    row = KeyedStep("append", name, ((new, 1),), given=COLUMNS, keys=(new,))
    steps: list[Step] = [row]
    if world.oracle.facts[-1][name].key:
        [late] = world.new_ids(1)
        steps.append(replace(row, kind="upsert", rows=((late, 2),)))
        if name == DATED:
            steps.append(KeyedStep("delete_keys", name, keys=(new,), at=9))
            [later] = world.new_ids(1)
            steps.append(replace(row, kind="upsert", rows=((later, 3),)))
    for step in (*steps, Step("delete", name, where=Condition("ids", (new,)))):
        intent = world.intend(step)
        world.oracle.tell(intent, None, intent.ask(world.open()))
    world.oracle.check_told()


def _whole_row(world: World, name: str, row: int, v: int) -> Step:
    """Append a row with a value in each column."""
    given = tuple(sorted(world.oracle.columns[-1][name].whole))
    salt = next(salt for salt in count() if given_value(row, salt) is not None)
    return Step("append", name, ((row, v),), given=given, salt=salt)
