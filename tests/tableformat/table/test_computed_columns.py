"""A computed column has a value in every row, whatever other writers do meanwhile."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colonnade import ArrowTable, CommitSettings, WriteSettings
from colonnade.manifests.errors import (
    ColonnadeError,
    ConflictError,
    InvalidInputError,
    NotFoundError,
)
from colonnade.manifests.limits import LIMITS
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.schema import SchemaField, TableSchema, assign_ids
from colonnade.manifests.store import MemoryStore, ObjectStore
from colonnade.manifests.store.base import Data, PutOutcome
from colonnade.tableformat.location import Location
from colonnade.tableformat.table.alteration import (
    AddColumn,
    AddConstraint,
    DropColumn,
    RenameColumn,
    WidenColumn,
)
from colonnade.tableformat.types.arrow_types import arrow_schema, arrow_type
from tests.crash.every_step import check_every_step, copied
from tests.examples_of import examples
from tests.faults import Fault
from tests.strategies import identical, random_value, schemas
from tests.tableformat.statements.tables import SCHEMA, another, filled, made, rows

Act = Callable[[], object]


class Shared(MemoryStore):
    """The objects of another store, seen from another machine, which shares no turns with it.

    `before_put` runs before each epoch of a computed column that this machine puts.
    """

    def __init__(self, of: MemoryStore, before_put: Act) -> None:
        super().__init__()
        self._objects, self._lock = of._objects, of._lock
        self._before_put = before_put

    def put_if_absent(self, name: str, data: Data) -> PutOutcome:
        if b'"operation":"add_column"' in bytes(data) or b'"operation":"backfill"' in bytes(data):
            self._before_put()
        return super().put_if_absent(name, data)


def elsewhere(table: ArrowTable, before_put: Act) -> ArrowTable:
    """The same table as a writer on another machine has it."""
    disk = table._log.store
    assert isinstance(disk, MemoryStore)
    store = Shared(disk, before_put)
    return ArrowTable(Location(store, "t", exists=True), Log(store, pause=lambda _: None), None)


def doubled(batch: pa.RecordBatch) -> pa.Array:
    return pc.multiply(batch["id"], 2)


ROWS = assign_ids(
    TableSchema(
        fields=(
            SchemaField(name="id", type="long", nullable=False),
            SchemaField(name="x", type="long"),
        )
    ),
    1,
)[0]


class Interference:
    """Random work of another writer. No two rows have the same `id`; `x` is a small number."""

    def __init__(self, table: ArrowTable, seed: int) -> None:
        self.table = table
        self.order = random.Random(seed)
        self.next = 0
        self.left = 0

    def append(self) -> None:
        count = self.order.choice((1, 2, 30))
        ids = range(self.next, self.next + count)
        self.next += count
        values = [self.order.choice((None, *range(9))) for _ in ids]
        batch = pa.record_batch(
            {"id": pa.array(ids, pa.int64()), "x": pa.array(values, pa.int64())}
        )
        records = self.order.choice((4, 100))
        self.table.append(batch, settings=WriteSettings(max_records=records))

    def act(self) -> None:
        """Do one thing, if any is left to do."""
        if not self.left:
            return
        self.left -= 1
        low = self.order.randrange(max(1, self.next))
        match self.order.randrange(6):
            case 0 | 1:
                self.append()
            case 2:
                self.table.delete(f"id BETWEEN {low} AND {low + self.order.randrange(20)}")
            case 3:
                self.table.optimize().executeCompaction()
            case 4:
                self.table.update({"x": 7}, f"id >= {low}")
            case 5:
                self.table.backfill("x", 5, f"id <= {low}")


def value_of(field: SchemaField, x: int | None) -> Any:
    """A value of any type, which is computed from a number."""
    if x is None and field.nullable:
        return None
    return random_value(field, random.Random(x or 0))


@pytest.mark.slow
@settings(max_examples=6)
@given(schema=schemas(max_columns=1), seed=st.integers(0, 2**30))
def test_every_row_of_the_epoch_has_the_value_of_its_own_columns(
    schema: TableSchema, seed: int
) -> None:
    check_added(schema, seed)


@pytest.mark.long
@settings(max_examples=examples(400))
@given(schema=schemas(max_columns=1), seed=st.integers(0, 2**30))
def test_many_computed_columns_have_the_values_of_their_rows(
    schema: TableSchema, seed: int
) -> None:
    check_added(schema, seed)


def check_added(schema: TableSchema, seed: int) -> None:
    table = made(schema=arrow_schema(ROWS))
    rival = Interference(another(table), seed)
    for _ in range(rival.order.randrange(4)):
        rival.append()
    for _ in range(rival.order.randrange(3)):
        rival.left = 1
        rival.act()
    field = schema.fields[0]

    def function(batch: pa.RecordBatch) -> pa.Array:
        rival.act()
        values = [value_of(field, x) for x in batch["x"].to_pylist()]
        return pa.array(values, arrow_type(field))

    rival.left = rival.order.randrange(8)
    mine = elsewhere(table, rival.act)
    counts = mine.add_column("new", field.type, function, columns=["x"], nullable=field.nullable)
    rival.left = 0
    at = mine.scan(epoch=counts.epoch).to_arrow()
    before = mine.scan(epoch=(counts.epoch or 0) - 1).to_arrow()
    assert at.drop_columns("new").sort_by("id") == before.sort_by("id")
    wanted = pa.array([value_of(field, x) for x in at["x"].to_pylist()], arrow_type(field))
    assert identical(at["new"].combine_chunks(), wanted)
    assert counts.rows_updated == at.num_rows
    assert mine.verify().is_sound


@pytest.mark.slow
@settings(max_examples=6)
@given(seed=st.integers(0, 2**30))
def test_a_backfill_gives_values_to_the_rows_that_meet_its_condition_at_its_epoch(
    seed: int,
) -> None:
    table = made(schema=arrow_schema(ROWS))
    rival = Interference(another(table), seed)
    for _ in range(1 + rival.order.randrange(3)):
        rival.append()

    def function(batch: pa.RecordBatch) -> pa.Array:
        rival.act()
        assert min(batch["id"].to_pylist()) >= 5, "a row that the condition leaves out"
        return pc.add(pc.multiply(batch["id"], 10), batch["x"])

    rival.left = rival.order.randrange(8)
    mine = elsewhere(table, rival.act)
    counts = mine.backfill("x", function, "id >= 5 AND x IS NOT NULL", columns=["id", "x"])
    rival.left = 0
    if not counts.rows_updated:
        assert not mine.scan(where="id >= 5 AND x IS NOT NULL").to_arrow().num_rows
        return
    after = mine.scan(epoch=counts.epoch).to_arrow().sort_by("id").to_pylist()
    before = mine.scan(epoch=(counts.epoch or 0) - 1).to_arrow().sort_by("id")
    assert after == [
        {"id": i, "x": x if i < 5 or x is None else i * 10 + x}
        for i, x in zip(*before.to_pydict().values(), strict=True)
    ]
    assert mine.verify().is_sound


def test_a_backfill_without_rows_tells_the_epoch_that_has_none() -> None:
    """The rows that it had begun with were deleted while their values were computed."""
    table = filled()
    rival = another(table)

    def function(batch: pa.RecordBatch) -> pa.Array:
        rival.delete("id >= 0")
        return batch["id"]

    counts = table.backfill("id", function, "id = 5", columns=["id"])
    assert (counts.epoch, counts.rows_updated) == (rival.epoch, 0)
    assert table.epoch == rival.epoch


def test_an_earlier_epoch_does_not_show_the_column() -> None:
    table = filled()
    before = table.epoch
    counts = table.add_column("twice", pa.int64(), doubled, columns=["id"], after="id")
    assert table.schema.names[:2] == ["id", "twice"]
    assert table.scan(epoch=before).to_arrow().column_names == SCHEMA.names
    assert (counts.rows_updated, counts.rowsets_in_place) == (20, 2)
    entry = table.history(1)[0]
    assert (entry.operation, entry.parameters) == (
        "add_column",
        {"column": "twice", "type": "long"},
    )


def test_only_the_segments_of_the_column_are_written() -> None:
    table = made(schema=pa.schema([(f"c{i}", pa.int64()) for i in range(200)]))
    values = pa.array(range(5000), pa.int64())
    table.append(pa.table([pc.multiply(values, i) for i in range(200)], names=table.schema.names))
    whole = table._state.rowsets.byte_count or 0
    add = table.add_column(
        "sum", pa.int64(), lambda b: pc.add(b["c1"], b["c2"]), columns=["c1", "c2"]
    )
    fill = table.backfill("c7", lambda b: pc.add(b["c7"], 1), columns=["c7"])
    for counts in (add, fill):
        assert 0 < counts.bytes_written == counts.bytes_in_place < whole / 50
    assert table.scan(["sum"], "c7 = 71").to_arrow()["sum"].to_pylist() == [30]


def test_rows_that_are_appended_after_the_epoch_have_no_value_yet() -> None:
    table = filled()
    late = another(table)
    table.add_column("twice", pa.int64(), doubled, columns=["id"])
    late.append(rows(7000))  # planned before the column was there
    assert table.backfill("twice", doubled, "twice IS NULL", columns=["id"]).rows_updated == 1
    assert table.backfill("twice", doubled, "twice IS NULL", columns=["id"]).rows_updated == 0
    assert table.scan(["twice"], "id = 7000").to_arrow()["twice"].to_pylist() == [14000]


def test_an_append_without_a_value_for_a_not_null_column_is_refused() -> None:
    table = filled()
    late = another(table)
    table.add_column("twice", pa.int64(), doubled, columns=["id"], nullable=False)
    with pytest.raises(ConflictError, match="columns of table 't' changed"):
        late.append(rows(7000))
    with pytest.raises(InvalidInputError, match="'twice'"):
        table.append(rows(7000))


def test_an_update_of_the_same_rows_is_run_again_and_keeps_their_values() -> None:
    table = filled()
    late = another(table)
    table.add_column("twice", pa.int64(), doubled, columns=["id"])
    late.update({"text": "'new'"}, "id = 5")
    assert table.scan(["text", "twice"], "id = 5").to_arrow().to_pylist() == [
        {"text": "new", "twice": 10}
    ]


@pytest.mark.slow
def test_writers_that_are_always_first_end_in_one_sentence() -> None:
    table = filled()
    rival = another(table)
    log = Log(table._log.store, pause=lambda _: None, limits=replace(LIMITS, lost_slots=3))
    mine = elsewhere(table, lambda: rival.append(rows(1)))
    mine = ArrowTable(
        mine._location, Log(mine._log.store, pause=lambda _: None, limits=log.limits), None
    )
    with pytest.raises(ConflictError, match="'add_column' lost 3 commit races in a row"):
        mine.add_column("twice", pa.int64(), doubled, columns=["id"])
    assert table.schema.names == SCHEMA.names


FAULTS = (Fault.STOP_BEFORE, Fault.FAIL_AFTER, Fault.LOST_REQUEST)


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_a_writer_that_dies_leaves_nothing_visible(fault: Fault) -> None:
    store = MemoryStore()
    table = filled(store)
    table.delete("id = 3")

    def opened(at: ObjectStore) -> ArrowTable:
        return ArrowTable(Location(at, "t", exists=True), Log(at, pause=lambda _: None), None)

    def work(at: ObjectStore) -> None:
        opened(at).add_column("twice", pa.int64(), doubled, columns=["id"])

    def read(at: ObjectStore) -> list[dict[str, Any]]:
        return opened(at).scan().to_arrow().sort_by("id").to_pylist()

    check_every_step(copied(store), work, read, fault)


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda t: t.add_column("text", pa.int64(), 1), InvalidInputError, "'text'"),
        (lambda t: t.add_column("n", pa.string(), doubled), InvalidInputError, "'n'"),
        (lambda t: t.add_column("n", pa.int64(), "'a'"), InvalidInputError, "'n'"),
        (lambda t: t.add_column("n", pa.int64(), "missing"), InvalidInputError, "missing"),
        (lambda t: t.add_column("n", pa.int64(), "n"), InvalidInputError, "from itself"),
        (lambda t: t.add_column("n", "no type", 1), InvalidInputError, "no type"),
        (lambda t: t.add_column("n", None, 1), InvalidInputError, "type"),
        (lambda t: t.add_column(3, pa.int64(), 1), InvalidInputError, "3"),
        (lambda t: t.add_column("", pa.int64(), 1), InvalidInputError, "name"),
        (lambda t: t.add_column("n", pa.int64(), 1, after="zz"), NotFoundError, "zz"),
        (lambda t: t.add_column("n", pa.int64(), 1, columns=["id"]), InvalidInputError, "columns"),
        (lambda t: t.add_column("n", pa.int64(), doubled, columns="id"), InvalidInputError, "list"),
        (lambda t: t.add_column("n", pa.int64(), doubled, columns=["z"]), NotFoundError, "'z'"),
        (
            lambda t: t.add_column("n", pa.int64(), doubled, columns=["id", "ID"]),
            InvalidInputError,
            "twice",
        ),
        (lambda t: t.add_column("n", pa.int64(), lambda b: 3), InvalidInputError, "not int"),
        (
            lambda t: t.add_column("n", pa.int64(), lambda b: b["id"][:1]),
            InvalidInputError,
            "1 values for 10 rows",
        ),
        (
            lambda t: t.add_column("n", pa.int64(), None, nullable=False),
            InvalidInputError,
            "'n'",
        ),
        (lambda t: t.backfill("none", 1), NotFoundError, "none"),
        (lambda t: t.backfill("text", 1), InvalidInputError, "text"),
        (lambda t: t.backfill("text", "'a'", "zz = 1"), InvalidInputError, "zz"),
        (lambda t: t.backfill("id", None), InvalidInputError, "'id'"),
        (lambda t: t.backfill("id", 1, settings=3), InvalidInputError, "settings"),
    ],
)
def test_bad_input_is_one_sentence_and_changes_nothing(
    call: Callable[[ArrowTable], object], error: type[ColonnadeError], says: str
) -> None:
    table = filled()
    before = table.refresh().epoch
    with pytest.raises(error) as caught:
        call(table)
    assert says in caught.value.message
    assert table.refresh().epoch == before


def test_a_column_that_decides_where_rows_are_is_not_filled() -> None:
    store = MemoryStore()
    table = filled(store)
    table.partition_by("text")
    with pytest.raises(InvalidInputError, match="sorted or partitioned by it; use update"):
        table.backfill("text", "'a'")


@pytest.mark.parametrize(
    "change",
    [
        DropColumn(("id",)),
        WidenColumn(("small",), "long"),
        AddColumn(SchemaField(name="n", type="int")),
    ],
    ids=str,
)
def test_a_change_of_columns_meanwhile_starts_the_work_again(change: Any) -> None:
    table = filled()
    table.add_column("small", "int", 3)
    other = another(table)
    waiting = [change, RenameColumn(("text",), "words")]

    def function(batch: pa.RecordBatch) -> pa.Array:
        if waiting:
            other.alter(waiting.pop())
        return batch["small"]

    if isinstance(change, DropColumn):
        table.add_column("m", pa.int32(), function, columns=["small"])
    else:
        table.backfill("small", function, columns=["small"])
    assert not waiting


PAIR = pa.schema([("a", pa.int32()), ("b", pa.int32()), ("s", pa.struct([("n", pa.int32())]))])


@pytest.mark.parametrize("condition", ["a <= b", "a <= b AND s.n < 9"])
def test_two_backfills_cannot_together_do_what_a_constraint_forbids(condition: str) -> None:
    table = made(schema=PAIR)
    table.append(pa.Table.from_pylist([{"a": 1, "b": 5, "s": {"n": i}} for i in range(4)], PAIR))
    table.alter(AddConstraint("pair", condition))
    acts = [lambda: another(table).backfill("b", 2)]
    rival = elsewhere(table, lambda: [acts.pop()() for _ in acts[:1]])
    with pytest.raises(InvalidInputError, match="'pair'.* a = 3, b = 2"):
        rival.backfill("a", 3)
    assert not acts
    table.refresh()
    assert table.scan(["a", "b"]).to_arrow().to_pylist() == 4 * [{"a": 1, "b": 2}]


def test_a_backfill_meets_a_constraint_that_was_added_meanwhile() -> None:
    table = made(schema=PAIR)
    table.append(pa.Table.from_pylist([{"a": 1, "b": 5}], PAIR))
    acts = [lambda: another(table).alter(AddConstraint("small", "a < 3"))]
    rival = elsewhere(table, lambda: [acts.pop()() for _ in acts[:1]])
    with pytest.raises(InvalidInputError, match="'small'.* a = 3"):
        rival.backfill("a", 3)
    table.refresh()
    assert table.scan(["a"]).to_arrow().to_pylist() == [{"a": 1}]


def test_a_batch_a_note_and_a_lease_belong_to_the_commit() -> None:
    table = filled()
    commit = CommitSettings(metadata="why", batch=("app", 1))
    settings = WriteSettings(lease_hours=1)
    counts = table.add_column("n", pa.int64(), 1, commit=commit, settings=settings)
    assert table.history(1)[0].parameters["userMetadata"] == "why"
    assert table._state.batches == {"app": 1}
    assert not table._snapshot.leases
    with pytest.raises(ConflictError, match="expects epoch 1"):
        table.backfill("n", 2, commit=CommitSettings(expect_epoch=1))
    assert table.refresh().epoch == counts.epoch
