"""Altering a table: rows stay, ids never come back, and what cannot be done is refused by name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import colonnade
from colonnade.manifests.errors import (
    AlreadyExistsError,
    ColonnadeError,
    ConflictError,
    InvalidInputError,
    NotFoundError,
)
from colonnade.manifests.ids import TableId
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.model.operations import CreateTable
from colonnade.manifests.model.schema import (
    ArrayType,
    MapType,
    SchemaField,
    StructType,
    TableSchema,
)
from colonnade.manifests.store import MemoryStore
from colonnade.tableformat.location import Location, locate_existing
from colonnade.tableformat.statements.commit import commit_written
from colonnade.tableformat.table.alteration import (
    AddColumn,
    Alteration,
    AlterProperties,
    CommentColumn,
    CommentTable,
    DropColumn,
    DropNotNull,
    MoveColumn,
    RenameColumn,
)
from colonnade.tableformat.table.design import new_table
from colonnade.tableformat.table.restore import restore_database
from colonnade.tableformat.table.table import ArrowTable
from colonnade.tableformat.write.job import plan_write, write_rows

STRUCT = StructType(
    fields=(SchemaField(name="x", type="int", nullable=False), SchemaField(name="y", type="int"))
)
SCHEMA = TableSchema(
    fields=(
        SchemaField(name="id", type="long", nullable=False),
        SchemaField(name="name", type="string"),
        SchemaField(name="point", type=STRUCT),
    )
)


def rows(*ids: int) -> pa.Table:
    points = [{"x": i, "y": None} for i in ids]
    struct = pa.struct({"x": pa.int32(), "y": pa.int32()})
    names = [f"n{i}" for i in ids]
    return pa.table({"id": ids, "name": names, "point": pa.array(points, struct)})


@pytest.fixture
def table(tmp_path: Path) -> ArrowTable:
    made = colonnade.create(tmp_path / "trips", SCHEMA, sort_key=["id"], properties={"a": "1"})
    made.append(rows(1, 2))
    return made


def read(table: ArrowTable, epoch: int | None = None) -> list[dict[str, object]]:
    found: list[dict[str, object]] = table.scan(epoch=epoch).to_arrow().to_pylist()
    return found


def added(name: str, data_type: str = "int", **options: object) -> AddColumn:
    return AddColumn(SchemaField(name=name, type=data_type), **options)  # type: ignore[arg-type]


def test_a_column_that_was_added_is_null_in_the_rows_before_it(table: ArrowTable) -> None:
    table.alter(added("note", "string", after="id"))
    table.append(pa.table({**_columns(rows(3)), "note": ["new"]}))
    found = table.scan(["id", "note"]).to_arrow()
    assert found.to_pydict() == {"id": [1, 2, 3], "note": [None, None, "new"]}
    assert table.schema.names == ["id", "note", "name", "point"]
    for where, expected in {
        "note IS NULL": [1, 2],
        "note = 'new'": [3],
        "note <> 'x'": [3],
    }.items():
        assert table.scan(["id"], where).to_arrow()["id"].to_pylist() == expected


def _columns(data: pa.Table) -> dict[str, pa.ChunkedArray]:
    return dict(zip(data.column_names, data.columns, strict=True))


def test_an_earlier_epoch_has_the_columns_that_it_had(table: ArrowTable) -> None:
    before = table.epoch
    expected = read(table)
    table.alter(
        RenameColumn(("name",), "label"),
        DropColumn(("point",)),
        added("n"),
        CommentTable("new"),
        AlterProperties({"b": "2"}, ("a",)),
    )
    assert read(table, epoch=before) == expected
    assert read(table) == [{"id": i, "label": f"n{i}", "n": None} for i in (1, 2)]
    assert (table.state.comment, dict(table.state.properties)) == ("new", {"b": "2"})
    assert [entry.operation for entry in table.history()] == [
        *("alter_table", "append", "create_table")
    ]
    assert table.history(1)[0].parameters["changes"].startswith("rename column name to label; ")


def test_a_dropped_column_does_not_come_back_under_its_old_name(table: ArrowTable) -> None:
    table.alter(DropColumn(("name",)))
    table.alter(added("name", "string"))
    assert [row["name"] for row in read(table)] == [None, None]
    table.alter(DropColumn(("name",)), added("name", "string"))
    ids = [field.id for field in table.state.schema.fields]
    assert len(set(ids)) == 3
    assert table.state.next_column_id > max(ids)


@pytest.mark.parametrize(
    "changes",
    [
        (DropColumn(("name",)), added("name", "string")),
        (RenameColumn(("name",), "old"), added("name", "string")),
        (RenameColumn(("name",), "old"), added("Name", "string")),
        tuple(RenameColumn(("point", a), b) for a, b in (("x", "z"), ("y", "x"), ("z", "y"))),
    ],
)
@pytest.mark.parametrize("mode", ["append", "overwrite"])
def test_values_never_go_to_a_column_whose_name_another_one_has_by_now(
    table: ArrowTable, changes: tuple[Alteration, ...], mode: str
) -> None:
    colonnade.open(table.path).alter(*changes)
    written = pa.table(_columns(rows(3)))
    with pytest.raises(ConflictError, match="The columns of table 'trips' changed after epoch 2"):
        getattr(table, mode)(written)
    assert [each["id"] for each in read(table)] == [1, 2]


def test_fields_of_a_struct_are_renamed_commented_and_made_nullable(table: ArrowTable) -> None:
    table.alter(
        RenameColumn(("point", "x"), "lon"),
        CommentColumn(("point", "y"), "latitude"),
        DropNotNull(("point", "lon")),
        DropNotNull(("id",)),
        MoveColumn(("point",), first=True),
    )
    assert read(table)[0] == {"point": {"lon": 1, "y": None}, "id": 1, "name": "n1"}
    point = table.state.schema.field("point")
    assert [child.comment for child in point.children()] == [None, "latitude"]
    table.append(pa.table({"id": pa.array([None], pa.int64()), "name": ["x"], "point": [None]}))
    assert len(read(table)) == 3


REFUSED: dict[str, tuple[tuple[Alteration, ...], type[ColonnadeError], str]] = {
    "not null": (
        (AddColumn(SchemaField(name="n", type="int", nullable=False)),),
        InvalidInputError,
        "'n' cannot be added as NOT NULL",
    ),
    "taken": ((added("NAME"),), InvalidInputError, "'name' and 'NAME' are the same name"),
    "reserved": ((added("_Row_Handler"),), InvalidInputError, "'_Row_Handler' is reserved"),
    "unknown": ((RenameColumn(("nom",), "x"),), NotFoundError, "'nom' does not exist"),
    "unknown field": ((DropNotNull(("point", "z")),), NotFoundError, "'z' does not exist"),
    "sort key": ((DropColumn(("id",)),), InvalidInputError, "'id' cannot be dropped"),
    "a field": ((DropColumn(("point", "x")),), InvalidInputError, "'point.x' cannot be dropped"),
    "to a taken name": ((RenameColumn(("id",), "Name"),), InvalidInputError, "the same name"),
    "move a field": ((MoveColumn(("point", "x")),), InvalidInputError, "cannot be moved"),
    "after itself": ((MoveColumn(("id",), after="id"),), InvalidInputError, "after itself"),
    "after the unknown": ((added("n", after="m"),), NotFoundError, "'m' does not exist"),
    "text as a path": (
        (RenameColumn("id", "x"),),  # type: ignore[arg-type]
        InvalidInputError,
        "The path of a column must be a list of column names, not 'id'",
    ),
    "no path": ((DropColumn(()),), InvalidInputError, "must have at least one name"),
    "half": ((added("n"), DropColumn(("m",))), NotFoundError, "'m' does not exist"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_changed_is_refused_and_nothing_is(table: ArrowTable, case: str) -> None:
    changes, error, text = REFUSED[case]
    before = table.epoch
    with pytest.raises(error, match=text):
        table.alter(*changes)
    assert table.refresh().epoch == before


def test_elements_of_lists_and_maps_keep_their_names(tmp_path: Path) -> None:
    fields = (
        SchemaField(name="l", type=ArrayType(element=SchemaField(name="element", type=STRUCT))),
        SchemaField(
            name="m",
            type=MapType(
                key=SchemaField(name="key", type="int", nullable=False),
                value=SchemaField(name="value", type="int", nullable=False),
            ),
        ),
    )
    table = colonnade.create(tmp_path / "t", TableSchema(fields=fields))
    table.alter(RenameColumn(("l", "element", "x"), "z"), DropNotNull(("m", "value")))
    assert table.schema.field("l").type.value_type.field(0).name == "z"
    for path in (("l", "element"), ("m", "key")):
        with pytest.raises(InvalidInputError, match="not a field that can be renamed"):
            table.alter(RenameColumn(path, "x"))
    with pytest.raises(InvalidInputError, match="key of map 'm' must not be nullable"):
        table.alter(DropNotNull(("m", "key")))


def test_changes_that_change_nothing_make_no_epoch(table: ArrowTable) -> None:
    before = table.epoch
    assert table.alter(DropColumn(("gone",), if_exists=True), MoveColumn(("id",))) == before


ALTERATIONS: dict[str, Callable[[], Alteration]] = {
    "add": lambda: added("n"),
    "drop": lambda: DropColumn(("name",)),
    "rename": lambda: RenameColumn(("name",), "label"),
    "drop not null": lambda: DropNotNull(("id",)),
    "move": lambda: MoveColumn(("point",), first=True),
    "property a": lambda: AlterProperties({"a": "2"}),
    "property b": lambda: AlterProperties({"b": "2"}),
    "unset a": lambda: AlterProperties({}, ("a",)),
    "comment": lambda: CommentTable("new"),
}
SCHEMA_CHANGES = {"add", "drop", "rename", "drop not null", "move"}
SAME = [SCHEMA_CHANGES, {"property a", "unset a"}, {"property b"}, {"comment"}]


@pytest.mark.parametrize("mode", ["append", "overwrite"])
@pytest.mark.parametrize("case", ALTERATIONS)
def test_rows_planned_before_an_alteration_are_right_after_it(
    table: ArrowTable, case: str, mode: str
) -> None:
    slow = ArrowTable.open(table.path)
    table.alter(ALTERATIONS[case]())
    getattr(slow, mode)(rows(3))
    expected = [1, 2, 3] if mode == "append" else [3]
    found = slow.scan().to_arrow()
    assert found["id"].to_pylist() == expected
    assert found.schema == ArrowTable.open(table.path).schema
    if case == "rename":
        assert found["label"].to_pylist() == [f"n{i}" for i in expected]
    if case == "add":
        assert found["n"].null_count == len(expected)
    live = Log(locate_existing(table.path).store).read_rowsets(slow.state)
    assert live[-1].entry.schema_id == 0


@pytest.mark.parametrize("mine", ALTERATIONS)
@pytest.mark.parametrize("theirs", ALTERATIONS)
def test_two_alterations_of_the_same_thing_conflict(
    table: ArrowTable, mine: str, theirs: str
) -> None:
    slow = ArrowTable.open(table.path)
    table.alter(ALTERATIONS[theirs]())
    if any({mine, theirs} <= group for group in SAME):
        with pytest.raises(ConflictError, match="was changed by epoch 3"):
            slow.alter(ALTERATIONS[mine]())
    else:
        slow.alter(ALTERATIONS[mine]())


def test_an_alteration_meets_a_drop_and_an_append(tmp_path: Path) -> None:
    database = colonnade.create_database(tmp_path / "db")
    table = database.create_table("t", SCHEMA)
    slow = ArrowTable.open(table.path)
    table.append(rows(1))
    slow.alter(added("n"))
    assert read(slow)[0]["n"] is None
    database.drop_table("t")
    with pytest.raises(ConflictError, match="was dropped"):
        slow.alter(added("m"))


def test_a_table_keeps_its_rows_and_history_under_a_new_name(tmp_path: Path) -> None:
    database = colonnade.create_database(tmp_path / "db")
    table = database.create_table("t", SCHEMA)
    table.append(rows(1))
    epoch = database.rename_table("t", "u")
    assert database.tables() == ["u"]
    renamed = database.table("u")
    assert read(renamed) == read(renamed, epoch=epoch - 1)
    assert [e.operation for e in renamed.history()] == ["rename_table", "append", "create_table"]
    database.create_table("t", SCHEMA)
    with pytest.raises(AlreadyExistsError, match="'t' exists already"):
        database.rename_table("u", "t")
    with pytest.raises(InvalidInputError, match="'u' has this name already"):
        database.rename_table("u", "u")
    for wrong in ("", "a/b", "_x", ".."):
        with pytest.raises(InvalidInputError, match="Table name"):
            database.rename_table("u", wrong)


def test_a_lone_table_is_named_by_its_folder(table: ArrowTable) -> None:
    with pytest.raises(InvalidInputError, match="move the folder"):
        colonnade.open_database(table.path).rename_table("trips", "x")


def test_a_table_is_replaced_in_one_epoch_and_the_old_one_stays_readable(tmp_path: Path) -> None:
    database = colonnade.create_database(tmp_path / "db")
    database.create_table("t", SCHEMA).append(rows(1, 2))
    base = database.refresh()
    location = Location(locate_existing(tmp_path / "db").store, "t", exists=True)
    design = new_table("t", TableSchema(fields=(SchemaField(name="k", type="int"),)))
    job = plan_write(location, base, "append", create=design, replace=True)
    entries = write_rows(job, pa.table({"k": [7]}, pa.schema([("k", pa.int32())])).to_batches())
    assert commit_written(job, entries).epoch == base.epoch + 1
    assert commit_written(job, entries).epoch == base.epoch + 1
    table = database.table("t")
    assert read(table) == [{"k": 7}]
    assert len(read(table, epoch=base.epoch)) == 2
    assert [e.operation for e in table.history()] == ["replace_table", "append", "create_table"]


def test_replacing_a_table_loses_no_rows_that_came_meanwhile(tmp_path: Path) -> None:
    database = colonnade.create_database(tmp_path / "db")
    table = database.create_table("t", SCHEMA)
    location = Location(locate_existing(tmp_path / "db").store, "t", exists=True)
    design = new_table("t", TableSchema(fields=(SchemaField(name="k", type="int"),)))
    job = plan_write(location, database.refresh(), "append", create=design, replace=True)
    table.append(rows(1))
    with pytest.raises(ConflictError, match="'t' was changed by epoch 2"):
        commit_written(job, ())
    assert len(read(database.table("t"))) == 1


@pytest.mark.parametrize("way", ["job", "transaction", "restore"])
def test_a_table_is_replaced_beside_a_compaction(way: str, tmp_path: Path) -> None:
    database = colonnade.create_database(tmp_path / "db")
    table = database.create_table("t", SCHEMA)
    table.append(rows(1))
    table.append(rows(2))
    if way == "restore":
        first = database.refresh().epoch
        database.drop_table("t")
        table = database.create_table("t", SCHEMA)
        table.append(rows(1))
        table.append(rows(2))
    base, transaction = database.refresh(), database.transaction()
    report = table.optimize().option("min-rowsets", 2).executeCompaction()
    assert report.epoch == base.epoch + 1
    if way == "job":
        location = Location(locate_existing(tmp_path / "db").store, "t", exists=True)
        design = new_table("t", TableSchema(fields=(SchemaField(name="k", type="int"),)))
        job = plan_write(location, base, "append", create=design, replace=True)
        commit_written(job, ())
    elif way == "transaction":
        transaction.drop("t")
        transaction.create("t", SCHEMA)
        transaction.commit()
    else:
        then = database._log.read_at(first)
        restore_database(database._log, base, then, None)
    assert len(read(database.table("t"))) == (2 if way == "restore" else 0)
    assert table.refresh().epoch == base.epoch + 2


NAMES = st.sampled_from(["a", "b", "c", "d"])
CHANGES = st.lists(
    st.one_of(
        NAMES.map(added),
        NAMES.map(lambda name: DropColumn((name,))),
        st.tuples(NAMES, NAMES).map(lambda pair: RenameColumn((pair[0],), pair[1])),
        st.tuples(NAMES, NAMES).map(lambda pair: MoveColumn((pair[0],), after=pair[1])),
    ),
    max_size=12,
)


@settings(max_examples=50, deadline=None)
@given(CHANGES)
def test_rows_follow_their_columns_through_any_alterations(changes: list[Alteration]) -> None:
    store = MemoryStore()
    base = create_database(store, lone_table=False)
    location = Location(store, "t", exists=True)
    log = Log(store, checkpoint_interval=3)
    design: CreateTable = new_table(
        "t", TableSchema(fields=tuple(SchemaField(name=n, type="int") for n in "ab"))
    )
    job = plan_write(location, base, "append", create=design)
    batch = pa.record_batch({"a": pa.array([1], pa.int32()), "b": pa.array([2], pa.int32())})
    table = ArrowTable(
        location, log, commit_written(job, write_rows(job, [batch], store), log, base)
    )
    model: dict[str, int | None] = {"a": 1, "b": 2}
    given_ids = {field.id for field in table.state.schema.fields}
    for change in changes:
        try:
            table.alter(change)
        except ColonnadeError:
            continue
        match change:
            case AddColumn():
                model[change.column.name] = None
                new = table.state.schema.field(change.column.name).id
                assert new not in given_ids
                given_ids.add(new)
            case DropColumn():
                del model[change.path[0]]
            case RenameColumn():
                model[change.name] = model.pop(change.path[0])
    assert read(ArrowTable(location, log, log.read_head())) == [model]
    assert TableId(design.table) in table.snapshot.tables


def test_a_property_that_names_a_column_follows_it(tmp_path: Path) -> None:
    on = "bloom-filter-enabled.column."
    table = colonnade.create(tmp_path / "t", SCHEMA, properties={on + "ID": "true", "owner": "me"})
    with pytest.raises(
        InvalidInputError, match="'point' of type struct.* cannot have Bloom filters"
    ):
        table.alter(AlterProperties({on + "point": "true"}))
    table.alter(AlterProperties({on + "name": "true"}), RenameColumn(("id",), "key"))
    assert table.state.properties == {on + "key": "true", on + "name": "true", "owner": "me"}
    table.alter(DropColumn(("name",)), RenameColumn(("key",), "id"))
    assert table.state.properties == {on + "id": "true", "owner": "me"}
    table.alter(AlterProperties(remove=(on + "id",)), RenameColumn(("id",), "key"))
    assert table.state.properties == {"owner": "me"}
