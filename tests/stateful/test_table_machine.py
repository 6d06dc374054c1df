"""Compare random work on a database with a model of plain lists, at every epoch.

Two handles act as two writers, and one of them may lag behind. Checkpoints come every third epoch,
so that states are read through them, without them and after they were damaged.
"""

import numpy as np
import pyarrow as pa
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from colonnade.manifests.errors import ConflictError
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.object_names import CHECKPOINTS, HINT
from colonnade.manifests.store import MemoryStore
from colonnade.tableformat.location import Location
from colonnade.tableformat.predicate import col
from colonnade.tableformat.statements.commit import commit_written
from colonnade.tableformat.table.design.new_table import new_table
from colonnade.tableformat.table.table import ArrowTable
from colonnade.tableformat.types.input.column_types import as_table_schema
from colonnade.tableformat.write.job import plan_write
from tests.examples_of import examples

SCHEMA = pa.schema([("id", pa.int64()), ("text", pa.string())])
IDS = st.lists(st.integers(0, 99), min_size=1, max_size=5)


def rows(ids: list[int]) -> pa.Table:
    return pa.table({"id": ids, "text": [f"{i:03}" for i in ids]}, SCHEMA)


class TableMachine(RuleBasedStateMachine):
    """The model is the list of ids at each epoch."""

    @initialize()
    def create(self) -> None:
        self.store = MemoryStore()
        self.location = Location(self.store, "t", exists=True)
        base = create_database(self.store, lone_table=False)
        design = new_table("t", as_table_schema(SCHEMA), sort_key=["id"])
        job = plan_write(self.location, base, "append", create=design)
        commit_written(job, (), self.log(), base)
        self.writer, self.other = self.open(), self.open()
        self.model: dict[int, list[int]] = {1: []}

    def log(self) -> Log:
        return Log(self.store, checkpoint_interval=3, pause=lambda seconds: None)

    def open(self) -> ArrowTable:
        log = self.log()
        return ArrowTable(self.location, log, log.reader.read_head())

    @property
    def head(self) -> int:
        return max(self.model)

    @rule(ids=IDS, lagging=st.booleans())
    def append(self, ids: list[int], lagging: bool) -> None:
        epoch = (self.other if lagging else self.writer).append(rows(ids))
        assert epoch == self.head + 1
        self.model[epoch] = self.model[self.head] + sorted(ids)

    @rule(ids=IDS | st.just([]), lagging=st.booleans())
    def overwrite(self, ids: list[int], lagging: bool) -> None:
        handle = self.other if lagging else self.writer
        try:
            epoch = handle.overwrite(rows(ids))
        except ConflictError:
            assert handle.epoch < self.head
            handle.refresh()
        else:
            assert epoch == self.head + 1
            self.model[epoch] = sorted(ids)

    @rule()
    def reopen(self) -> None:
        self.writer = self.open()

    @rule(data=st.data())
    def read_an_earlier_epoch(self, data: st.DataObject) -> None:
        epoch = data.draw(st.sampled_from(sorted(self.model)))
        scan = self.writer.scan(epoch=epoch)
        assert scan.to_arrow()["id"].to_pylist() == self.model[epoch]
        assert scan.to_arrow()["text"].to_pylist() == [f"{i:03}" for i in self.model[epoch]]

    @rule(low=st.integers(0, 99), high=st.integers(0, 99))
    def read_a_range(self, low: int, high: int) -> None:
        found = self.open().scan(where=col("id").between(low, high)).to_arrow()
        assert found["id"].to_pylist() == [i for i in self.model[self.head] if low <= i <= high]

    @precondition(lambda self: self.head > 6)
    @rule(seed=st.integers(0, 2**32 - 1))
    def damage_what_is_only_a_cache(self, seed: int) -> None:
        random = np.random.default_rng(seed)
        caches = sorted(i.name for i in self.store.list("") if i.name.startswith(CHECKPOINTS))
        for name in [*caches, HINT]:
            if random.random() < 0.3:
                self.store.put(name, b"damaged", sync=False)
            elif random.random() < 0.2:
                self.store.delete(name)

    @invariant()
    def a_newcomer_reads_the_model(self) -> None:
        table = self.open()
        assert table.epoch == self.head
        assert table.scan().to_arrow()["id"].to_pylist() == self.model[self.head]

    @invariant()
    def files_named_by_the_log_exist(self) -> None:
        assert [e.epoch for e in self.log().reader.read_epochs(self.head)] == [
            *range(self.head, -1, -1)
        ]


TestTableMachine = TableMachine.TestCase
TestTableMachine.settings = settings(
    max_examples=examples(40), stateful_step_count=25, deadline=None
)
