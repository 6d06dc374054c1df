"""What a process remembers of the epochs that it has followed: a run without gaps."""

from __future__ import annotations

from functools import cache

from hypothesis import given
from hypothesis import strategies as st

from colonnade.manifests.commit.recent_epochs import KEPT, RecentEpochs
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.model.members import only_adds, transactions_of
from colonnade.manifests.model.operations import SetComment
from colonnade.manifests.state.fold import apply_epoch
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.store import MemoryStore
from tests.log_samples import (
    ORDERS,
    append,
    change,
    epoch_after,
    make_log,
    with_orders,
)

LENGTH = 8
LOGS = ("a", "b")


@cache
def logs() -> dict[str, list[tuple[Epoch, Snapshot]]]:
    """Return two logs that begin alike: epochs from 2 on, each with the state after it."""
    store = MemoryStore()
    base = with_orders(store, make_log(store))
    made: dict[str, list[tuple[Epoch, Snapshot]]] = {}
    for name in LOGS:
        state, made[name] = base, []
        for number in range(LENGTH):
            if number == 2 and name == "b":
                state, made[name] = made["a"][1][1], made["a"][:2]
            epoch = after(state, is_append=number % 3 > 0)
            state = apply_epoch(state, epoch)
            made[name].append((epoch, state))
    return made


def after(state: Snapshot, *, is_append: bool = True) -> Epoch:
    """Return an epoch that may follow a state."""
    comment = change(SetComment(table=ORDERS, comment="x"))
    return epoch_after(state, append() if is_append else comment)


@given(
    st.lists(st.tuples(st.sampled_from(LOGS), st.integers(0, LENGTH - 1)), max_size=20),
    st.sampled_from(LOGS),
    st.integers(0, LENGTH - 1),
)
def test_the_remembered_epochs_lead_to_the_head_and_tell_what_the_log_has(
    added: list[tuple[str, int]], name: str, last: int
) -> None:
    """Epochs may be added in any order, twice, with gaps, and from a log that replaced another."""
    recent = RecentEpochs()
    for log, number in added:
        recent.add(logs()[log][number][0])
    found = recent.up_to(logs()[name][last][1])
    truth = [epoch for epoch, _ in logs()[name][: last + 1]]
    expected = truth[len(truth) - len(found) :]
    assert [each.epoch for each in found] == [each.epoch for each in expected]
    assert [each.previous for each in found] == [each.previous for each in expected]
    assert [each.transactions for each in found] == [{*transactions_of(e)} for e in expected]
    assert [each.appends for each in found] == [only_adds(each) for each in expected]


def test_all_epochs_are_remembered_that_were_added_in_order_up_to_a_limit() -> None:
    store = MemoryStore()
    state = with_orders(store, make_log(store))
    recent, epochs, states = RecentEpochs(), list[Epoch](), [state]
    for _ in range(KEPT + 5):
        epochs.append(after(states[-1]))
        recent.add(epochs[-1])
        states.append(apply_epoch(states[-1], epochs[-1]))
    # A thread that is slower adds an earlier epoch again, and asks for an earlier head.
    recent.add(epochs[-10])
    kept = [each.epoch for each in states[-KEPT:]]
    assert [each.epoch for each in recent.up_to(states[-1])] == kept
    assert [each.epoch for each in recent.up_to(states[-10])] == kept[:-9]
    assert not recent.up_to(states[0])
