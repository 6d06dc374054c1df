"""What became of a change that met a removed epoch is told only if the log proves it."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import pytest

from colonnade.manifests.commit.change import Change
from colonnade.manifests.commit.landed_changes import find_added
from colonnade.manifests.errors import CommitUnknownError, ConflictError
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.model.operations import (
    Compaction,
    CompactionInput,
    CompactionOutput,
    DropRowSet,
    DropTable,
    SetComment,
)
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.store import MemoryStore, PutOutcome
from colonnade.manifests.store.base import Data
from colonnade.manifests.vacuum.run import VacuumRequest, vacuum
from tests.log_samples import (
    ORDERS,
    TRIPS,
    append,
    change,
    delete,
    entry,
    live,
    make_log,
    table,
    vector,
    with_orders,
)

OTHERS = ("append", "trips", "comment", "delete", "drop", "compact", "create again")

SEEDS = 60
LATER = range(100, 4_100, 100)


def other_change(log: Log, state: Snapshot, kind: str, order: random.Random) -> Change | None:
    """A change of some kind of a concurrent writer; None if the table has no rows for it."""
    if ORDERS not in state.tables:
        return None
    rowsets = live(log, state.tables[ORDERS])
    match kind:
        case "append":
            return append(*(entry() for _ in range(order.randint(1, 3))))
        case "trips":
            return append(to=TRIPS)
        case "comment":
            return change(SetComment(table=ORDERS, comment=str(order.random())))
        case "create again":
            return change(DropTable(table=ORDERS), table(name="again"))
    if not rowsets:
        return None
    chosen = order.choice(rowsets)
    if kind == "delete":
        if chosen.vector or chosen.entry.rows < 2:
            return None
        return delete(chosen.id, vector(1))
    if kind == "drop":
        return change(DropRowSet(table=ORDERS, rowsets=((chosen.id, chosen.id),)))
    read = [each for each in rowsets if each.id >= chosen.id and not each.vector]
    if not read:
        return None
    inputs = tuple(CompactionInput(rowset=each.id, rows=each.entry.rows) for each in read)
    output = CompactionOutput(rowset=entry(sum(each.entry.rows for each in read)))
    return change(Compaction(table=ORDERS, inputs=inputs, outputs=(output,)))


@pytest.mark.slow
@pytest.mark.parametrize("first", [0, *(pytest.param(n, marks=pytest.mark.long) for n in LATER)])
def test_the_log_never_tells_a_wrong_outcome(first: int) -> None:
    proved = 0
    for seed in range(first, first + SEEDS):
        order = random.Random(seed)
        log = make_log(interval=order.choice((2, 64)))
        state = log.commit(change(table(TRIPS, "trips")), with_orders(log.store, log))
        for _ in range(order.randint(0, 4)):
            state = log.commit(append(), state)
        before, mine = state, replace(append(entry(), entry()), fresh=True)
        kinds = order.sample(OTHERS, order.randint(1, len(OTHERS)))
        steps = order.choices(kinds, k=order.randint(0, 6))
        lands_at = order.choice((None, order.randint(0, len(steps))))
        for number, kind in enumerate([*steps, "comment"]):
            if number == lands_at and ORDERS in state.tables:
                state = log.commit(mine, state)
            other = other_change(log, state, kind, order)
            state = state if other is None else log.commit(other, state)
        epochs = log.reader.read_epochs(state.epoch)
        landed = next((e.epoch for e in epochs if e.transaction == mine.transaction), 0)
        told = find_added(log.reader, mine, before, log.reader.read_head())
        assert told in (None, landed), f"seed {seed}: {steps}"
        if {*kinds} <= {"append", "trips", "comment"} and before.tables[ORDERS].next_rowset_id:
            assert told == landed, f"seed {seed}: {steps}"
        proved += told is not None
    assert 0 < proved < SEEDS


class Racing(MemoryStore):
    """Objects in memory. `meanwhile` is called once, right before the next epoch is put."""

    meanwhile: Callable[[], object] | None = None

    def put_if_absent(self, name: str, data: Data) -> PutOutcome:
        act, self.meanwhile = self.meanwhile, None
        if act is not None:
            act()
        return super().put_if_absent(name, data)


def raced(mine: Change, *meanwhile: Change) -> Snapshot:
    """Commit a change that loses its slot, whose epoch a vacuum then removes."""
    store = Racing()
    log = make_log(store)
    created = create_database(store, lone_table=False, clock_ms=lambda: 0, slot_block=1)
    state = log.commit(append(), log.commit(change(table()), created))

    def others() -> None:
        head = log.reader.read_head()
        for each in meanwhile:
            head = log.commit(each, head)
        vacuum(Log(store), VacuumRequest(hours=0, epochs=1, threads=1, trust_clock=True))

    store.meanwhile = others
    return make_log(store).commit(mine, state)


def test_an_append_whose_slot_was_removed_is_refused_and_can_be_repeated() -> None:
    with pytest.raises(ConflictError, match="removed by retention; read the table again"):
        raced(replace(append(), fresh=True), append(), append())


def test_an_append_that_may_have_been_sent_before_is_never_called_refused() -> None:
    with pytest.raises(CommitUnknownError, match="removed by retention; look for"):
        raced(append(), append(), append())


def test_an_append_that_landed_before_its_epoch_was_removed_is_not_called_refused() -> None:
    mine = replace(append(), fresh=True)
    with pytest.raises(CommitUnknownError, match="was committed to .* as epoch 3; do not repeat"):
        raced(mine, mine, append())


def test_an_append_stays_unknown_where_rows_that_were_added_since_are_gone() -> None:
    gone = change(DropRowSet(table=ORDERS, rowsets=((1, 1),)))
    with pytest.raises(CommitUnknownError, match="removed by retention; look for"):
        raced(replace(append(), fresh=True), append(), gone, append())


def test_a_change_that_adds_nothing_proves_nothing() -> None:
    log = make_log(MemoryStore())
    state = with_orders(log.store, log)
    comment = change(SetComment(table=ORDERS, comment="«new»"))
    assert find_added(log.reader, comment, state, log.commit(append(), state)) is None
