"""Changes that become one epoch, for tests of shared epochs."""

from __future__ import annotations

from functools import partial

from colonnade.manifests.commit.change import Change
from colonnade.manifests.model.epoch import Epoch, FurtherChange
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.store import ObjectStore
from tests.log_samples import append, make_log
from tests.noted_store import NotedStore, NotedTurn


def commit_together(store: NotedStore, changes: list[Change], base: Snapshot) -> list[Snapshot]:
    """Let all changes but the last one wait, and the last one have the turn meanwhile."""
    found: dict[int, Snapshot] = {}

    def commit(number: int) -> None:
        if number + 1 < len(changes):
            store.meanwhile = partial(commit, number + 1)
        found[number] = make_log(store).commit(changes[number], base)

    commit(0)
    store.statements = b""
    return [found[number] for number in range(len(changes))]


def epochs_of(store: ObjectStore) -> list[Epoch]:
    log = make_log(store)
    return [*log.read_epochs(log.read_head().epoch)][::-1]


def shared_epoch(base: Snapshot) -> Epoch:
    """An epoch after `base` with two appends."""
    mine, other = append(), append()
    return Epoch(
        epoch=base.epoch + 1,
        transaction=mine.transaction,
        previous=base.transaction,
        base=base.epoch,
        time_ms=base.time_ms + 1,
        operation="append",
        engine="test",
        further=(
            FurtherChange(
                transaction=other.transaction,
                base=base.epoch,
                operation="append",
                engine="test",
                ops=1,
            ),
        ),
        ops=(*mine.ops, *other.ops),
    )


class RefusingTurn(NotedTurn):
    """A turn that refuses its writer at first, so that the writer waits without a note."""

    def __init__(self, store: NotedStore) -> None:
        super().__init__(store)
        self._asked = 0

    def take(self, wait_s: float) -> bool:
        self._asked += 1
        return self._asked > 1

    def leave(self, note: bytes) -> bool:
        raise AssertionError("a note was left")
