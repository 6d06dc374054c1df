"""Rows get the next values of identity columns in their order, and no value comes twice."""

from __future__ import annotations

import multiprocessing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import colonnade
from colonnade import (
    AddColumn,
    ArrowTable,
    CommitSettings,
    ConflictError,
    DropColumn,
    DropNotNull,
    IdentityColumn,
    InvalidInputError,
    NotFoundError,
    RenameColumn,
    SchemaField,
    SetDefault,
    TableSchema,
    WidenColumn,
)
from colonnade.manifests.ids import TableId
from colonnade.tableformat.location import locate
from colonnade.tableformat.table.design.new_table import new_table
from colonnade.tableformat.types.input.column_types import as_table_schema
from colonnade.tableformat.write.identity import (
    OwnDraws,
    check_settable,
    draws_at,
    draws_of,
    identified,
    open_schema,
)
from colonnade.tableformat.write.job import plan_write, target_of
from colonnade.tableformat.write.pipeline import new_rows
from colonnade.tableformat.write.run import write_rows
from tests.examples_of import examples
from tests.log_samples import table_state

COLUMNS = pa.schema([("id", pa.int64()), ("v", pa.string())])


def make(
    path: Path, spec: IdentityColumn | None = None, columns: pa.Schema = COLUMNS
) -> ArrowTable:
    return colonnade.create(str(path), columns, identity={"id": spec or IdentityColumn()})


def rows(*values: str) -> pa.Table:
    return pa.table({"v": list(values)})


def given_rows(*ids: int | None) -> pa.Table:
    return pa.table({"id": pa.array(ids, pa.int64()), "v": ["x"] * len(ids)})


def ids(table: ArrowTable) -> list[int]:
    found: list[int] = table.scan(["id"]).to_arrow()["id"].to_pylist()
    return sorted(found)


def test_rows_get_the_next_values_in_their_order(tmp_path: Path) -> None:
    table = make(tmp_path / "t", IdentityColumn(start=10, step=-5))
    table.append(rows("a", "b"))
    table.append(given_rows(None))
    assert table.scan().to_arrow().to_pylist() == [
        {"id": 10, "v": "a"},
        {"id": 5, "v": "b"},
        {"id": 0, "v": "x"},
    ]
    assert table.next_identities == {"id": -5}
    assert not table.schema.field("id").nullable


def test_many_rows_take_few_epochs_and_ascend(tmp_path: Path) -> None:
    table = make(tmp_path / "t")
    batches = pa.table({"v": pa.array(["x"] * 1_000_000)}).to_batches(max_chunksize=50_000)
    table.append(pa.Table.from_batches(batches))
    found = table.scan(["id"]).to_arrow()["id"].to_pylist()
    assert found == sorted(set(found))
    assert len(found) == 1_000_000
    assert table.epoch < 12


def test_a_value_for_an_always_column_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    table = make(tmp_path / "t")
    with pytest.raises(InvalidInputError, match="row 1 gives it the value 7"):
        table.append(given_rows(None, 7))
    with pytest.raises(InvalidInputError, match="cannot be set"):
        table.update({"id": 9})
    with pytest.raises(InvalidInputError, match="it is an identity column"):
        table.backfill("id", 9)
    assert table.scan().to_arrow().num_rows == 0


def numbered_schema(start: int, step: int) -> TableSchema:
    spec = IdentityColumn(start=start, step=step, always=False)
    fields = as_table_schema(COLUMNS).fields
    first = fields[0].model_copy(update={"id": 1, "identity": spec, "nullable": False})
    return TableSchema(fields=(first, fields[1].model_copy(update={"id": 2})))


