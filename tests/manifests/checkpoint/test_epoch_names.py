"""The names in epochs are stored by epoch, and a file of another version says nothing."""

from __future__ import annotations

import random

import pytest

from colonnade.manifests.checkpoint import epoch_names
from colonnade.manifests.checkpoint.epoch_names import (
    EpochNames,
    decode_epoch_names,
    encode_epoch_names,
    read_epoch_names,
    write_epoch_names,
)
from colonnade.manifests.model.codec import seal, unseal
from colonnade.manifests.object_names import EPOCH_NAMES
from colonnade.manifests.store import MemoryStore
from tests.log_samples import database


def some_names(order: random.Random, epochs: int) -> EpochNames:
    def ids() -> tuple[str, ...]:
        return tuple(order.randbytes(16).hex() for _ in range(order.choice((0, 1, 1, 3))))

    names = tuple(ids() for _ in range(epochs))
    return EpochNames(order.randrange(1, 1000), order.randbytes(16).hex(), names)


@pytest.mark.parametrize("seed", range(20))
def test_names_are_read_as_they_were_written(seed: int) -> None:
    names = some_names(random.Random(seed), 1 + seed)
    assert decode_epoch_names(encode_epoch_names(names), "a file") == names


@pytest.mark.parametrize("seed", range(20))
def test_the_names_of_two_spans_are_those_of_both_and_each_epoch_can_begin(seed: int) -> None:
    order = random.Random(seed)
    whole = some_names(order, 12)
    for middle in range(whole.first - 1, whole.last + 1):
        later = whole.after(middle)
        assert (later.first, later.last) == (middle + 1, whole.last)
        earlier = EpochNames(whole.first, "b" * 32, whole.names[: middle + 1 - whole.first])
        assert earlier.last == middle
        assert earlier.followed_by(later) == whole
        assert earlier.objects() | later.objects() == whole.objects()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"format_version":1', b'"format_version":2'),
        (b'"epochs":1', b'"epochs":1,"colours":2'),
        (b'"epochs":1', b'"epochs":2'),
        (b'"epochs":1', b'"epochs":0'),
        (b'"epochs":1', b'"epochs":1000000000000000'),
        (b'"first":7', b'"first":-7'),
        (b'"base":"1"', b'"base":"-1"'),
        (b'"base":"1"', b'"base":"2"'),
        (b'"transaction":"a', b'"transaction":"A'),
    ],
)
def test_names_of_another_version_or_with_wrong_counts_are_not_known(
    old: bytes, new: bytes
) -> None:
    store = MemoryStore()
    database(store)
    write_epoch_names(store, EpochNames(7, "a" * 32, (("1" * 32,),)))
    body = unseal(store.get(EPOCH_NAMES), EPOCH_NAMES)
    assert old in body
    store.put(EPOCH_NAMES, seal(body.replace(old, new)), sync=True)
    assert read_epoch_names(store) is None


def test_more_epochs_than_a_file_may_have_are_not_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    store = MemoryStore()
    database(store)
    monkeypatch.setattr(epoch_names, "EPOCHS_LIMIT", 3)
    write_epoch_names(store, EpochNames(1, "a" * 32, ((), (), ())))
    assert read_epoch_names(store) is not None
    write_epoch_names(store, EpochNames(1, "a" * 32, ((), (), (), ())))
    assert read_epoch_names(store) is None
