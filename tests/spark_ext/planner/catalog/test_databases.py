"""The planner's operations behind the catalog and behind writes, called as Java calls them."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import colonnade
from colonnade.manifests.errors import (
    AlreadyExistsError,
    ColonnadeError,
    ConflictError,
    InvalidInputError,
)
from colonnade.spark_ext.planner.catalog import databases
from colonnade.spark_ext.planner.procedures import by_name
from colonnade.spark_ext.planner.read import metadata
from colonnade.spark_ext.planner.read.load import load
from colonnade.spark_ext.planner.write import rows, writes
from colonnade.tableformat.write.job import WriteJob
from colonnade.tableformat.write.run import write_rows
from tests.task_reports import encode_rows, rows_report

SCHEMA = json.dumps(
    {
        "type": "struct",
        "fields": [
            {"name": "id", "type": "long", "nullable": False, "metadata": {}},
            {"name": "name", "type": "string", "nullable": True, "metadata": {}},
        ],
    }
)
DESIGN: dict[str, Any] = {
    "columns": SCHEMA,
    "layout": {"cluster_by": [["id"]]},
    "properties": {"k": "v"},
    "comment": "c",
    "replace": False,
}
ROWS = pa.table({"id": [1, 2], "name": ["a", None]})


def planned(path: Path | str, **changed: Any) -> dict[str, Any]:
    args: dict[str, Any] = {
        "path": str(path),
        "columns": SCHEMA,
        "options": {},
        "view": None,
        "design": None,
        "where": None,
        "overwrite": False,
    }
    return writes.plan_write({**args, **changed})


def written(plan: dict[str, Any], rows: pa.Table = ROWS) -> dict[str, Any]:
    """The arguments of the commit of these rows."""
    job = WriteJob.model_validate_json(plan["job"])
    message = rows_report(write_rows(job, rows.to_batches()))
    return {"job": plan["job"], "database": plan["database"], "messages": [message]}


def create(path: Path | str) -> None:
    """An empty table of DESIGN."""
    writes.commit_write(written(planned(path, design=DESIGN), ROWS.slice(0, 0)))


def ids(path: Path) -> list[int]:
    found: list[int] = colonnade.open(path).scan().to_arrow()["id"].to_pylist()
    return found


def test_filters_of_a_column_go_with_it_where_the_columns_are_replaced(tmp_path: Path) -> None:
    asked = {f"bloom-filter-enabled.column.{name}": "true" for name in ("id", "name")}
    design = {**DESIGN, "properties": {**DESIGN["properties"], **asked}}
    writes.commit_write(written(planned(tmp_path / "t", design=design)))
    fields = json.loads(SCHEMA)["fields"]
    columns = json.dumps({"type": "struct", "fields": fields[:1]})
    options = {"overwriteSchema": "true"}
    plan = planned(tmp_path / "t", columns=columns, overwrite=True, options=options)
    writes.commit_write(written(plan, ROWS.select(["id"])))
    table = colonnade.open(tmp_path / "t")
    assert table.schema.names == ["id"]
    assert table._state.properties == {"k": "v", "bloom-filter-enabled.column.id": "true"}


def test_a_commit_that_is_sent_twice_lands_once(tmp_path: Path) -> None:
    for _ in range(2):  # the first creates the table
        commit = written(planned(tmp_path / "t"))
        epochs = [writes.commit_write(commit)["epoch"] for _ in range(2)]
        assert epochs[0] == epochs[1]
    assert ids(tmp_path / "t") == [1, 2, 1, 2]
    assert colonnade.open(tmp_path / "t").epoch == 2


def test_an_append_of_no_rows_makes_no_epoch(tmp_path: Path) -> None:
    writes.commit_write(written(planned(tmp_path / "t")))
    plan = planned(tmp_path / "t")
    empty = {"job": plan["job"], "database": plan["database"], "messages": [rows_report(())] * 2}
    assert writes.commit_write(empty)["epoch"] == 1
    assert colonnade.open(tmp_path / "t").epoch == 1


def test_an_overwrite_conflicts_with_what_was_written_since_the_epoch_it_saw(
    tmp_path: Path,
) -> None:
    writes.commit_write(written(planned(tmp_path / "t")))
    seen = load({"path": str(tmp_path / "t"), "options": {}})["view"]
    late = written(planned(tmp_path / "t", view=seen, overwrite=True))
    writes.commit_write(written(planned(tmp_path / "t")))
    with pytest.raises(ConflictError, match=r"that the statement overwrites changed in epoch 2"):
        writes.commit_write(late)
    later = written(planned(tmp_path / "t", view=seen, overwrite=True))
    with pytest.raises(ConflictError, match=r"that the statement overwrites changed in epoch 2"):
        writes.commit_write(later)


def remove(path: Path) -> None:
    shutil.rmtree(path)


def replace(path: Path) -> None:
    """Another table at the path of a lone one, with as many epochs."""
    shutil.rmtree(path)
    writes.commit_write(written(planned(path)))


def drop(path: Path) -> None:
    databases.drop_table({"path": str(path)})


def create_again(path: Path) -> None:
    drop(path)
    create(path)


@pytest.mark.parametrize(
    ("folder", "happens"),
    [("t", remove), ("t", replace), ("t", drop), ("db/t", drop), ("db/t", create_again)],
)
def test_rows_go_to_no_other_table_than_the_one_that_the_statement_read(
    tmp_path: Path, folder: str, happens: Callable[[Path], None]
) -> None:
    path = tmp_path / folder
    if folder == "db/t":
        databases.create_database({"path": str(path.parent)})
    writes.commit_write(written(planned(path)))
    seen = load({"path": str(path), "options": {}})["view"]
    happens(path)
    with pytest.raises(ConflictError, match="was dropped or replaced after the statement had read"):
        planned(path, view=seen)


def test_a_design_creates_or_replaces_a_table_with_its_rows(tmp_path: Path) -> None:
    path = tmp_path / "t"
    plan = planned(path, design=DESIGN)
    assert plan["ordering"] == [{"column": "id", "descending": False}]
    writes.commit_write(written(plan))
    with pytest.raises(AlreadyExistsError):
        planned(path, design=DESIGN)
    properties = {"sortKey": "name desc, id"}
    design = {**DESIGN, "layout": {}, "properties": properties, "replace": True}
    plan = planned(path, design=design)
    assert [key["descending"] for key in plan["ordering"]] == [True, False]
    writes.commit_write(written(plan, ROWS.slice(1)))
    assert ids(path) == [2]
    assert colonnade.open(path)._state.properties == {}
    with pytest.raises(InvalidInputError, match="not both"):
        planned(path, design={**DESIGN, "properties": properties, "replace": True})


def test_a_design_is_sorted_by_the_very_columns_of_cluster_by(tmp_path: Path) -> None:
    names = ("a", "a desc", "a.b")
    fields = [{"name": n, "type": "long", "nullable": True, "metadata": {}} for n in names]
    schema = json.dumps({"type": "struct", "fields": fields})
    design = {**DESIGN, "columns": schema, "layout": {"cluster_by": [["a desc"], ["a.b"]]}}
    plan = planned(tmp_path / "t", columns=schema, design=design)
    assert [key["column"] for key in plan["ordering"]] == ["a desc", "a.b"]
    inside = {**design, "layout": {"cluster_by": [["a", "b"]]}}
    with pytest.raises(InvalidInputError, match=r"Field 'a\.b' cannot be in a sort key"):
        planned(tmp_path / "t", columns=schema, design=inside)


def test_a_condition_chooses_what_is_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "t"
    writes.commit_write(written(planned(path)))
    writes.commit_write(written(planned(path), pa.table({"id": [7], "name": ["x"]})))
    literal = {"type": "bigint", "value": "7"}
    where = [{"op": "=", "args": [{"column": ["id"]}, literal]}]
    plan = planned(path, overwrite=True, where=where)
    with pytest.raises(InvalidInputError, match="1 of the new rows do not meet the condition"):
        writes.commit_write(written(plan, pa.table({"id": [8], "name": ["y"]})))
    writes.commit_write(written(plan, pa.table({"id": [7, 7], "name": ["y", "z"]})))
    assert ids(path) == [1, 2, 7, 7]
    unknown = planned(path, overwrite=True, where=[{"op": "CAST", "args": []}])
    assert (plan["exact"], unknown["exact"]) == (True, False)
    with pytest.raises(InvalidInputError, match="2 of the new rows do not meet the condition"):
        writes.commit_write(written(unknown))  # not by itself, which would find none to replace


def test_rows_that_the_caller_found_are_replaced(tmp_path: Path) -> None:
    path = tmp_path / "t"
    writes.commit_write(written(planned(path)))
    where = [{"op": "CAST", "args": []}]
    arguments = written(planned(path, overwrite=True, where=where))
    report: dict[str, Any] = {"rowsets": [], "origins": []}
    found = json.dumps({**report, "deleted": {"0": encode_rows([1])}})
    late = {**arguments, "overwritten": [found], "filters": where}
    assert rows.commit_overwrite(late)["epoch"] == 2
    assert rows.commit_overwrite(late)["epoch"] == 2, "sent again it lands once"
    assert ids(path) == [1, 1, 2]
    other = written(planned(path, overwrite=True, where=where))
    writes.commit_write(written(planned(path)))
    with pytest.raises(ConflictError, match=r"that the statement overwrites changed in epoch 3"):
        rows.commit_overwrite({**other, "overwritten": [], "filters": where})


def test_a_warehouse_lists_databases_and_nothing_else(tmp_path: Path) -> None:
    warehouse = str(tmp_path / "w")
    assert databases.list_databases({"warehouse": warehouse}) == {"names": []}
    for name in ("b", "a", "__c"):
        databases.create_database({"path": f"{warehouse}/{name}"})
    create(f"{warehouse}/lone")
    (tmp_path / "w" / "folder").mkdir()
    (tmp_path / "w" / "a").rename(tmp_path / "w" / "_moved-a")
    databases.create_database({"path": f"{warehouse}/a"})
    assert databases.list_databases({"warehouse": warehouse}) == {"names": ["__c", "a", "b"]}
    assert databases.database_exists({"path": f"{warehouse}/lone"}) == {"yes": False}
    assert databases.table_exists({"path": f"{warehouse}/lone"}) == {"yes": True}
    for path in ("a", "a/t", "lone/t", "nothing"):
        assert databases.table_exists({"path": f"{warehouse}/{path}"}) == {"yes": False}
    create(f"{warehouse}/a/t")
    assert databases.drop_database({"path": f"{warehouse}/a", "cascade": False}) == {"yes": False}
    assert databases.drop_database({"path": f"{warehouse}/a", "cascade": True}) == {"yes": True}
    assert databases.drop_table({"path": f"{warehouse}/a/t"}) == {"yes": False}
    assert databases.list_databases({"warehouse": warehouse}) == {"names": ["__c", "b"]}


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "type": (
        {"kind": "widen_column", "column": ["id"], "type": '"string"'},
        "type of column 'id' cannot be changed from long to string: it can become a decimal of 19",
    ),
    "default": (
        {
            "kind": "set_default",
            "column": ["a", "b"],
            "default_value": {"sql": "1", "now": {"type": "int", "value": "1"}},
        },
        "Column 'a' does not exist",
    ),
    "nested default": (
        {
            "kind": "set_default",
            "column": ["id"],
            "default_value": {"sql": "array(1)", "now": None},
        },
        "'id' cannot have the default 'array",
    ),
    "sort key": (
        {"kind": "cluster_by", "columns": [["a", "b"]]},
        "Field 'a.b' cannot be in a sort key",
    ),
    "unknown": (
        {"kind": "other"},
        "Request 'alter_table' to the planner is malformed: field 'changes",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_an_alteration_that_is_not_supported_is_refused_by_name(tmp_path: Path, case: str) -> None:
    change, sentence = REFUSED[case]
    create(tmp_path / "t")
    with pytest.raises(ColonnadeError, match=sentence):
        databases.alter_table({"path": str(tmp_path / "t"), "changes": [change]})
    assert colonnade.open(tmp_path / "t").epoch == 1


DEFAULTS = {
    "int": ("1 + 1", "2", "i:2", False),
    "bigint": ("2L", "2", "i:2", True),
    "double": ("double('NaN')", "NaN", "f:nan", True),
    "decimal(9,2)": ("1.5", "1.50", "i2:150", True),
    "string": ("'it\\'s'", "it's", "s:it's", True),
    "varchar(4)": ("'it'", "it", "s:it", True),
    "binary": ("X'00FF'", "AP8=", "b:AP8=", True),
    "date": ("current_date()", "20000", "d:20000", False),
    "timestamp": ("TIMESTAMP '1970-01-01 00:00:00'", "18000000000", "i:18000000000", False),
    "interval day to second": ("INTERVAL '1' DAY", "86400000000", "i:86400000000", True),
}


@pytest.mark.parametrize("name", DEFAULTS)
def test_a_default_has_its_value_beside_its_text_if_the_text_alone_says_it(
    tmp_path: Path, name: str
) -> None:
    path = str(tmp_path / "t")
    create(path)
    sql, text, stored, constant = DEFAULTS[name]
    default = {"sql": sql, "now": {"type": name, "value": text}}
    spark_name = {"int": "integer", "bigint": "long"}.get(name, name)
    added = {
        **{"kind": "add_column", "column": ["n"], "type": f'"{spark_name}"', "nullable": False},
        **{"after": None, "first": False, "comment": None, "default_value": default},
    }
    databases.alter_table({"path": path, "changes": [added]})
    *_, column = colonnade.open(path)._state.schema.fields
    assert column.initial == stored
    assert column.default is not None
    assert (column.default.sql, column.default.value) == (sql, stored if constant else None)
    change = {"kind": "set_default", "column": ["N"], "default_value": default}
    databases.alter_table({"path": path, "changes": [change]})
    assert colonnade.open(path).epoch == 2
    dropped = {"kind": "set_default", "column": ["n"], "default_value": None}
    databases.alter_table({"path": path, "changes": [dropped]})
    *_, column = colonnade.open(path)._state.schema.fields
    assert (column.initial, column.default) == (stored, None)


def test_alterations_share_an_epoch(tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    create(path)
    placed = {"after": None, "first": True}
    added = {"kind": "add_column", "column": ["n"], "type": '"integer"', "nullable": True, **placed}
    changes = [
        {**added, "comment": "new"},
        {"kind": "rename_column", "column": ["name"], "name": "label"},
        {"kind": "set_properties", "set": {"x": "y"}, "remove": ["k"]},
        {"kind": "comment_table", "comment": None},
        {"kind": "widen_column", "column": ["n"], "type": '"decimal(20,0)"'},
        {"kind": "set_nullable", "column": ["id"], "nullable": False},
    ]
    databases.alter_table({"path": path, "changes": changes})
    assert colonnade.open(path).epoch == 2
    state = colonnade.open(path)._state
    assert state.schema.names == ("n", "id", "label")
    assert [field.type for field in state.schema.fields] == ["decimal(20,0)", "long", "string"]
    assert (dict(state.properties), state.comment) == ({"x": "y"}, None)


def width(schema: str) -> int:
    """How many columns a schema has, however deep their types are."""
    while (inner := re.sub(r"<[^<>]*>", "", schema)) != schema:
        schema = inner
    return schema.count(",") + 1


def test_rows_about_a_table_are_json(tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    writes.commit_write(written(planned(tmp_path / "t")))
    names = metadata.metadata_names({})["names"]
    read_by_tasks = {metadata.STATICS, metadata.CHANGES}
    assert read_by_tasks <= set(names)
    for name in (each for each in names if each not in read_by_tasks):
        found = metadata.metadata({"path": path, "name": name})
        assert json.loads(json.dumps(found)) == found
        assert all(len(row) == width(found["columns"]) for row in found["rows"])
    known = set(by_name.list_procedures({})["procedures"])
    assert known >= {"history", "compact", "vacuum", "verify", "repair"}
    call = {"name": "checkpoint", "arguments": {"table": path}}
    assert by_name.call_procedure(call) == {"rows": [[1, 1]]}


def test_a_table_is_vacuumed_verified_and_repaired_by_call(tmp_path: Path) -> None:
    path = tmp_path / "t"
    for _ in range(2):
        writes.commit_write(written(planned(path, overwrite=True)))

    def call(name: str, **arguments: object) -> list[list[object]]:
        described = by_name.list_procedures({})["procedures"][name]
        given: dict[str, object] = {each["name"]: None for each in described["parameters"]}
        given |= {"table": str(path), **arguments}
        found = by_name.call_procedure({"name": name, "arguments": given})["rows"]
        assert all(len(row) == width(described["columns"]) for row in found)
        return list(found)

    [planned_row] = call("vacuum", retention_hours=0.0, dry_run=True)
    assert planned_row[:4] == [str(path), None, 2, 2]
    assert call("verify", depth=4) == []
    [row] = call("vacuum", retention_hours=0.0, force=True)
    assert row[:4] == [str(path), 3, 2, 2]
    assert call("verify") == []
    before = {file: file.stat().st_mtime_ns for file in path.rglob("*")}
    assert call("repair", dry_run=True) == [[3, *[None] * 6]]
    assert {file: file.stat().st_mtime_ns for file in path.rglob("*")} == before
    assert call("repair") == [[3, *[None] * 6]]
    with pytest.raises(InvalidInputError, match="nothing to repair"):
        call("repair", rowsets="1", rescue=str(tmp_path / "lost.parquet"))
    with pytest.raises(InvalidInputError, match="Give both"):
        call("repair", rowsets="1")
    with pytest.raises(InvalidInputError, match="numbers like"):
        call("repair", rowsets="all", rescue=str(tmp_path / "lost.parquet"))
    damaged = path / "_manifest" / "00000000000000000003.json"
    damaged.write_bytes(damaged.read_bytes().replace(b"vacuum", b"vacuul"))
    assert {row[0] for row in call("verify", depth=1)} == {"cache", "damage"}


def test_compactions_are_planned_and_done_by_call(tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    table = colonnade.create(path, pa.schema([("a", pa.int64()), ("b", pa.int64())]))
    for i in range(4):
        table.append(pa.table({"a": [i], "b": [-i]}))

    def call(name: str, **arguments: str) -> list[list[Any]]:
        given = dict.fromkeys(("where", "options", "zorder_by")) | {"table": path} | arguments
        found = by_name.call_procedure({"name": name, "arguments": given})["rows"]
        schema = by_name.list_procedures({})["procedures"][name]["columns"]
        assert all(len(row) == width(schema) for row in found)
        return json.loads(json.dumps(found))

    def compacted(**arguments: str) -> list[Any]:
        [[place, metrics]] = call("compact", **arguments)
        assert place == path
        added, removed, _, _, groups, waiting, *_, epoch, _ = metrics
        return [epoch, groups, waiting, removed, added]

    assert call("plan_compaction") == []
    [group] = call("plan_compaction", options="min-rowsets = 2,", where="a > 0")
    assert group[:4] == ["rewrite", 3, 3, 0]
    assert group[6:] == [False, f"3 small RowSets, the largest of {group[4] // 3} B"]
    assert compacted() == [5, 0, 0, 0, 0]
    assert compacted(options="min-rowsets=2", where="a > 0") == [6, 1, 0, 3, 1]
    assert compacted(zorder_by="a, b") == [7, 1, 0, 2, 1]
    with pytest.raises(colonnade.InvalidInputError, match="'deleted-share=0, min-rowsets=2'"):
        call("compact", options="all")
