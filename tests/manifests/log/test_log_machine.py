"""The log against a dictionary: whatever is done in whatever order, both say the same."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from colonnade.manifests.errors import ConflictError
from colonnade.manifests.ids import TableId
from colonnade.manifests.limits import Limits
from colonnade.manifests.model.operations import AddDeletionVector, AddRowSet, DropRowSet, Txn
from colonnade.manifests.state.snapshot import LiveRowSet, Snapshot
from colonnade.manifests.store import MemoryStore
from tests.examples_of import examples
from tests.log_samples import (
    ORDERS,
    TRIPS,
    change,
    contents,
    database,
    drop,
    entry,
    holds,
    live,
    make_log,
    replay,
    table,
    vector,
)

NAMES = {ORDERS: "orders", TRIPS: "trips"}
tables = st.sampled_from([ORDERS, TRIPS])


class LogMachine(RuleBasedStateMachine):
    """Two writers and a model of the live rows; one of the writers rarely refreshes its head."""

    @initialize(interval=st.integers(1, 5), root_tables=st.sampled_from([0, 1, 16]))
    def create(self, interval: int, root_tables: int) -> None:
        self.store = MemoryStore()
        small = Limits(root_tables=root_tables, root_bytes=0, page_bytes=256)
        self.log = make_log(self.store, interval, limits=small)
        self.head: Snapshot = database(self.store)
        self.model: dict[TableId, dict[int, LiveRowSet]] = {}
        self.next_id: dict[TableId, int] = {}
        self.history = [self._model_copy()]
        self.stale = self.head

    def _model_copy(self) -> dict[TableId, list[LiveRowSet]]:
        return {key: [rows[i] for i in sorted(rows)] for key, rows in self.model.items()}

    def _committed(self, snapshot: Snapshot) -> None:
        assert snapshot.epoch == self.head.epoch + 1
        self.head = snapshot
        self.history.append(self._model_copy())

    @rule(key=tables, key_order=st.booleans())
    def create_table(self, key: TableId, key_order: bool) -> None:
        if key in self.next_id:
            return
        made = table(key, NAMES[key], sorted_by=1 if key_order else None)
        snapshot = self.log.commit(change(made), self.head)
        self.model[key], self.next_id[key] = {}, 0
        self._committed(snapshot)

    @precondition(lambda self: self.model)
    @rule(data=st.data(), lows=st.lists(st.integers(-50, 50), min_size=1, max_size=6))
    def append(self, data: st.DataObject, lows: list[int]) -> None:
        key = data.draw(st.sampled_from(sorted(self.model)))
        base = data.draw(st.sampled_from([self.head, self.stale]))
        if key not in base.tables:
            base = self.head
        entries = [entry(low=low, data=data.draw(st.sampled_from([None, "QUJD"]))) for low in lows]
        operations = (AddRowSet(table=key, rowset=e) for e in entries)
        snapshot = self.log.commit(change(*operations), base)
        for each in entries:
            rowset = self.next_id[key]
            self.model[key][rowset] = LiveRowSet(rowset, snapshot.epoch, each)
            self.next_id[key] += 1
        self._committed(snapshot)

    @precondition(lambda self: self.model)
    @rule(data=st.data(), apps=st.sets(st.integers(0, 40), min_size=1, max_size=20))
    def land_batches(self, data: st.DataObject, apps: set[int]) -> None:
        key = data.draw(st.sampled_from(sorted(self.model)))
        known = dict(self.head.tables[key].batches)
        versions = {f"app{app}": known.get(f"app{app}", -1) + 1 for app in apps}
        mine = change(*(Txn(table=key, app=app, version=each) for app, each in versions.items()))
        snapshot = self.log.commit(mine, self.head)
        assert snapshot.tables[key].batches == {**known, **versions}
        self._committed(snapshot)
        # Sent again as other work, the same batches have landed; beside a new one they may not be.
        again = change(*mine.ops)
        base = self.log.reader.read_head()
        assert self.log.commit(again, base).epoch == snapshot.epoch
        with pytest.raises(ConflictError, match="Only some of the batches"):
            self.log.commit(change(*mine.ops, Txn(table=key, app="new", version=0)), base)

    @precondition(lambda self: any(self.model.values()))
    @rule(data=st.data())
    def drop_rowsets(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(sorted(k for k, v in self.model.items() if v)))
        ids = data.draw(st.sets(st.sampled_from(sorted(self.model[key])), min_size=1))
        ranges = tuple((i, i) for i in sorted(ids))
        snapshot = self.log.commit(change(DropRowSet(table=key, rowsets=ranges)), self.head)
        for rowset in ids:
            del self.model[key][rowset]
        self._committed(snapshot)

    @precondition(lambda self: any(self.model.values()))
    @rule(data=st.data())
    def replace_vector(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(sorted(k for k, v in self.model.items() if v)))
        rowset = data.draw(st.sampled_from(sorted(self.model[key])))
        found = self.model[key][rowset]
        if found.row_count == 0:
            return
        new = vector(11 - found.row_count, found.vector)
        operation = AddDeletionVector(table=key, rowset=rowset, vector=new)
        snapshot = self.log.commit(change(operation), self.head)
        self.model[key][rowset] = replace(found, vector=new)
        self._committed(snapshot)

    @precondition(lambda self: self.model)
    @rule(data=st.data())
    def overwrite_from_a_stale_base(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(sorted(self.model)))
        if key not in self.stale.tables:
            return
        mine = change(DropRowSet(table=key, rowsets=()))
        since = self.log.reader.read_epochs(self.head.epoch, self.head.epoch - self.stale.epoch)
        # Batches alone change the table, but no row that is replaced.
        changed = any(
            not isinstance(op, Txn) and getattr(op, "table", None) == key
            for epoch in since
            for op in epoch.ops
        )
        if changed:
            with pytest.raises(ConflictError):
                self.log.commit(mine, self.stale)
        else:
            self._committed(self.log.commit(mine, self.stale))

    @precondition(lambda self: self.model)
    @rule(data=st.data())
    def drop_table(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(sorted(self.model)))
        snapshot = self.log.commit(drop(key), self.head)
        del self.model[key]
        self._committed(snapshot)

    @rule()
    def look_again(self) -> None:
        self.stale = self.log.reader.refresh(self.stale)

    @rule(data=st.data())
    def read_an_old_epoch(self, data: st.DataObject) -> None:
        epoch = data.draw(st.integers(0, self.head.epoch))
        state = self.log.reader.read_at(epoch)
        assert {k: live(self.log, t) for k, t in state.tables.items()} == self.history[epoch]
        by_time = self.log.reader.read_at(timestamp_ms=state.time_ms)
        assert contents(self.log, by_time) == contents(self.log, state)
        assert contents(self.log, state) == contents(self.log, replay(self.store, epoch))

    @invariant()
    def every_way_to_the_head_says_what_the_model_says(self) -> None:
        for state in (self.head, self.log.reader.read_head(), replay(self.store)):
            assert state.epoch == self.head.epoch
            for key, rowsets in self._model_copy().items():
                assert live(self.log, state.tables[key]) == rowsets
                self._check_counts(state, key, rowsets)
            assert state.tables.keys() == self.model.keys()

    def _check_counts(self, state: Snapshot, key: TableId, rowsets: list[LiveRowSet]) -> None:
        found = state.tables[key].rowsets
        assert found.rowset_count == len(rowsets)
        assert state.tables[key].next_rowset_id == self.next_id[key]
        assert found.row_count in (None, sum(r.row_count for r in rowsets))
        assert found.byte_count in (None, sum(r.entry.bytes for r in rowsets))

    @invariant()
    def pruning_leaves_what_may_match(self) -> None:
        for key, rowsets in self._model_copy().items():
            kept = self.log.rowsets.read(self.head.tables[key], holds(7))
            assert kept == [r for r in rowsets if _holds_seven(r)]


def _holds_seven(rowset: LiveRowSet) -> bool:
    low = int((rowset.entry.statistics[1].min or "")[2:])
    return low <= 7 < low + rowset.entry.rows


LogMachine.TestCase.settings = settings(
    max_examples=examples(40), stateful_step_count=30, deadline=None
)
TestLog = LogMachine.TestCase
