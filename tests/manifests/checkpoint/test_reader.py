"""Readers use a checkpoint that says what the log says, and no other one."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from colonnade.manifests.checkpoint.reader import read_entry_segment, read_root
from colonnade.manifests.checkpoint.root import Hint
from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.model.codec import decode_model, encode_model, seal, unseal
from colonnade.manifests.object_names import CHECKPOINTS, HINT, checkpoint_name, epoch_name
from colonnade.manifests.store import MemoryStore
from tests.faults import FaultyStore
from tests.log_samples import (
    append,
    contents,
    make_log,
    replay,
    with_orders,
)
from tests.manifests.checkpoint.tables import checkpointed, names


def test_a_reader_uses_the_checkpoint_and_not_the_epochs_before_it() -> None:
    store, _, state = checkpointed()
    watched = FaultyStore(store)
    log = make_log(watched)
    assert contents(log, log.reader.read_head()) == contents(log, state)
    read = {call.name for call in watched.trace}
    assert HINT in read
    assert not {epoch_name(n) for n in range(8)} & read


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["hint", "root", "segment"])
@pytest.mark.parametrize("quarter", range(4))
def test_no_flipped_bit_or_truncation_of_a_checkpoint_changes_what_is_read(
    quarter: int, kind: str
) -> None:
    store, log, state = checkpointed()
    expected = contents(log, state)
    hint = decode_model(Hint, store.get(HINT), HINT)
    root = checkpoint_name(hint.root)
    segment = next(n for n in names(store, CHECKPOINTS) if n != root)
    name = {"hint": HINT, "root": root, "segment": segment}[kind]
    data = store.get(name)
    step = 1 if kind == "hint" else 11  # coprime to 8: every bit position, one byte in eleven
    damages = [bytes_with_flip(data, bit) for bit in range(0, len(data) * 8, step)]
    damages += [data[:end] for end in range(1, len(data), step)]
    for damaged in damages[quarter::4]:
        store.put(name, damaged, sync=False)
        assert contents(log, log.reader.read_head()) == expected
    store.delete(name)
    assert contents(log, log.reader.read_head()) == expected


@pytest.mark.slow
def test_every_flipped_bit_and_truncation_of_a_root_and_a_segment_is_detected() -> None:
    store, _, state = checkpointed()
    hint = decode_model(Hint, store.get(HINT), HINT)
    orders = state.table("orders")
    ref = orders.rowsets.segments[0]
    readers: dict[str, Callable[[], object]] = {
        checkpoint_name(hint.root): lambda: read_root(store, hint),
        checkpoint_name(ref.segment.object): lambda: read_entry_segment(store, orders, ref),
    }
    for name, read in readers.items():
        data = store.get(name)
        read()
        flips = (bytes_with_flip(data, bit) for bit in range(len(data) * 8))
        for damaged in (*flips, *(data[:end] for end in range(1, len(data)))):
            store.put(name, damaged, sync=False)
            with pytest.raises(CorruptionError):
                read()
        another = seal(unseal(data, name).replace(b":1,", b":2,", 1))
        for exchanged in (another, seal(b"{}")):
            store.put(name, exchanged, sync=False)
            with pytest.raises(CorruptionError, match="instead of|checksum"):
                read()
        store.put(name, data, sync=False)


def bytes_with_flip(data: bytes, bit: int) -> bytes:
    damaged = bytearray(data)
    damaged[bit // 8] ^= 1 << bit % 8
    return bytes(damaged)


def test_a_hint_of_what_never_happened_is_ignored() -> None:
    store, log, state = checkpointed()
    other, _, _ = checkpointed()
    hint = decode_model(Hint, store.get(HINT), HINT)
    foreign = decode_model(Hint, other.get(HINT), HINT)
    for name in names(other, CHECKPOINTS):
        store.put(name, other.get(name), sync=False)
    forged = [
        foreign,
        hint.model_copy(update={"epoch": 9}),
        hint.model_copy(update={"epoch": 900}),
        hint.model_copy(update={"root": foreign.root, "check": foreign.check}),
    ]
    for wrong in forged:
        store.put(HINT, encode_model(wrong), sync=False)
        assert contents(log, log.reader.read_head()) == contents(log, state)


def test_a_log_that_was_rolled_back_behind_its_checkpoint_is_refused() -> None:
    store, log, _ = checkpointed()
    store.delete(epoch_name(9))
    store.delete(epoch_name(8))
    with pytest.raises(CorruptionError, match=rf"{epoch_name(8)} is missing.*remove .*{HINT}"):
        log.reader.read_head()
    store.delete(HINT)
    assert log.reader.read_head().epoch == 7
    assert contents(log, log.reader.read_head()) == contents(log, replay(store))


def test_a_hint_of_another_database_beyond_the_head_is_ignored() -> None:
    other, _, _ = checkpointed()
    store = MemoryStore()
    state = with_orders(store, make_log(store))
    for name in (HINT, *names(other, CHECKPOINTS)):
        store.put(name, other.get(name), sync=False)
    assert make_log(store).reader.read_head() == state
    for _ in range(8):
        state = make_log(store, 8).commit(append(), state)
    assert make_log(store).reader.read_head().epoch == 9
