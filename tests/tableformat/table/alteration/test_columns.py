"""Columns that come, go and move: rows stay, and ids never come back."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from colonnade.manifests.errors import (
    ColonnadeError,
)
from colonnade.manifests.ids import TableId
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.model.operations import CreateTable
from colonnade.manifests.model.schema import (
    SchemaField,
    TableSchema,
)
from colonnade.manifests.store import MemoryStore
from colonnade.tableformat.location import Location
from colonnade.tableformat.statements.commit import commit_written
from colonnade.tableformat.table.alteration import (
    AddColumn,
    Alteration,
    AlterProperties,
    CommentTable,
    DropColumn,
    MoveColumn,
    RenameColumn,
)
from colonnade.tableformat.table.design.new_table import new_table
from colonnade.tableformat.table.table import ArrowTable
from colonnade.tableformat.write.job import plan_write
from colonnade.tableformat.write.run import write_rows
from tests.examples_of import examples
from tests.tableformat.table.alteration.points import added, columns_of, read, rows


def test_a_column_that_was_added_is_null_in_the_rows_before_it(table: ArrowTable) -> None:
    table.alter(added("note", "string", after="id"))
    table.append(pa.table({**columns_of(rows(3)), "note": ["new"]}))
    found = table.scan(["id", "note"]).to_arrow()
    assert found.to_pydict() == {"id": [1, 2, 3], "note": [None, None, "new"]}
    assert table.schema.names == ["id", "note", "name", "point"]
    for where, expected in {
        "note IS NULL": [1, 2],
        "note = 'new'": [3],
        "note <> 'x'": [3],
    }.items():
        assert table.scan(["id"], where).to_arrow()["id"].to_pylist() == expected


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
    assert (table._state.comment, dict(table._state.properties)) == ("new", {"b": "2"})
    assert [entry.operation for entry in table.history()] == [
        *("alter_table", "append", "create_table")
    ]
    assert table.history(1)[0].parameters["changes"].startswith("rename column name to label; ")


def test_a_dropped_column_does_not_come_back_under_its_old_name(table: ArrowTable) -> None:
    table.alter(DropColumn(("name",)))
    table.alter(added("name", "string"))
    assert [row["name"] for row in read(table)] == [None, None]
    table.alter(DropColumn(("name",)), added("name", "string"))
    ids = [field.id for field in table._state.schema.fields]
    assert len(set(ids)) == 3
    assert table._state.next_column_id > max(ids)


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


@settings(max_examples=examples(50), deadline=None)
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
    given_ids = {field.id for field in table._state.schema.fields}
    for change in changes:
        try:
            table.alter(change)
        except ColonnadeError:
            continue
        match change:
            case AddColumn():
                model[change.column.name] = None
                new = table._state.schema.field(change.column.name).id
                assert new not in given_ids
                given_ids.add(new)
            case DropColumn():
                del model[change.path[0]]
            case RenameColumn():
                model[change.name] = model.pop(change.path[0])
    assert read(ArrowTable(location, log, log.reader.read_head())) == [model]
    assert TableId(design.table) in table._snapshot.tables
