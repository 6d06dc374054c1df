"""A table that replaces another one keeps the ids of columns that stay, and gives no id again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import colonnade
from colonnade import ConflictError, IdentityColumn, InvalidInputError
from colonnade.manifests.model.schema import (
    ArrayType,
    ColumnDefault,
    SchemaField,
    StructType,
    TableSchema,
    walk,
)
from colonnade.manifests.state.snapshot import TableState
from colonnade.tableformat.location import Location, locate_existing
from colonnade.tableformat.statements.commit import commit_written
from colonnade.tableformat.table.alteration import AddColumn, DropColumn, RenameColumn, WidenColumn
from colonnade.tableformat.table.database import ArrowDatabase
from colonnade.tableformat.table.design.lifetimes import lifetime_properties
from colonnade.tableformat.table.design.new_table import new_table
from colonnade.tableformat.types.arrow_types import schema_from_arrow
from colonnade.tableformat.types.input.column_types import as_table_schema
from colonnade.tableformat.write.job import plan_write
from colonnade.tableformat.write.run import write_rows

POINT = pa.struct([("x", pa.int32()), ("y", pa.list_(pa.string()))])
BEFORE = pa.schema([("k", pa.int64()), ("n", pa.int32()), ("p", POINT), ("gone", pa.date32())])


def replaced(database: ArrowDatabase, rows: pa.Table, **design: Any) -> TableState:
    """Replace the table `t` by one of these rows."""
    location = Location(locate_existing(database.path).store, "t", exists=True)
    base = database._refresh()
    create = new_table("t", schema_from_arrow(rows.schema), **design)
    job = plan_write(location, base, "append", create=create, replace=True)
    after = commit_written(job, write_rows(job, rows.to_batches()))
    return after.table("t")


def ids(table: TableState) -> dict[str, tuple[int, ...]]:
    """The ids of each column, and of the fields inside it."""
    return {c.name: tuple(each.id for each in walk([c])) for c in table.schema.fields}


@pytest.fixture
def database(tmp_path: Path) -> ArrowDatabase:
    made = colonnade.create_database(tmp_path / "db")
    made.create_table("t", BEFORE)
    return made


def test_columns_of_the_same_name_and_type_keep_their_ids(database: ArrowDatabase) -> None:
    before = database.table("t")
    before.append(pa.table({"k": [1], "n": [2], "p": [{"x": 3, "y": ["a"]}]}, BEFORE.remove(3)))
    old, next_id = ids(before._state), before._state.next_column_id
    point = pa.array([{"x": 5, "y": ["b"]}], POINT)
    rows = pa.table({"P": point, "new": [6], "n": ["7"], "k": [8]})
    after = replaced(database, rows, sort_key=["k desc"], partition_by=["bucket(4, new)"])
    found = ids(after)
    assert (found["k"], found["P"]) == (old["k"], old["p"])
    assert found["new"] + found["n"] == (next_id, next_id + 1)
    assert after.next_column_id == next_id + 2
    assert [key.column for key in after.sort_key] == [*old["k"]]
    assert [field.column for field in after.partition_fields] == [*found["new"]]
    table = database.table("t")
    assert table.scan().to_arrow().to_pylist() == rows.to_pylist()
    assert table.verify(4).is_sound
    earlier = database.table("t", epoch=before.epoch).scan(epoch=before.epoch)
    assert earlier.to_arrow()["n"].to_pylist() == [2]


def test_keys_of_the_new_table_have_the_ids_of_its_own_columns(database: ArrowDatabase) -> None:
    rows = pa.table({"new": [6, 7], "k": [8, 9], "room": ["attic", None]})
    keys = {"primary_key": ["new", "k"], "static": ["room"], "partition_key": ["new"]}
    after = replaced(database, rows.schema.empty_table(), **keys)
    found = ids(after)
    assert (after.primary_key, after.partition_key) == (found["new"] + found["k"], found["new"])
    table = database.table("t")
    table.append(rows)
    assert table.scan(order="key").to_arrow().to_pylist() == rows.to_pylist()
    assert table.verify(4).is_sound


def test_an_id_of_a_dropped_column_does_not_come_back(database: ArrowDatabase) -> None:
    table = database.table("t")
    table.alter(DropColumn("gone"), WidenColumn("n", "long"), DropColumn("p.x"))
    table.alter(AddColumn(SchemaField(name="last", type="int")), DropColumn("last"))
    given = range(1, table._state.next_column_id)
    old = ids(table._state)
    rows = pa.table({"gone": [1], "n": [2], "k": [3], "p": pa.array([None], POINT), "last": [4]})
    after = replaced(database, rows)
    found = ids(after)
    assert (found["k"], found["n"]) == (old["k"], old["n"])
    fresh = [number for name in ("gone", "p", "last") for number in found[name]]
    assert set(fresh).isdisjoint(given)
    again = replaced(database, rows)
    assert ids(again) == found
    assert again.id != after.id


def test_a_table_is_not_replaced_after_a_concurrent_writer_has_given_new_ids(
    database: ArrowDatabase,
) -> None:
    """Otherwise the id of the writer's column would mean another column in the new table."""
    rows = pa.table({"k": [1], "new": [2]})
    location = Location(locate_existing(database.path).store, "t", exists=True)
    create = new_table("t", schema_from_arrow(rows.schema))
    job = plan_write(location, database._refresh(), "append", create=create, replace=True)
    entries = write_rows(job, rows.to_batches())
    table = database.table("t")
    table.alter(AddColumn(SchemaField(name="rival", type="int")))
    with pytest.raises(ConflictError, match="The columns of table 't' changed"):
        commit_written(job, entries)
    assert database.table("t").schema.names == [*BEFORE.names, "rival"]
    after = replaced(database, rows)
    assert ids(after)["new"][0] > table._state.schema.field("rival").id