@settings(max_examples=examples(40), deadline=None)
@given(
    st.integers(-9, 9),
    st.sampled_from((-4, -1, 1, 3)),
    st.lists(st.lists(st.none() | st.integers(-30, 30), min_size=1, max_size=4), max_size=5),
)
def test_no_row_of_a_task_gets_a_value_that_another_one_has(
    start: int, step: int, batches: list[list[int | None]]
) -> None:
    draws = OwnDraws(table_state(numbered_schema(start, step)))
    seen: list[int] = []
    generated: set[int] = set()
    wanted = (given_rows(*each).to_batches()[0] for each in batches)
    found = identified(wanted, "t", numbered_schema(start, step), draws)
    for asked in batches:
        wishes = {wish for wish in asked if wish is not None}
        if not generated.isdisjoint(wishes):
            with pytest.raises(InvalidInputError, match="gave to another row before"):
                next(found)
            return
        for value, wish in zip(next(found).column(0).to_pylist(), asked, strict=True):
            assert wish is None or value == wish
            if wish is None:
                assert (value - start) % step == 0
                assert value not in {*seen, *wishes}
                generated.add(value)
            seen.append(value)


def test_values_that_users_gave_are_skipped_by_later_writes(tmp_path: Path) -> None:
    table = make(tmp_path / "t", IdentityColumn(always=False))
    table.append(given_rows(3, 1))
    table.append(given_rows(None, None))
    table.append(given_rows(-7, 2))
    table.append(rows("a"))
    assert ids(table) == [-7, 1, 2, 3, 4, 5, 6]


def test_a_value_far_ahead_is_skipped_at_once_and_the_last_one_ends_the_column(
    tmp_path: Path,
) -> None:
    table = make(tmp_path / "t", IdentityColumn(always=False))
    table.append(given_rows(2**62, None))
    assert ids(table) == [2**62, 2**62 + 1]
    table.append(given_rows(2**63 - 1))
    assert table.next_identities == {"id": None}
    epoch = table.refresh().epoch
    with pytest.raises(InvalidInputError, match="has 0 left; widen the column"):
        table.append(rows("a"))
    assert table.refresh().epoch == epoch


def test_each_integer_type_holds_the_values_and_ends_with_its_last_one(tmp_path: Path) -> None:
    kinds = [("a", pa.int8(), 127), ("b", pa.int16(), 2**15 - 1), ("c", pa.int32(), 2**31 - 1)]
    kinds.append(("d", pa.int64(), 2**63 - 1))
    columns = pa.schema([("v", pa.string()), *((name, kind) for name, kind, _ in kinds)])
    table = colonnade.create(
        str(tmp_path / "t"),
        columns,
        identity={name: IdentityColumn(start=last - 1) for name, _, last in kinds},
        sort_key=["b desc"],
        partition_by=["truncate(10, c)", "a"],
        constraints={"small": "a <= 127 AND d > 0"},
    )
    table.append(rows("x", "y"))
    table = colonnade.open(str(tmp_path / "t"))
    assert table.scan(where=f"d = {2**63 - 1}").to_arrow().to_pylist() == [
        {"v": "y", **{name: last for name, _, last in kinds}}
    ]
    with pytest.raises(InvalidInputError, match="Identity column 'a'"):
        table.append(rows("z"))
    assert colonnade.verify(str(tmp_path / "t")).is_sound


def test_a_write_takes_the_last_values_of_a_type_though_it_draws_ahead(tmp_path: Path) -> None:
    columns = pa.schema([("id", pa.int8()), ("v", pa.string())])
    table = make(tmp_path / "t", columns=columns)
    batches = [pa.table({"v": ["x"] * count}).to_batches()[0] for count in (100, 20, 7)]
    table.append(pa.Table.from_batches(batches))
    assert ids(table) == list(range(1, 128))
    with pytest.raises(InvalidInputError, match="has 0 left"):
        table.append(rows("a"))


def test_values_stay_through_updates_upserts_deletes_compaction_and_restores(
    tmp_path: Path,
) -> None:
    table = make(tmp_path / "t")
    table.append(rows("a", "b", "c"))
    epoch = table.epoch
    table.update({"v": "'z'"}, "id = 2")
    table.delete("id = 1")
    table.upsert(rows("c", "new"), on="v")
    assert {row["id"]: row["v"] for row in table.scan().to_arrow().to_pylist()} == {
        2: "z",
        3: "c",
        4: "new",
    }
    table.optimize().executeCompaction()
    assert ids(table) == [2, 3, 4]
    table.restore(epoch=epoch)
    assert ids(table) == [1, 2, 3]
    table.append(rows("later"))
    assert ids(table) == [1, 2, 3, 5]


