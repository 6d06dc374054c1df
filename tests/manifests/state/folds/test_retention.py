"""What keeps an epoch: no accepted vacuum removes one that a tag, a pin or a lease needs."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.model.entries import ByteCheck
from colonnade.manifests.model.operations import (
    AnchorList,
    CheckpointRef,
    DropConsumer,
    Lease,
    Pin,
    SetConsumer,
    Tag,
    Unpin,
    Untag,
    Vacuum,
)
from colonnade.manifests.state.folds.retention import RetentionFold
from colonnade.manifests.store import MemoryStore
from tests.examples_of import examples
from tests.log_samples import database

NAMES = st.sampled_from(("a", "b", "c"))
JOBS = st.sampled_from(("1" * 16, "2" * 16))
CHECK = ByteCheck(length=1, crc32c=1)


KINDS = (
    *("tag", "untag", "pin", "unpin", "lease", "vacuum"),
    *("consumer", "drop consumer", "end consumer"),
)


def consumer(name: str, seen: int, known: SetConsumer | None = None) -> SetConsumer:
    before = None if known is None else known.seen
    return SetConsumer(name=name, source="a" * 16, seen=seen, before=before, until_ms=9, keep_ms=9)


def fresh() -> RetentionFold:
    return RetentionFold(database(MemoryStore()))


def anchor(epoch: int) -> CheckpointRef:
    return CheckpointRef(epoch=epoch, root=f"{epoch:032x}", check=CHECK)


def vacuum(floor: int, *below: int) -> Vacuum:
    return Vacuum(floor=floor, anchors=tuple(map(anchor, sorted({*below, floor}))))


def state(fold: RetentionFold) -> tuple[Any, ...]:
    kept = [{**each} for each in (fold.tags, fold.pins, fold.leases, fold.consumers)]
    return fold.floor, fold.anchors, *kept


def kept_epochs(fold: RetentionFold) -> set[int]:
    return {*fold.tags.values(), *(pin.epoch for pin in fold.pins.values())}


def is_readable(fold: RetentionFold, epoch: int) -> bool:
    return epoch >= fold.floor or any(each.epoch == epoch for each in fold.anchors)


@settings(max_examples=examples(200), deadline=None)
@given(st.data())
def test_an_accepted_vacuum_removes_no_epoch_that_is_kept_and_a_refused_one_would(
    data: st.DataObject,
) -> None:
    fold = fresh()
    for epoch in range(1, data.draw(st.integers(2, 14))):
        # A commit names only epochs that are readable (`conflicts.py`).
        readable = [each for each in range(epoch) if is_readable(fold, each)]
        some = st.sampled_from(readable)
        at_floor = st.sampled_from([each for each in readable if each >= fold.floor])
        match data.draw(st.sampled_from(KINDS)):
            case "tag" if (name := data.draw(NAMES)) not in fold.tags:
                fold.set_or_remove(epoch, Tag(name=name, epoch=data.draw(some)))
            case "untag" if fold.tags:
                name = data.draw(st.sampled_from(sorted(fold.tags)))
                fold.set_or_remove(epoch, Untag(name=name))
            case "pin" if (name := data.draw(NAMES)) not in fold.pins:
                fold.set_or_remove(epoch, Pin(name=name, epoch=data.draw(some), until_ms=9))
            case "unpin" if fold.pins:
                name = data.draw(st.sampled_from(sorted(fold.pins)))
                fold.set_or_remove(epoch, Unpin(name=name))
            case "lease":
                job = data.draw(JOBS)
                held = fold.leases.get(job)
                begun = held.epoch if held else data.draw(at_floor)
                until = data.draw(st.integers(0, 1))
                fold.lease(epoch, Lease(job=job, epoch=begun, until_ms=until))
            case "consumer":
                name = data.draw(NAMES)
                known = fold.consumers.get(name)
                fold.consume(epoch, consumer(name, data.draw(at_floor), known))
            case "drop consumer" if fold.consumers:
                name = data.draw(st.sampled_from(sorted(fold.consumers)))
                fold.consume(epoch, DropConsumer(name=name))
            case "end consumer" if fold.consumers:
                name = data.draw(st.sampled_from(sorted(fold.consumers)))
                fold.consume(epoch, fold.consumers[name].ended())
            case "vacuum":
                floor = data.draw(at_floor)
                anchored = data.draw(st.sets(some))
                check_vacuum(fold, epoch, vacuum(floor, *(e for e in anchored if e < floor)))
        assert all(is_readable(fold, each) for each in kept_epochs(fold))
        assert all(lease.epoch >= fold.floor for lease in fold.leases.values())
        waiting = (each for each in fold.consumers.values() if each.until_ms)
        assert all(each.seen >= fold.floor for each in waiting)


def check_vacuum(fold: RetentionFold, epoch: int, operation: Vacuum) -> None:
    """Apply a vacuum, which is refused exactly if it would remove an epoch that is kept."""
    anchored = {each.epoch for each in operation.anchors}
    lost = {each for each in kept_epochs(fold) if each < operation.floor} - anchored
    held = {each.epoch for each in fold.leases.values() if each.epoch < operation.floor}
    waiting = (each for each in fold.consumers.values() if each.until_ms)
    held |= {each.seen for each in waiting if each.seen < operation.floor}
    if not (lost or held):
        fold.vacuum(epoch, operation)
        assert fold.floor == operation.floor
        assert fold.anchors == operation.anchors
        return
    before = state(fold)
    with pytest.raises(CorruptionError, match="which a tag, pin, lease or consumer keeps"):
        fold.vacuum(epoch, operation)
    assert state(fold) == before


@pytest.mark.parametrize(
    ("operation", "sentence"),
    [
        (vacuum(5), "moves the floor to epoch 5"),
        (Vacuum(floor=3), "do not fit a floor at 3"),
        (Vacuum(floor=3, anchors=(anchor(2),)), "do not fit a floor at 3"),
        (Vacuum(floor=3, anchors=(anchor(3), anchor(3))), "do not fit a floor at 3"),
        (
            vacuum(3, 1).model_copy(
                update={"anchor_list": AnchorList(object="a" * 32, check=CHECK)}
            ),
            "has an anchor list, and other anchors",
        ),
    ],
)
def test_a_vacuum_whose_anchors_do_not_fit_its_floor_is_refused(
    operation: Vacuum, sentence: str
) -> None:
    with pytest.raises(CorruptionError, match=f"Epoch 5 .*{sentence}"):
        fresh().vacuum(5, operation)


@pytest.mark.parametrize(
    ("operation", "sentence"),
    [
        (consumer("a", 3), "moves the consumer 'a' from another epoch"),
        (consumer("a", 3, consumer("a", 1)), "moves the consumer 'a' from another epoch"),
        (consumer("b", 3, consumer("b", 2)), "moves the consumer 'b' from another epoch"),
        (consumer("a", 5, consumer("a", 2)), "or to itself"),
        (
            consumer("a", 3, consumer("a", 2)).model_copy(update={"source": "b" * 16}),
            "moves the consumer 'a' to another table",
        ),
        (DropConsumer(name="b"), "removes the consumer 'b', which does not exist"),
    ],
)
def test_a_consumer_moves_only_from_where_it_is(
    operation: SetConsumer | DropConsumer, sentence: str
) -> None:
    fold = fresh()
    fold.consume(4, consumer("a", 2))
    with pytest.raises(CorruptionError, match=f"Epoch 5 .*{sentence}"):
        fold.consume(5, operation)


def test_nothing_keeps_an_epoch_that_does_not_precede_it() -> None:
    fold = fresh()
    for operation in (Tag(name="a", epoch=5), Pin(name="a", epoch=5, until_ms=9)):
        with pytest.raises(CorruptionError, match="Epoch 5 keeps epoch 5"):
            fold.set_or_remove(5, operation)
    with pytest.raises(CorruptionError, match="Epoch 5 leases epoch 5"):
        fold.lease(5, Lease(job="1" * 16, epoch=5, until_ms=9))
    assert state(fold) == state(fresh())


def test_a_tag_is_given_once_and_a_pin_is_only_extended() -> None:
    fold = fresh()
    fold.set_or_remove(5, Tag(name="a", epoch=1))
    fold.set_or_remove(5, Pin(name="a", epoch=1, until_ms=9))
    fold.set_or_remove(6, Pin(name="a", epoch=1, until_ms=3))
    assert fold.pins["a"].until_ms == 9
    for operation in (
        Tag(name="a", epoch=1),
        Untag(name="b"),
        Pin(name="a", epoch=2, until_ms=9),
        Unpin(name="b"),
    ):
        with pytest.raises(CorruptionError):
            fold.set_or_remove(7, operation)


def test_an_ended_lease_may_be_ended_again() -> None:
    fold = fresh()
    end = Lease(job="1" * 16, epoch=3, until_ms=0)
    fold.lease(4, end.model_copy(update={"until_ms": 9}))
    fold.lease(5, end)
    fold.lease(6, end)
    assert fold.leases == {}
