"""Properties mean the same columns, whatever way a table came to its columns."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colonnade import (
    AddColumn,
    AlterProperties,
    ArrowDatabase,
    ArrowTable,
    DropColumn,
    DropPrimaryKey,
    RenameColumn,
    SchemaField,
    SetPrimaryKey,
)
from colonnade.manifests.errors import InvalidInputError, NotFoundError
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.model.primary_key import key_fields
from colonnade.manifests.model.schema import TableSchema
from colonnade.manifests.state.snapshot import TableState
from colonnade.manifests.store import MemoryStore
from colonnade.tableformat.keys.policy import key_policy, policy_of
from colonnade.tableformat.location import Location
from colonnade.tableformat.statements.commit import commit_written
from colonnade.tableformat.table.design.new_table import new_table
from colonnade.tableformat.table.design.restored_properties import (
    replaced_properties,
    restored_properties,
)
from colonnade.tableformat.types.input.column_types import as_table_schema
from colonnade.tableformat.write.job import plan_write
from tests.examples_of import examples

COLUMNS = ("a", "b", "c", "d")
BLOOM = "bloom-filter-enabled.column."
Meant = frozenset[tuple[str, int | None, str | int]]
"""Properties: what each says, the first id of the column that it is for, its text or column."""


def database() -> ArrowDatabase:
    store = MemoryStore()
    log = Log(store, pause=lambda _: None)
    return ArrowDatabase(store, log, create_database(store, lone_table=False))


def meant(table: TableState) -> Meant:
    """What the properties of a table mean, from what its users see."""
    ids = {each.name: each.id for each in table.schema.fields}

    def each() -> Iterator[tuple[str, int | None, str | int]]:
        for name, text in table.properties.items():
            kind, _, column = name.rpartition(".") if "." in name else (name, "", "")
            is_sequence = kind == "sequence"
            yield kind, ids[column] if column else None, ids[text] if is_sequence else text

    return frozenset(each())


@dataclass
class World:
    """A database whose table `t` has changing columns, and what its properties must mean."""

    order: random.Random
    db: ArrowDatabase = field(default_factory=database)
    wanted: Meant = frozenset()
    seen: dict[int, TableState] = field(default_factory=dict)
    restores: int = 0
    refused: int = 0

    def __post_init__(self) -> None:
        schema = pa.schema([("id", pa.int64()), *((name, pa.int64()) for name in COLUMNS)])
        self.db.create_table("t", schema, primary_key=["id"])
        self.check()

    @property
    def table(self) -> ArrowTable:
        return self.db.table("t")

    def properties(self, names: tuple[str, ...]) -> dict[str, str]:
        """Properties that name columns; only some of them fit together."""
        mode = self.order.choice(("add", "max", "min", "first"))
        names = tuple(self.order.sample(names, len(names)))
        choices = [{}, {f"merge.{names[0]}": mode}, {f"{BLOOM}{names[0]}": "true"}]
        if len(names) > 1:
            choices += [{f"sequence.{names[0]}": names[1]}, {"sequence": names[0]}]
        return self.order.choice(choices) | self.order.choice(choices[:3])

    def step(self) -> None:
        """Take one way at random. A refusal changes nothing."""
        ways = [self.set, self.set, self.unset, self.swap, self.chain, self.drop, self.add]
        ways += [self.key, self.replace, self.rows, *([self.restore] * 5)]
        before = self.wanted
        try:
            self.order.choice(ways)()
        except (InvalidInputError, NotFoundError):
            self.refused += 1
            self.wanted = before
        self.check()

    def check(self) -> None:
        state = self.table._state
        assert meant(state) == self.wanted
        self.seen[self.db.refresh().epoch] = state
        if state.primary_key:
            policy_of(state)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name in self.table.schema.names if name != "id")

    def _id(self, name: str) -> int:
        return self.table._state.schema.field(name).id

    def set(self) -> None:
        table, given = self.table, self.properties(self.names)
        table.alter(AlterProperties(given))
        new = self._meaning(given)
        named = {each[:2] for each in new}
        self.wanted = frozenset(each for each in self.wanted if each[:2] not in named) | new

    def _meaning(self, given: dict[str, str]) -> Meant:
        found = set[tuple[str, int | None, str | int]]()
        for name, text in given.items():
            kind, dot, column = name.rpartition(".")
            kind = kind if dot else name
            meaning = self._id(text) if kind == "sequence" else text
            found.add((kind, self._id(column) if dot else None, meaning))
        return frozenset(found)

    def unset(self) -> None:
        properties = sorted(self.table._state.properties)
        if properties:
            name = self.order.choice(properties)
            self.table.alter(AlterProperties(remove=(name,)))
            [gone] = self._meaning({name: self.seen[max(self.seen)].properties[name]})
            self.wanted -= {gone}

    def swap(self) -> None:
        if len(self.names) > 1:
            one, other = self.order.sample(self.names, 2)
            self.table.alter(
                RenameColumn(one, "x"), RenameColumn(other, one), RenameColumn("x", other)
            )

    def chain(self) -> None:
        """Give each column the name of the one before it, and the first one a new name."""
        names = self.names
        new = f"n{self.db.refresh().epoch}"
        self.table.alter(
            RenameColumn(names[0], new),
            *(RenameColumn(name, names[at]) for at, name in enumerate(names[1:])),
        )

    def drop(self) -> None:
        if len(self.names) > 1:
            name = self.order.choice(self.names)
            column = self._id(name)
            self.table.alter(DropColumn(name))
            self.wanted = frozenset(each for each in self.wanted if each[1] != column)

    def add(self) -> None:
        """Add a column, often by the name of one that is gone or was renamed."""
        name = self.order.choice(COLUMNS)
        if name not in self.names:
            self.table.alter(AddColumn(SchemaField(name=name, type="long")))

    def key(self) -> None:
        """Take the key away and give another one, or none."""
        table = self.table
        name = self.order.choice((*self.names, "id", ""))
        changes = [DropPrimaryKey()] if table._state.primary_key else []
        table.alter(*changes, *([SetPrimaryKey(name)] if name else []))

    def replace(self) -> None:
        """Make another table of this name, as CREATE OR REPLACE does."""
        names = tuple(self.order.sample((*COLUMNS, "e"), 3))
        schema = pa.schema([("id", pa.int64()), *((name, pa.int64()) for name in names)])
        given = self.properties(names)
        if self.order.random() < 0.5:
            with self.db.transaction() as tx:
                tx.drop("t")
                tx.create("t", schema, primary_key=["id"], properties=given)
        else:  # This way keeps the ids of columns.
            design = new_table("t", as_table_schema(schema), properties=given, primary_key=["id"])
            location = Location(self.db._store, "t", exists=True)
            job = plan_write(location, self.db._refresh(), "append", create=design, replace=True)
            commit_written(job, (), self.db._log)
        self.wanted = self._meaning(given)

    def rows(self) -> None:
        names = self.table.schema.names
        epoch = self.db.refresh().epoch
        self.table.upsert(pa.table({name: [epoch] for name in names}))

    def restore(self) -> None:
        """Restore the table, all tables, or a table that was dropped."""
        epoch = self.order.choice([*self.seen])
        then, last = self.seen[epoch], self.table._state
        way = self.order.choice(("table", "database", "dropped"))
        if last.id != then.id:
            # The former table comes back with the properties that it had last.
            last = self.seen[max(e for e, each in self.seen.items() if each.id == then.id)]
        if way == "dropped":
            self.db.drop_table("t")
        try:
            self.db.restore(epoch=epoch) if way != "table" else self.table.restore(epoch=epoch)
        except InvalidInputError:
            assert self.must_refuse(last, then), "a restore was refused that has a result"
            if way == "dropped":
                self.db.restore(epoch=max(self.seen))
            raise
        self.restores += 1
        assert not self.must_refuse(last, then)
        self.wanted = self.carried(last, then)

    @staticmethod
    def carried(last: TableState, then: TableState) -> Meant:
        there = {each.id for each in then.schema.fields}
        before = {each.id for each in last.schema.fields}
        kept = {each for each in meant(last) if each[1] is None or each[1] in there}
        return frozenset(kept | {e for e in meant(then) if e[1] and e[1] in there - before})

    def must_refuse(self, last: TableState, then: TableState) -> bool:
        """Whether properties name a column that is not there, or do not fit the columns."""
        names = {each.id: each.name for each in then.schema.fields}
        properties = dict[str, str]()
        for kind, column, text in self.carried(last, then):
            if isinstance(text, int) and text not in names:
                return True
            name = kind if column is None else f"{kind}.{names[column]}"
            properties[name] = names[text] if isinstance(text, int) else text
        if then.primary_key:
            try:
                key_policy(properties, then.schema, key_fields(then.primary_key, then.schema))
            except InvalidInputError:
                return True
        return False


@pytest.mark.slow
@settings(max_examples=examples(60), deadline=None)
@given(st.integers(0, 2**32))
def test_properties_mean_the_same_columns_after_changes_and_restores_in_any_order(
    seed: int,
) -> None:
    world = World(random.Random(seed))
    for _ in range(20):
        world.step()


@pytest.mark.slow
def test_the_random_orders_restore_and_are_seldom_refused() -> None:
    worlds = [World(random.Random(seed)) for seed in range(8)]
    for world in worlds:
        for _ in range(20):
            world.step()
    assert sum(world.restores for world in worlds) > 25
    assert 0 < sum(world.refused for world in worlds) < 90


def keyed(db: ArrowDatabase, **properties: str) -> ArrowTable:
    schema = pa.schema([(name, pa.int64()) for name in ("id", "a", "b", "at")])
    named = {name.replace("_", "."): text for name, text in properties.items()}
    return db.create_table("t", schema, primary_key=["id"], properties=named)


def test_a_late_row_loses_after_a_restore_over_exchanged_names() -> None:
    table = keyed(database(), sequence="at", merge_a="add")
    epoch = table.upsert(pa.table({"id": [1], "a": [1], "b": [1], "at": [100]})).epoch
    table.alter(RenameColumn("at", "x"), RenameColumn("b", "at"), RenameColumn("x", "b"))
    assert table._state.properties == {"sequence": "b", "merge.a": "add"}
    table.restore(epoch=epoch)
    assert table._state.properties == {"sequence": "at", "merge.a": "add"}
    table.upsert(pa.table({"id": [1], "a": [1], "b": [2], "at": [5]}))
    assert table.get(1) == {"id": 1, "a": 2, "b": 1, "at": 100}


def test_a_column_that_comes_back_adds_again_what_it_added() -> None:
    table = keyed(database(), merge_a="add")
    epoch = table.upsert(pa.table({"id": [1], "a": [1], "b": [1], "at": [1]})).epoch
    table.alter(DropColumn("a"))
    assert table._state.properties == {}
    table.restore(epoch=epoch)
    table.upsert(pa.table({"id": [1], "a": [10], "b": [1], "at": [1]}))
    assert table.get(1) == {"id": 1, "a": 11, "b": 1, "at": 1}


@pytest.mark.parametrize("way", ["table", "database", "dropped"])
def test_a_sequence_that_did_not_exist_yet_refuses_a_restore_in_one_sentence(way: str) -> None:
    db = database()
    table = keyed(db)
    epoch = table.epoch
    table.alter(AddColumn(SchemaField(name="version", type="long")))
    table.alter(AlterProperties({"sequence": "version"}))
    if way == "dropped":
        db.drop_table("t")
    with pytest.raises(
        InvalidInputError,
        match="^Column 'version' cannot be left out by a restore: property 'sequence' names it;"
        " unset the property first.$",
    ):
        table.restore(epoch=epoch) if way == "table" else db.restore(epoch=epoch)
    if way != "dropped":
        table.alter(AlterProperties(remove=("sequence",)))
        table.restore(epoch=epoch)
        assert table.schema.names == ["id", "a", "b", "at"]


def test_properties_that_do_not_fit_the_former_key_refuse_a_restore() -> None:
    table = keyed(database())
    epoch = table.epoch
    table.alter(DropPrimaryKey())
    table.alter(SetPrimaryKey("a"), AlterProperties({"merge.id": "max"}))
    with pytest.raises(
        InvalidInputError, match="Table 't' cannot be restored, .*'merge.id' names column 'id'"
    ):
        table.restore(epoch=epoch)


def test_a_policy_names_the_columns_of_the_restored_state() -> None:
    table = keyed(database(), merge_a="add", sequence_b="at")
    then = table._state
    table.alter(RenameColumn("a", "z"), RenameColumn("b", "a"), RenameColumn("z", "b"))
    assert restored_properties(table._state, then) == then.stored_properties
    assert policy_of(table._state) == policy_of(then)


def test_columns_that_replace_others_take_the_properties_of_those_with_their_names() -> None:
    table = keyed(database(), merge_a="add", sequence="at")
    table.alter(AlterProperties({f"{BLOOM}b": "true", f"{BLOOM}a": "true", "owner": "me"}))
    new = TableSchema(
        fields=(SchemaField(name="A", type="long"), SchemaField(name="b", type="boolean"))
    )
    assert replaced_properties(table._state, new) == {
        "merge.a": "add",
        "sequence": "at",
        f"{BLOOM}a": "true",
        "owner": "me",
    }
