"""A change that was not committed says so, and one that may be names its transaction."""

from __future__ import annotations

from colonnade.manifests.commit.outcome_errors import not_sent, outdated_error, perhaps_sent
from colonnade.manifests.errors import (
    CommitUnknownError,
    ConflictError,
)
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.store import MemoryStore
from tests.log_samples import append, make_log, with_orders


def started(store: MemoryStore | None = None, epochs: int = 0) -> tuple[MemoryStore, Snapshot]:
    """A log with the table `orders`, and the state before its last `epochs` appends."""
    store = store or MemoryStore()
    log = make_log(store)
    base = state = with_orders(store, log)
    for _ in range(epochs):
        state = log.commit(append(), state)
    return store, base


def test_the_errors_say_what_was_removed_and_what_to_do() -> None:
    _, base = started()
    mine = append()
    unknown = outdated_error(mine, base, sent=True)
    refused = outdated_error(mine, base, sent=False)
    removed = "Epochs after epoch 1, on which 'append' was planned, were removed by retention;"
    assert isinstance(unknown, CommitUnknownError)
    assert str(unknown) == str(perhaps_sent(removed, mine.transaction))
    assert mine.transaction in str(unknown)
    assert isinstance(refused, ConflictError)
    assert str(refused) == str(not_sent(removed))
    assert str(refused).endswith("read the table again and repeat it.")
