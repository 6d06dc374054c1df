"""Static columns are declared with a table or added later; what cannot be static is refused."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import colonnade
from colonnade import AddColumn, DropColumn, SchemaField, WidenColumn
from colonnade.manifests.errors import (
    AlreadyExistsError,
    ColonnadeError,
    InvalidInputError,
    NotFoundError,
)
from colonnade.tableformat.table.design.partition_key import with_static_columns
from colonnade.tableformat.table.epochs.erase import erase
from colonnade.tableformat.table.table import ArrowTable
from colonnade.tableformat.types.input.column_types import as_table_schema

SCHEMA = pa.schema(
    [
        ("site", pa.int32()),
        ("at", pa.int64()),
        ("v", pa.float64()),
        ("owner", pa.string()),
        ("tag", pa.string()),
    ]
)


def create(path: Path, **more: Any) -> ArrowTable:
    given = {"primary_key": ["site", "at"], "static": ["owner"], **more}
    return colonnade.create(path, SCHEMA, **given)


def rows(**columns: list[Any]) -> pa.Table:
    return pa.table(columns, schema=pa.schema([SCHEMA.field(name) for name in columns]))


def test_the_key_is_the_first_column_of_the_primary_key_unless_it_is_given(tmp_path: Path) -> None:
    assert create(tmp_path / "a").statics.schema.names == ["site", "owner"]
    other = create(tmp_path / "b", primary_key=["at"], partition_key=["site"])
    assert other.statics.schema.names == ["site", "owner"]
    assert not other.schema.field("site").nullable
    keyless = create(tmp_path / "c", primary_key=[], partition_key=["at", "site"])
    assert keyless.statics.primary_key == ("at", "site")


def test_columns_become_static_and_keys_not_null() -> None:
    found = with_static_columns(as_table_schema(SCHEMA), ["OWNER"], ["site"])
    assert [(each.name, each.static, each.nullable) for each in found.fields] == [
        ("site", None, False),
        ("at", None, True),
        ("v", None, True),
        ("owner", True, True),
        ("tag", None, True),
    ]


def test_a_table_gets_static_columns_later_and_loses_them(tmp_path: Path) -> None:
    table = colonnade.create(tmp_path / "t", SCHEMA.remove(3), primary_key=["site", "at"])
    table.append(rows(site=[1, 1, 2], at=[1, 2, 1], v=[0.1, 0.2, 0.3]))
    with pytest.raises(InvalidInputError, match="has no static columns"):
        _ = table.statics
    table.alter(AddColumn(SchemaField(name="owner", type="string", static=True), after="site"))
    table.upsert(rows(site=[1, 9], owner=["ann", "zoe"]))
    table.alter(WidenColumn("site", "long"))
    table.upsert(rows(site=[2], owner=["bo"]))
    shown = table.scan(["site", "owner"]).to_arrow().to_pydict()
    assert shown == {"site": [1, 1, 2], "owner": ["ann", "ann", "bo"]}
    assert sorted(table.statics.scan().to_arrow()["site"].to_pylist()) == [1, 2, 9]
    table.alter(DropColumn("owner"))
    assert table.scan().to_arrow().column_names == ["site", "at", "v", "tag"]
    table.alter(AddColumn(SchemaField(name="owner", type="string", static=True)))
    assert table.scan(["owner"]).to_arrow()["owner"].null_count == 3


def test_a_table_that_is_restored_to_before_its_static_columns_has_no_static_values(
    tmp_path: Path,
) -> None:
    table = colonnade.create(tmp_path / "t", SCHEMA.remove(3), primary_key=["site", "at"])
    before = table.append(rows(site=[1], at=[1]))
    owner = AddColumn(SchemaField(name="owner", type="string", static=True))
    table.alter(owner)
    given = table.append(rows(site=[1, 2], owner=["ann", "bo"]))
    table.restore(epoch=before)
    assert table.scan().to_arrow().column_names == ["site", "at", "v", "tag"]
    assert table.statics.scan().to_arrow().num_rows == 0
    table.alter(owner)
    assert table.scan(["owner"]).to_arrow()["owner"].to_pylist() == [None]
    table.restore(epoch=given)
    assert table.scan(["owner"]).to_arrow()["owner"].to_pylist() == ["ann"]
    assert sorted(table.statics.scan().to_arrow()["site"].to_pylist()) == [1, 2]
    assert table.verify(depth=4).is_sound


def test_keys_are_deleted_where_only_a_static_column_has_a_sequence(tmp_path: Path) -> None:
    table = create(tmp_path / "t", static=["owner", "tag"], properties={"sequence.owner": "tag"})
    table.append(rows(site=[1, 1], at=[1, 2], owner=["ann", None], tag=["a", None]))
    assert table.delete_keys(rows(site=[1], at=[1])).rows_deleted == 1
    shown = table.scan(["at", "owner"]).to_arrow().to_pydict()
    assert shown == {"at": [2], "owner": ["ann"]}


def test_damaged_static_values_are_found_with_their_table_and_repaired_by_their_path(
    tmp_path: Path,
) -> None:
    path = tmp_path / "t"
    table = create(path)
    owners = [random.Random(at).randbytes(300).hex() for at in range(500)]
    table.append(rows(site=list(range(500)), at=[1] * 500, owner=owners))
    (file,) = path.glob("*/*.rowset")  # rows of the table are small, and in the log
    file.write_bytes(file.read_bytes()[:-1])
    for each in (colonnade.open(path), colonnade.open(path / "t.statics")):
        (finding,) = each.verify(depth=1).findings
        assert (finding.table, finding.rowset) == ("t.statics", 0)
    statics = colonnade.open(path / "t.statics")
    statics.repair([0], rescue=tmp_path / "rescued")
    assert table.verify(depth=4).is_sound
    assert table.scan(["owner"]).to_arrow()["owner"].null_count == 500


def test_a_path_inside_a_table_is_refused_unless_static_values_have_it(tmp_path: Path) -> None:
    table = create(tmp_path / "t")
    assert colonnade.open(table.statics.path).schema.names == ["site", "owner"]
    with pytest.raises(InvalidInputError, match="is inside the table"):
        colonnade.open(tmp_path / "t" / "other")
    with pytest.raises(NotFoundError, match=r"'other\.statics' does not exist .* tables are: t;"):
        colonnade.open(tmp_path / "t" / "other.statics")
    with pytest.raises(AlreadyExistsError, match="holds the lone table 't' and no other"):
        create(tmp_path / "t" / "other.statics")
    assert table.refresh().epoch == 1


def test_an_append_of_static_values_alone_adds_no_row(tmp_path: Path) -> None:
    table = create(tmp_path / "t")
    table.append(rows(site=[1], at=[1], v=[0.5]))
    before = table.refresh().epoch
    assert table.append(rows(site=[1, 2], owner=["ann", "bo"])) == before + 1
    assert table.append(rows(site=[1, 2], owner=["ann", None])) == before + 1
    assert table.scan(["site", "owner"]).to_arrow().to_pydict() == {"site": [1], "owner": ["ann"]}
    assert table.statics.scan().to_arrow().num_rows == 2


def test_a_database_lists_its_tables_without_those_of_static_values(tmp_path: Path) -> None:
    database = colonnade.create_database(tmp_path / "db")
    database.create_table("t", SCHEMA, primary_key=["site", "at"], static=["owner"])
    assert database.tables() == ["t"]
    assert colonnade.open(tmp_path / "db" / "t.statics").schema.names == ["site", "owner"]
    database.rename_table("t", "u")
    assert database.tables() == ["u"]
    database.drop_table("u")
    assert database._refresh().tables == {}


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"static": ["site"]}, "'site' of the partition key is static"),
        ({"static": ["at"]}, "'at' is NOT NULL"),
        ({"static": ["nothing"]}, "'nothing' does not exist"),
        ({"static": ["owner", "owner"]}, "'owner' is named twice in static"),
        ({"static": "owner"}, "static must be a list"),
        ({"static": [], "partition_key": ["site"]}, "no static column"),
        ({"primary_key": []}, "no partition key"),
        ({"partition_key": ["v", "v"]}, "twice"),
        ({"sort_key": ["owner"]}, "Column 'owner' .* static.*sort key"),
        ({"partition_by": ["owner"]}, "Column 'owner' .* static.*partitioning"),
        ({"constraints": {"c": "owner <> ''"}}, "Column 'owner' .* static.*c CHECK"),
        ({"properties": {"ttl.owner": "1 day"}}, "Column 'owner' .* static.*time to live"),
        ({"properties": {"bloom-filter-enabled.column.owner": "true"}}, "names a static column"),
        ({"properties": {"sequence": "owner"}}, "static columns alone have a static sequence"),
        ({"properties": {"sequence.owner": "v"}}, "static column cannot .* not static"),
    ],
    ids=lambda each: str(each)[:40],
)
def test_what_cannot_be_static_is_refused_by_name_and_nothing_is_made(
    tmp_path: Path, given: dict[str, Any], problem: str
) -> None:
    with pytest.raises(ColonnadeError, match=problem):
        create(tmp_path / "t", **given)
    assert not list((tmp_path).glob("t/*/*.rowset"))
    create(tmp_path / "t")


def test_the_partition_key_and_static_values_keep_what_they_need(tmp_path: Path) -> None:
    table = create(tmp_path / "t", primary_key=["at"], partition_key=["site"])
    table.append(rows(site=[1, 1], at=[1, 2], tag=["p", "q"], owner=["a", "b"]))
    epoch = table.refresh().epoch
    with pytest.raises(InvalidInputError, match="static values belong to it"):
        table.alter(DropColumn("site"))
    with pytest.raises(InvalidInputError, match="has the static values of table 't'"):
        table.statics.alter(DropColumn("owner"))
    with pytest.raises(InvalidInputError, match="different values"):
        table.update({"owner": "tag"})
    with pytest.raises(InvalidInputError, match="cannot set column 'site' of the partition key"):
        table.update({"site": 3, "owner": "'x'"})
    with pytest.raises(InvalidInputError, match="no column 'site'"):
        table.append(rows(at=[5], owner=["x"]))
    with pytest.raises(InvalidInputError, match="cannot name column 'owner'"):
        table.overwrite(rows(site=[1], at=[1], v=[1.0]), where="owner = 'b'")
    with pytest.raises(InvalidInputError, match="cannot name column 'owner'"):
        erase(table, "owner = 'b'")
    with pytest.raises(InvalidInputError, match="cannot find rows by column 'owner'"):
        table.upsert(rows(site=[1], at=[1], v=[1.0], owner=["b"], tag=["p"]), on=["owner"])
    with pytest.raises(InvalidInputError, match="cannot fill column 'owner'"):
        table.backfill("owner", "'x'")
    assert table.refresh().epoch == epoch
    assert table.scan(["owner"]).to_arrow()["owner"].to_pylist() == ["b", "b"]


def test_the_history_of_a_table_has_the_changes_of_its_static_values(tmp_path: Path) -> None:
    table = create(tmp_path / "t")
    table.append(rows(site=[1, 2], at=[1, 1], v=[0.5, 0.6]))
    table.update({"owner": "'ann'"}, "site = 1")
    table.statics.delete("owner = 'ann'")
    shown = [(each.operation, each.rowsets_added) for each in table.history()]
    assert shown == [("delete", 0), ("update", 0), ("append", 1), ("create_table", 0)]
    assert table.history()[1].metrics["rows_updated"] == 1
    assert [each.operation for each in table.statics.history()] == [
        "delete",
        "update",
        "create_table",
    ]
