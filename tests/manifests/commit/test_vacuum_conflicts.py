"""A vacuum gives way to what concerns it, in whatever part of it, and to nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import pytest

from colonnade.manifests.commit import attempt
from colonnade.manifests.commit.change import ColumnFill
from colonnade.manifests.epochs.slots import read_slot
from colonnade.manifests.errors import ConflictError
from colonnade.manifests.ids import new_job_id
from colonnade.manifests.limits import Limits
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.model.operations import (
    Lease,
    Operation,
    Pin,
    SetConsumer,
    Tag,
    Unpin,
    Untag,
)
from colonnade.manifests.store import ObjectStore
from colonnade.manifests.vacuum import inventory, run
from tests.log_samples import ORDERS, append, change
from tests.manifests.vacuum.world import SLOT, World, busy, during


def looks(world: World, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The epochs that runs look at from here on."""
    seen: list[int] = []
    real = inventory.take_inventory

    def noted(*given):  # type: ignore[no-untyped-def]
        found = real(*given)
        seen.append(found.head.epoch)
        return found

    monkeypatch.setattr(run, "take_inventory", noted)
    return seen


@pytest.mark.parametrize("listed", [0, 1024])
@pytest.mark.parametrize("victims", [1, 2, 3])
def test_no_part_removes_what_was_committed_before_the_first(victims: int, listed: int) -> None:
    world = busy(limits=Limits(victims=victims, listed_rowsets=listed))
    mine, base = [world.write() for _ in range(5)], world.head
    during(world, SLOT, lambda: world.send(append(*mine), base))
    world.append()
    world.check_tidy()


def test_all_parts_together_read_an_epoch_since_the_look_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = busy(limits=Limits(victims=1))
    for _ in range(10):
        world.write()
    read: list[int] = []

    def counted(store: ObjectStore, number: int) -> Epoch | None:
        read.append(number)
        return read_slot(store, number)

    def append_some() -> None:
        for _ in range(5):
            world.append()
        monkeypatch.setattr(attempt, "read_slot", counted)

    during(world, SLOT, append_some)
    assert len(set(read)) > 10
    assert max(Counter(read).values()) <= 2
    world.check_tidy()


@pytest.mark.parametrize("listed", [0, 1024])
def test_a_large_append_whose_files_are_named_is_refused(listed: int) -> None:
    world = busy(limits=Limits(victims=1, listed_rowsets=listed))
    mine, base = [world.write() for _ in range(3)], world.head
    world.vacuum()
    with pytest.raises(ConflictError, match="removed by the vacuum"):
        world.log.commit(append(*mine), base)
    world.check_tidy()


@pytest.mark.parametrize("files", [1, 3])
def test_a_fill_whose_files_were_removed_is_refused(files: int) -> None:
    """The operations of a fill are made at its slot, so only its job tells which files it has."""
    world = busy(limits=Limits(victims=1))
    base, job = world.head, new_job_id()
    for _ in range(files):
        world.write(job)
    fill = ColumnFill(ORDERS, lambda _: ((), {}))
    late = replace(change(name="backfill"), job_id=job, fill=fill, fresh=True)
    world.vacuum()
    with pytest.raises(ConflictError, match="removed by the vacuum"):
        world.log.commit(late, base)
    other = replace(late, job_id=new_job_id())
    assert world.log.commit(other, base).epoch == world.log.reader.read_head().epoch


def held() -> World:
    """A world with a tag, a pin and a lease that a vacuum has read."""
    world = busy()
    until = world.now * 2
    world.commit(
        Tag(name="t", epoch=4),
        Pin(name="p", epoch=6, until_ms=until),
        Lease(job="a" * 16, epoch=6, until_ms=until),
        consumer("c", 6, None, until),
    )
    return world


def consumer(name: str, seen: int, before: int | None, until: int) -> SetConsumer:
    return SetConsumer(
        name=name, source=ORDERS, seen=seen, before=before, until_ms=until, keep_ms=9
    )


NOTHING_TO_IT: dict[str, Callable[[World], tuple[Operation, ...]]] = {
    "a tag": lambda world: (Tag(name="new", epoch=7),),
    "a tag of what another keeps": lambda world: (Tag(name="new", epoch=4),),
    "the end of a tag": lambda world: (Untag(name="t"),),
    "a pin": lambda world: (Pin(name="new", epoch=7, until_ms=world.now * 2),),
    "a longer pin": lambda world: (Pin(name="p", epoch=6, until_ms=world.now * 3),),
    "the end of a pin": lambda world: (Unpin(name="p"),),
    "a lease": lambda world: (Lease(job=new_job_id(), epoch=7, until_ms=world.now * 2),),
    "the end of a lease": lambda world: (Lease(job="a" * 16, epoch=6, until_ms=0),),
    "a consumer": lambda world: (consumer("new", 7, None, world.now * 2),),
    "an append": lambda world: append(*(world.write() for _ in range(3))).ops,
}


@pytest.mark.parametrize("what", NOTHING_TO_IT)
def test_a_commit_that_does_not_concern_a_vacuum_leaves_it_alone(
    what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = held()
    seen = looks(world, monkeypatch)
    during(world, SLOT, lambda: world.commit(*NOTHING_TO_IT[what](world)))
    assert len(seen) == 1
    world.check()


CONCERNS_IT: dict[str, Callable[[World], tuple[Operation, ...]]] = {
    "a tag of an epoch that it lets go": lambda world: (Tag(name="new", epoch=2),),
    "a pin of one": lambda world: (Pin(name="new", epoch=2, until_ms=world.now * 2),),
    "a lease of one": lambda world: (Lease(job="b" * 16, epoch=2, until_ms=world.now * 2),),
    "a lease of a job that wrote a victim": lambda world: (
        Lease(job="c" * 16, epoch=7, until_ms=world.now * 2),
    ),
    "a consumer of one": lambda world: (consumer("new", 2, None, world.now * 2),),
    "a pin that it ends": lambda world: (Pin(name="over", epoch=6, until_ms=world.now * 2),),
    "the end of a pin that it ends": lambda world: (Unpin(name="over"),),
    "a lease that it ends": lambda world: (Lease(job="d" * 16, epoch=6, until_ms=world.now * 2),),
}


@pytest.mark.parametrize("what", CONCERNS_IT)
def test_a_commit_that_concerns_a_vacuum_makes_it_look_again(
    what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = held()
    world.write("c" * 16)
    soon = world.now + 1000
    world.commit(
        Pin(name="over", epoch=6, until_ms=soon), Lease(job="d" * 16, epoch=6, until_ms=soon)
    )
    world.wait(1)
    seen = looks(world, monkeypatch)
    during(world, SLOT, lambda: world.commit(*CONCERNS_IT[what](world)))
    assert len(seen) == 2
    world.check()


def test_another_vacuum_in_between_makes_it_look_again(monkeypatch: pytest.MonkeyPatch) -> None:
    world = busy()
    seen = looks(world, monkeypatch)
    during(world, SLOT, world.vacuum)
    assert len(seen) > 2
    world.check_tidy()