@pytest.mark.parametrize(
    "renames",
    [
        [RenameColumn("n", "m")],
        [RenameColumn("n", "x"), RenameColumn("k", "n"), RenameColumn("x", "k")],
        [RenameColumn("p.x", "z")],
    ],
    ids=["one", "two swapped", "a field"],
)
def test_a_table_is_not_replaced_after_a_concurrent_writer_has_renamed_a_column_that_stays(
    database: ArrowDatabase, renames: list[RenameColumn]
) -> None:
    """Otherwise the id would mean the renamed column before, and that of the old name after it."""
    rows = pa.table({"n": [1], "k": [2], "p": [None]}, pa.schema([BEFORE.field(c) for c in "nkp"]))
    location = Location(locate_existing(database.path).store, "t", exists=True)
    create = new_table("t", schema_from_arrow(rows.schema))
    job = plan_write(location, database._refresh(), "append", create=create, replace=True)
    entries = write_rows(job, rows.to_batches())
    database.table("t").alter(*renames)
    with pytest.raises(ConflictError, match="The columns of table 't' changed"):
        commit_written(job, entries)


def test_a_table_is_replaced_after_a_concurrent_writer_has_dropped_a_column(
    database: ArrowDatabase,
) -> None:
    rows = pa.table({"k": [1]})
    location = Location(locate_existing(database.path).store, "t", exists=True)
    create = new_table("t", schema_from_arrow(rows.schema))
    job = plan_write(location, database._refresh(), "append", create=create, replace=True)
    entries = write_rows(job, rows.to_batches())
    database.table("t").alter(DropColumn("gone"))
    commit_written(job, entries)
    assert database.table("t").scan().to_arrow().to_pylist() == [{"k": 1}]


def test_a_constraint_of_the_new_table_reads_its_own_column(database: ArrowDatabase) -> None:
    rows = pa.table({"new": [6, None], "n": ["7", "8"], "k": [1, -2]})
    rules = {"some": "new > 5", "few": "k < 3 AND n <> 'no'"}
    after = replaced(database, rows, constraints=rules)
    names = {c.name: {f.name for f in c.fields(after.schema)} for c in after.constraints}
    assert names == {"some": {"new"}, "few": {"n", "k"}}
    table = database.table("t")
    table.append(pa.table({"new": [7], "n": ["9"], "k": [-9]}))
    for row, name in (((5, "9", 1), "some"), ((7, "no", 1), "few"), ((7, "9", 3), "few")):
        refused = pa.table({c: [v] for c, v in zip(("new", "n", "k"), row, strict=True)})
        with pytest.raises(InvalidInputError, match=f"'{name}'"):
            table.append(refused)
        with pytest.raises(InvalidInputError, match=f"'{name}'"):
            replaced(database, refused, constraints=rules)
    assert table.scan().to_arrow().num_rows == 3
    with pytest.raises(InvalidInputError, match="'few'"):
        table.alter(DropColumn("k"))
    table.alter(AddColumn(SchemaField(name="free", type="int")))


def test_every_property_of_a_column_in_the_design_stays(database: ArrowDatabase) -> None:
    """A column that keeps its id has the nullability, the comment and the default of the design."""
    table = database.table("t")
    table.alter(WidenColumn("n", "long"))
    inner = SchemaField(name="x", type="int", nullable=False)
    inner_list = SchemaField(
        name="y", type=ArrayType(element=SchemaField(name="element", type="string"))
    )
    design = TableSchema(
        fields=(
            SchemaField(name="n", type="long", default=ColumnDefault(sql="7", value="i:7")),
            SchemaField(name="p", type=StructType(fields=(inner, inner_list)), nullable=False),
        )
    )
    location = Location(locate_existing(database.path).store, "t", exists=True)
    create = new_table("t", design, properties={"bloom-filter-enabled.column.n": "true"})
    job = plan_write(location, database._refresh(), "append", create=create, replace=True)
    fields = job.target.table_schema.fields
    assert job.target.bloom_columns == (fields[0].id,)
    assert [field.id for field in walk(fields)] != [field.id for field in walk(design.fields)]
    for kept, asked in zip(walk(fields), walk(design.fields), strict=True):
        assert (kept.name, kept.nullable, kept.default) == (
            asked.name,
            asked.nullable,
            asked.default,
        )
    commit_written(job, write_rows(job, ()))
    after = database.table("t")
    after.append(pa.table({"p": pa.array([{"x": 1, "y": []}], POINT)}))
    assert after.scan().to_arrow()["n"].to_pylist() == [7]
    with pytest.raises(InvalidInputError, match=r"p\.x"):
        after.append(pa.table({"p": pa.array([{"x": None, "y": []}], POINT)}))


