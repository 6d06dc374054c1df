"""Random statements on a database, by writers of whom some lag behind, against plain dicts.

Faults and pre-emption are the simulation's; here hypothesis finds the shortest story, and every
step ends with all tables read by a newcomer.
"""

from __future__ import annotations

import random

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from colonnade.manifests.errors import (
    AlreadyExistsError,
    ColonnadeError,
    CorruptionError,
    NotFoundError,
)
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.object_names import CHECKPOINTS, HINT
from colonnade.tableformat.table.database import ArrowDatabase
from tests.examples_of import examples
from tests.simulation.chance import random_rows, random_step
from tests.simulation.intents import Intent
from tests.simulation.oracle import Oracle
from tests.simulation.rows import SCHEMA, Condition
from tests.simulation.statements import Step
from tests.simulation.store import Disk

TABLES = st.sampled_from(("plain", "strict"))
WRITERS = st.sampled_from((0, 1))
ORDERS = st.randoms(use_true_random=False)


class DatabaseMachine(RuleBasedStateMachine):
    """The oracle hears of each epoch as it lands, and has the rows of all of them."""

    @initialize()
    def create(self) -> None:
        self.oracle = Oracle(frozenset({"strict"}))
        self.disk = Disk(self.oracle.land)
        create_database(self.disk, lone_table=False)
        self.asked = self.rows = 0
        first = self.open()
        for name in ("plain", "strict"):
            first.create_table(
                name, SCHEMA, properties={"isolation": "serializable"} if name == "strict" else {}
            )
        self.writers = [self.open(), self.open()]

    def open(self) -> ArrowDatabase:
        log = Log(self.disk, checkpoint_interval=3, pause=lambda seconds: None)
        return ArrowDatabase(self.disk, log, log.reader.read_head())

    def new_ids(self, wanted: int) -> list[int]:
        self.rows += wanted
        return [*range(self.rows - wanted, self.rows)]

    def step(self, order: random.Random, table: str, writer: int) -> Step:
        seen = self.writers[writer]._snapshot.epoch
        return random_step(order, table, self.oracle.states[seen][table], self.new_ids)

    def ask(self, writer: int, *steps: Step) -> None:
        self.asked += 1
        intent = Intent(f"i{self.asked}", steps)
        try:
            epoch = intent.ask(self.writers[writer])
        except CorruptionError:
            raise
        except ColonnadeError as error:
            self.oracle.tell(intent, error, None)
        else:
            self.oracle.tell(intent, None, epoch)
        self.oracle.check_told()

    @rule(order=ORDERS, table=TABLES, writer=WRITERS)
    def change(self, order: random.Random, table: str, writer: int) -> None:
        self.ask(writer, self.step(order, table, writer))

    @rule(order=ORDERS, writer=WRITERS)
    def change_both(self, order: random.Random, writer: int) -> None:
        steps = [self.step(order, table, writer) for table in ("plain", "strict", "plain")]
        ids = self.new_ids(1)
        self.ask(writer, *steps, Step("create", f"t{ids[0]}", random_rows(order, ids)))

    @rule(data=st.data(), table=TABLES, writer=WRITERS)
    def restore(self, data: st.DataObject, table: str, writer: int) -> None:
        epoch = data.draw(st.integers(2, self.oracle.head))
        self.ask(writer, Step("restore", table, epoch=epoch))

    @rule(table=TABLES, writer=WRITERS, columns=st.sampled_from(((), ("v", "id"))))
    def optimize(self, table: str, writer: int, columns: tuple[str, ...]) -> None:
        optimize = self.writers[writer].table(table).optimize().option("min-rowsets", 2)
        if columns:
            optimize.executeZOrderBy(*columns)
        else:
            optimize.executeCompaction()

    @rule(data=st.data(), writer=WRITERS, name=st.sampled_from("xyz"))
    def tag(self, data: st.DataObject, writer: int, name: str) -> None:
        database, taken = self.writers[writer], name in self.oracle.tags
        try:
            database.tag(name, data.draw(st.integers(0, self.oracle.head)))
            assert not taken
        except AlreadyExistsError:
            assert taken

    @rule(writer=WRITERS, name=st.sampled_from("xyz"))
    def untag(self, writer: int, name: str) -> None:
        taken = name in self.oracle.tags
        try:
            self.writers[writer].untag(name)
            assert taken
        except NotFoundError:
            assert not taken

    @rule(writer=WRITERS)
    def reopen(self, writer: int) -> None:
        self.writers[writer] = self.open()

    @rule(name=st.sampled_from((HINT, CHECKPOINTS)))
    def lose_what_is_only_a_cache(self, name: str) -> None:
        for each in [info.name for info in self.disk.list(name)]:
            self.disk.delete(each)

    @rule(data=st.data(), order=ORDERS, writer=WRITERS)
    def read_an_earlier_epoch(self, data: st.DataObject, order: random.Random, writer: int) -> None:
        epoch = data.draw(st.integers(2, self.oracle.head))
        for name in self.oracle.states[epoch]:
            where = Condition("is", (order.randint(0, 4),))
            table = self.writers[writer].table(name, epoch=epoch)
            found = table.scan(where=where.sql(), epoch=epoch).to_arrow()
            self.oracle.check_read(epoch, name, where, found)

    @invariant()
    def a_newcomer_reads_the_model(self) -> None:
        database = self.open()
        assert database.tags() == dict(sorted(self.oracle.tags.items()))
        assert database.tables() == sorted(self.oracle.states[-1])
        for name in self.oracle.states[-1]:
            table = database.table(name)
            self.oracle.check_read(
                table.epoch, name, Condition(), table.scan().to_arrow(), self.oracle.head
            )


TestDatabaseMachine = DatabaseMachine.TestCase
TestDatabaseMachine.settings = settings(
    max_examples=examples(40), stateful_step_count=20, deadline=None
)
