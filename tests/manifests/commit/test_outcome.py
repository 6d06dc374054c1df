"""A change that was not committed says so, and one that may be names its transaction."""

from __future__ import annotations

from colonnade.manifests.commit.outcome import (
    NotCommitted,
    Unknown,
    not_sent,
    outpaced,
    perhaps_sent,
    removed_base,
)
from colonnade.manifests.errors import (
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
    removed = removed_base(mine, base)
    assert removed == (
        "Epochs after epoch 1, on which 'append' was planned, were removed by retention;"
    )
    look = f"look for transaction {mine.transaction} in the history before you repeat it."
    assert str(perhaps_sent(removed, mine.transaction)).endswith(f"by retention; {look}")
    assert str(not_sent(removed)).endswith("by retention; read the table again and repeat it.")


def test_a_change_that_lost_all_its_races_says_whether_it_may_still_be_committed() -> None:
    mine = append()
    lost = outpaced(mine, 200, perhaps=False)
    assert isinstance(lost, NotCommitted)
    assert isinstance(lost.error, ConflictError)
    said = "'append' lost 200 commit races in a row; nothing was committed; run it again."
    assert lost.error.message == said
    unknown = outpaced(mine, 200, perhaps=True)
    assert isinstance(unknown, Unknown)
    assert mine.transaction in unknown.error.message