def test_a_table_that_is_dropped_and_restored_goes_on_after_its_last_value(
    tmp_path: Path,
) -> None:
    database = colonnade.create_database(str(tmp_path / "db"))
    table = database.create_table("t", COLUMNS, identity={"id": IdentityColumn()})
    table.append(rows("a"))
    epoch = table.epoch
    table.append(rows("b", "c"))
    database.drop_table("t")
    database.restore(epoch=epoch)
    table = database.table("t")
    table.append(rows("d"))
    assert ids(table) == [1, 4]


def test_a_transaction_reads_its_own_values_also_of_a_table_that_it_creates(
    tmp_path: Path,
) -> None:
    database = colonnade.create_database(str(tmp_path / "db"))
    old = database.create_table("old", COLUMNS, identity={"id": IdentityColumn(always=False)})
    with database.transaction() as transaction:
        new = transaction.create("new", COLUMNS, identity={"id": IdentityColumn()})
        for table in (new, transaction.table("old")):
            table.append(rows("a"))
            table.append(rows("b"))
            assert sorted(table.scan().to_arrow()["id"].to_pylist()) == [1, 2]
        transaction.table("old").append(given_rows(7))
        transaction.table("old").append(rows("c"))
    new_table_ = database.table("new")
    new_table_.append(rows("c"))
    assert ids(new_table_) == [1, 2, 3]
    old = database.table("old")
    old.append(rows("d"))
    assert len(set(ids(old))) == 5
    assert 7 in ids(old)


def test_a_repeated_batch_adds_no_rows_and_repeats_no_value(tmp_path: Path) -> None:
    table = make(tmp_path / "t")
    commit = CommitSettings(batch=("app", 1))
    table.append(rows("a"), commit=commit)
    table.append(rows("a"), commit=commit)
    table.append(rows("b"))
    assert ids(table)[0] == 1
    assert len(set(ids(table))) == 2


def test_a_write_that_expects_an_epoch_may_take_values(tmp_path: Path) -> None:
    table = make(tmp_path / "t")
    table.append(rows("a"), commit=CommitSettings(expect_epoch=table.epoch))
    with pytest.raises(ConflictError, match="expects epoch"):
        table.append(rows("a"), commit=CommitSettings(expect_epoch=table.epoch - 1))
    table.update({"v": "'z'"}, commit=CommitSettings(expect_epoch=table.refresh().epoch))


def test_an_identity_column_continues_after_it_was_renamed_and_widened(tmp_path: Path) -> None:
    table = make(tmp_path / "t", columns=pa.schema([("id", pa.int8()), ("v", pa.string())]))
    table.append(rows("a"))
    table.alter(RenameColumn("id", "key"), WidenColumn("key", "long"))
    table.append(rows("b"))
    assert table.scan(["key"]).to_arrow()["key"].to_pylist() == [1, 2]
    for change, part in (
        (DropNotNull("key"), "stays NOT NULL"),
        (SetDefault("key", 5), "cannot have a default"),
        (
            AddColumn(SchemaField(name="n", type="long", identity=IdentityColumn())),
            "cannot be added as an identity column",
        ),
    ):
        with pytest.raises(InvalidInputError, match=part):
            table.alter(change)
    table.alter(DropColumn("key"))
    table.append(rows("c"))
    assert table.next_identities == {}


def test_the_column_never_widens_to_a_type_that_cannot_give_values(tmp_path: Path) -> None:
    columns = pa.schema([("id", pa.int32()), ("v", pa.string())])
    table = make(tmp_path / "t", IdentityColumn(always=False), columns)
    table.append(rows("a"))
    for wanted in ("double", "decimal(20,0)"):
        with pytest.raises(InvalidInputError, match="identity column, which can become long"):
            table.alter(WidenColumn("id", wanted))
    with pytest.raises(InvalidInputError, match="identity column, which can become long"):
        table.append(pa.table({"id": [2.5], "v": ["b"]}), evolve=True)
    table.alter(WidenColumn("id", "long"))
    with pytest.raises(InvalidInputError, match="identity column, which has no wider type"):
        table.alter(WidenColumn("id", "decimal(19,0)"))
    table.append(rows("c"))
    assert ids(table) == [1, 2]


