"""Whatever a process trusts, its reads find the newest epoch, and its statements stay true.

Several states of one log are used beside other writers and vacuums, which free small blocks. A
clock of the test says how long ago a look was.
"""

from __future__ import annotations

from contextlib import ExitStack
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colonnade.manifests.epochs import slot_reader
from colonnade.manifests.errors import CommitUnknownError, ConflictError, NotFoundError
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.reading import last_look, reader
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.store import MemoryStore
from colonnade.manifests.store.object_store import TRUST_S
from colonnade.manifests.vacuum import freeing, inventory
from colonnade.manifests.vacuum.run import VacuumRequest, vacuum
from tests.far_store import FarStore
from tests.log_samples import ORDERS, append, change, make_log, overwrite, table

STEPS = st.tuples(
    st.sampled_from(("append", "overwrite", "other", "vacuum", "refresh", "can_follow", "wait")),
    st.integers(0, 99),
)


class World:
    """A log with blocks of two slots, and the states that one process has seen of it."""

    def __init__(self, patched: ExitStack) -> None:
        self.now_s = 0.0
        for module in (last_look, reader, slot_reader, freeing, inventory):
            patched.enter_context(patch.object(module, "elapsed_s", lambda: self.now_s))
        near = MemoryStore(now_ms=lambda: 0)
        state = create_database(near, lone_table=False, slot_block=2, clock_ms=lambda: 0)
        self.others = make_log(near)
        self.head = self.others.commit(change(table()), state)
        self.vacuums = Log(FarStore(near), clock_ms=lambda: 0, pause=self.wait_before_marks)
        self.own = Log(FarStore(near), clock_ms=lambda: 0, pause=self.wait)
        self.states = [self.own.reader.read_head()]
        self.looks_at = self.states[0]

    def wait(self, seconds: float) -> None:
        self.now_s += seconds

    def wait_before_marks(self, seconds: float) -> None:
        """The process looks at an old state shortly before its slots are freed."""
        self.wait(seconds - 1)
        self.own.reader.can_follow(self.looks_at)
        self.wait(1)

    def act(self, word: str, number: int) -> None:
        base = self.states[number % len(self.states)]
        match word:
            case "append":
                self.commit(base, None)
            case "overwrite":
                live = self.rowsets(base)
                if live:
                    self.commit(base, live[number % len(live)])
            case "other":
                live = self.rowsets(self.head)
                rowset = live[number % len(live)] if live and number % 2 else None
                mine = append() if rowset is None else overwrite((rowset, rowset))
                self.head = self.others.commit(mine, self.head)
            case "vacuum":
                self.looks_at = base
                vacuum(self.vacuums, VacuumRequest(0, 1 + number % 3, trust_clock=True))
                self.head = self.others.reader.read_head()
            case "refresh":
                self.states.append(self.own.reader.refresh(base))
                assert self.states[-1].epoch == self.head.epoch
            case "can_follow":
                self.own.reader.can_follow(base)
            case "wait":
                self.wait(TRUST_S * number / 66)

    def commit(self, base: Snapshot, rowset: int | None) -> None:
        """Commit an append, or a statement that read a RowSet, as planned on a state."""
        mine = append() if rowset is None else overwrite((rowset, rowset))
        # A statement may only replace what the newest epoch still has.
        there = self.rowsets(self.head)
        try:
            after = self.own.commit(mine, base)
        except (CommitUnknownError, ConflictError, NotFoundError):
            assert self.others.reader.read_head() == self.head
            return
        assert after.epoch == self.head.epoch + 1
        assert rowset is None or rowset in there
        self.head = self.others.reader.read_head()
        assert self.head.transaction == mine.transaction
        self.states.append(after)

    def rowsets(self, state: Snapshot) -> list[int]:
        found = state.tables.get(ORDERS)
        return [] if found is None else [each.id for each in self.others.rowsets.read(found)]


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(steps=st.lists(STEPS, min_size=5, max_size=25))
def test_reads_find_all_commits_and_statements_are_compared_whatever_is_trusted(
    steps: list[tuple[str, int]],
) -> None:
    with ExitStack() as patched:
        world = World(patched)
        for step in steps:
            world.act(*step)


def test_an_old_state_does_not_hide_an_own_commit_after_its_slots_were_freed() -> None:
    with ExitStack() as patched:
        world = World(patched)
        for _ in range(6):
            world.act("other", 0)
        world.act("append", 0)
        world.act("wait", 99)
        world.act("vacuum", 0)
        assert world.own.reader.last_look.covers(world.states[0])
        world.act("refresh", 0)