@pytest.mark.parametrize(("start", "value"), [(1, 4), (50, 50)])
def test_an_identity_column_that_stays_goes_on_and_another_one_begins_anew(
    tmp_path: Path, start: int, value: int
) -> None:
    database = colonnade.create_database(str(tmp_path / "db"))
    columns = pa.schema([("id", pa.int32()), ("v", pa.string())])
    old = database.create_table("t", columns, identity={"id": IdentityColumn()})
    old.append(pa.table({"v": ["a", "b"]}))
    old.alter(WidenColumn("id", "long"))
    old.append(pa.table({"v": ["c"]}))
    wide = as_table_schema(pa.schema([("id", pa.int64()), ("v", pa.string())]))
    create = new_table("t", wide, identity={"id": IdentityColumn(start=start)})
    location = Location(locate_existing(database.path).store, "t", exists=True)
    job = plan_write(location, database._refresh(), "append", create=create, replace=True)
    commit_written(job, ())
    database.refresh()
    after = database.table("t")
    after.append(pa.table({"v": ["d"]}))
    assert after.scan().to_arrow().to_pylist() == [{"id": value, "v": "d"}]


@pytest.mark.parametrize("all_tables", [False, True])
def test_a_table_that_comes_back_gives_nothing_that_its_replacement_gave(
    tmp_path: Path, all_tables: bool
) -> None:
    database = colonnade.create_database(str(tmp_path / "db"))
    columns = pa.schema([("id", pa.int64()), ("v", pa.string())])
    first = database.create_table("t", columns, identity={"id": IdentityColumn(step=-2)})
    epoch = first.append(pa.table({"v": ["a"]}))
    create = new_table("t", as_table_schema(columns), identity={"id": IdentityColumn(step=-2)})
    location = Location(locate_existing(database.path).store, "t", exists=True)
    job = plan_write(location, database._refresh(), "append", create=create, replace=True)
    commit_written(job, ())
    database.refresh()
    second = database.table("t")
    second.append(pa.table({"v": ["b", "c"]}))
    second.alter(AddColumn(SchemaField(name="n", type="int")))
    given = second._state.next_column_id
    database.restore(epoch=epoch) if all_tables else second.restore(epoch=epoch)
    table = database.table("t")
    table.append(pa.table({"v": ["d"]}))
    found = table.scan().to_arrow().sort_by("v").to_pylist()
    assert found == [{"id": 1, "v": "a"}, {"id": -5, "v": "d"}]
    table.alter(AddColumn(SchemaField(name="m", type="int")))
    assert table._state.schema.field("m").id >= given


def test_a_generated_column_reads_the_ids_that_its_columns_keep(database: ArrowDatabase) -> None:
    rows = pa.table({"new": pa.array([4], pa.int32()), "n": pa.array([2], pa.int32())})
    after = replaced(database, rows, generated={"new": "n * 2"})
    assert after.schema.fields[0].generated is not None
    assert after.schema.fields[0].generated.columns == ids(after)["n"]
    table = database.table("t")
    table.append(rows.select(["n"]))
    assert table.scan(["new"]).to_arrow()["new"].to_pylist() == [4, 4]


def test_the_time_to_live_follows_the_ids_of_its_columns(database: ArrowDatabase) -> None:
    before = ids(database.table("t")._state)
    rows = pa.table({"gone": pa.array([], pa.date32()), "m": pa.array([], pa.int32())})
    stated = {"ttl": "9 days", "ttl.column": "gone", "ttl.m": "1 day"}
    after = replaced(database, rows, properties=stated)
    assert ids(after)["gone"] == before["gone"]
    assert lifetime_properties(after) == stated


def test_properties_follow_the_ids_of_their_columns(database: ArrowDatabase) -> None:
    rows = pa.table({"m": pa.array([], pa.int64()), "n": pa.array([], pa.int32())})
    stated = {"sequence": "n", "merge.m": "add", "bloom-filter-enabled.column.k": "true"}
    rows = rows.append_column("k", pa.array([], pa.int64()))
    after = replaced(database, rows, properties=stated, primary_key=["k"])
    assert after.properties == stated