@pytest.mark.parametrize(
    ("columns", "identity", "part"),
    [
        (COLUMNS, {"v": IdentityColumn()}, "identity column 'v' is string"),
        (COLUMNS, {"id": IdentityColumn(step=0)}, "step 0"),
        (COLUMNS, {"id": {"start": 1}}, "must be an IdentityColumn"),
        (COLUMNS, ["id"], "must be a dict"),
        (COLUMNS, {"none": IdentityColumn()}, "'none' does not exist"),
    ],
)
def test_a_table_that_could_give_no_values_is_not_created(
    tmp_path: Path, columns: pa.Schema, identity: Any, part: str
) -> None:
    with pytest.raises((InvalidInputError, NotFoundError), match=part):
        colonnade.create(str(tmp_path / "t"), columns, identity=identity)


def test_draws_come_from_the_log_if_it_has_the_table(tmp_path: Path) -> None:
    table = make(tmp_path / "t")
    state, log = table._state, table._log
    assert draws_of(log, state, "ab" * 8).draw(state.schema.fields[0], 2) == range(1, 3)
    assert draws_at(log, state.id, "cd" * 8).draw(state.schema.fields[0], 2) == range(3, 5)
    unknown = replace(state, id=TableId("ef" * 8))
    assert isinstance(draws_of(log, unknown, "ab" * 8), OwnDraws)
    with pytest.raises(NotFoundError, match="was dropped meanwhile"):
        draws_at(log, unknown.id, "ab" * 8)
    steps = new_rows(target_of(state, log.limits), lambda: draws_of(log, state, "ab" * 8))
    [batch] = steps.run(rows("a").to_batches())
    assert batch.column(0).to_pylist() == [5]


def test_tasks_take_no_values_of_a_table_that_does_not_exist(tmp_path: Path) -> None:
    location = locate(str(tmp_path / "t"))
    design = new_table("t", as_table_schema(COLUMNS), identity={"id": IdentityColumn()})
    job = plan_write(location, None, "append", create=design)
    with pytest.raises(InvalidInputError, match="create it first"):
        write_rows(job, rows("a").to_batches())


def test_own_draws_end_with_the_type() -> None:
    schema = numbered_schema(2**63 - 2, 1)
    draws = OwnDraws(table_state(schema))
    assert draws.draw(schema.fields[0], 2) == range(2**63 - 2, 2**63)
    with pytest.raises(InvalidInputError, match="has 0 left"):
        draws.draw(schema.fields[0], 1)
    assert open_schema(schema).fields[0].nullable
    check_settable(schema.fields)


def _append(path: str, appends: int, size: int, name: str) -> None:
    table = colonnade.open(path)
    for _ in range(appends):
        table.append(rows(*[name] * size))


def append_from_processes(path: Path, count: int, appends: int, size: int) -> None:
    context = multiprocessing.get_context("spawn")
    processes = [
        context.Process(target=_append, args=(str(path), appends, size, str(n)))
        for n in range(count)
    ]
    for each in processes:
        each.start()
    for each in processes:
        each.join()
    assert [each.exitcode for each in processes] == [0] * count


@pytest.mark.long
@pytest.mark.parametrize("always", [True, False])
def test_eight_processes_never_get_a_value_twice_nor_abort(tmp_path: Path, always: bool) -> None:
    make(tmp_path / "t", IdentityColumn(always=always))
    append_from_processes(tmp_path / "t", 8, 12, 150_000)
    found = colonnade.open(str(tmp_path / "t")).scan(["id"]).to_arrow()["id"]
    assert len(found) == 8 * 12 * 150_000
    assert pc.count_distinct(found).as_py() == len(found)


def test_two_writers_that_take_turns_never_get_a_value_twice(tmp_path: Path) -> None:
    make(tmp_path / "t", IdentityColumn(always=False))
    writers = [colonnade.open(str(tmp_path / "t")) for _ in range(2)]
    for turn in range(6):
        writers[turn % 2].append(rows("a", "b"))
    found = ids(colonnade.open(str(tmp_path / "t")))
    assert found == [*range(1, 13)]
