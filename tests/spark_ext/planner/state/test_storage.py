"""The planner opens stores with the options of its request, and no reply shows them."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest

import colonnade
from colonnade.manifests.errors import ColonnadeError, InvalidInputError
from colonnade.manifests.store import address
from colonnade.spark_ext.options.read import parse_read_options
from colonnade.spark_ext.options.write import parse_write_options
from colonnade.spark_ext.planner.messages.envelope import Envelope
from colonnade.spark_ext.planner.operations import OPS
from colonnade.spark_ext.planner.server import answer
from colonnade.spark_ext.pyspark_types import to_spark
from colonnade.spark_ext.source.reader import ColonnadeReader, pin_read
from colonnade.spark_ext.source.writer import ColonnadeWriter, plan_python_write
from colonnade.tableformat.types.input.column_types import as_table_schema
from colonnade.tableformat.write.job import WriteJob
from colonnade.tableformat.write.run import write_rows
from tests.task_reports import rows_report
from tests.vault import OPTIONS, SECRET, open_vault

ROWS = pa.table({"id": pa.array(range(100), pa.int64())})
PATH = "vault://lake/t"
SCAN: dict[str, Any] = {
    **{"columns": ["id"], "filters": [], "limit": None, "top": None},
    **{"parallelism": 2, "apart": False, "grouped": False, "fair": False},
}

PROCEDURES: list[tuple[str, dict[str, Any]]] = [
    ("history", {"limit": None}),
    ("checkpoint", {}),
    ("verify", {"depth": 4}),
    ("compact", {"where": None, "options": "min-rowsets=2", "zorder_by": None}),
    ("plan_compaction", {"where": None, "options": None}),
    ("set_partitioning", {"fields": "bucket(4, id)"}),
]


@pytest.fixture(autouse=True)
def files(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    with open_vault(monkeypatch) as files:
        yield files


@pytest.fixture
def table() -> colonnade.ArrowTable:
    colonnade.create_database("vault://lake", storage_options=OPTIONS)
    made = colonnade.create(PATH, ROWS.schema, storage_options=OPTIONS)
    made.append(ROWS)
    return made


def ask(op: str, args: dict[str, Any], storage: dict[str, str] | None = OPTIONS) -> dict[str, Any]:
    """Send a request as the jar does. Its reply shows no secret, whatever it is."""
    sent = json.loads(json.dumps(args))
    reply = answer(OPS, Envelope(id=1, op=op, args=sent, storage=storage or {}))
    line = reply.model_dump_json()
    assert SECRET not in line
    told: dict[str, Any] = json.loads(line)
    return told


def schema_json() -> str:
    return to_spark(as_table_schema(ROWS.schema)).json()


@pytest.mark.parametrize("of_table", [False, True])
def test_a_table_is_read_and_written_with_options_of_the_session_or_of_the_table(
    table: colonnade.ArrowTable, of_table: bool
) -> None:
    session = None if of_table else OPTIONS
    own = {f"storage.{name}": value for name, value in OPTIONS.items()} if of_table else {}
    loaded = ask("load", {"path": PATH, "options": own}, session)["result"]
    scan = ask("scan", {"view": loaded["view"], **SCAN}, session)["result"]
    assert scan["rows"] == 100
    assert "vault://lake" in scan["tasks"][0]
    args = {"path": PATH, "options": own, "view": loaded["view"], "columns": schema_json()}
    planned = ask("plan_write", args, session)["result"]
    entries = write_rows(WriteJob.model_validate_json(planned["job"]), ROWS.to_batches())
    sent = {"job": planned["job"], "database": planned["database"]}
    sent["messages"] = [rows_report(entries)]
    assert ask("commit_write", sent, session)["result"]["epoch"] == loaded["view"]["epoch"] + 1
    assert table.scan().to_arrow().num_rows == 200


def test_requests_with_a_name_of_an_ended_planner_use_the_options_of_the_session(
    table: colonnade.ArrowTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = ask("load", {"path": PATH, "options": {}})["result"]
    monkeypatch.setattr(address._REGISTRY, "_held", {})
    told = ask("scan", {"view": loaded["view"], **SCAN}, None)["error"]
    assert "storage options of vault://lake are not known" in told["message"]
    assert ask("scan", {"view": loaded["view"], **SCAN})["result"]["rows"] == 100


@pytest.mark.parametrize(
    ("op", "args"),
    [
        ("table_exists", {"path": PATH}),
        ("database_exists", {"path": "vault://lake"}),
        ("list_tables", {"path": "vault://lake"}),
        ("metadata", {"path": PATH, "name": "history"}),
        ("metadata", {"path": PATH, "name": "rowsets"}),
        ("alter_table", {"path": PATH, "changes": [{"kind": "comment_table", "comment": "new"}]}),
        ("rename_table", {"path": PATH, "name": "u", "any_case": False}),
        ("drop_table", {"path": PATH}),
        ("create_database", {"path": "vault://other"}),
        *(
            ("call_procedure", {"name": name, "arguments": {"table": PATH, **more}})
            for name, more in PROCEDURES
        ),
    ],
)
def test_every_operation_on_a_path_needs_and_gets_the_options(
    table: colonnade.ArrowTable, op: str, args: dict[str, Any]
) -> None:
    assert "could not be" in ask(op, args, None)["error"]["message"]
    assert "could not be" in ask(op, args, {"secret": f"not {SECRET}"})["error"]["message"]
    assert "result" in ask(op, args), ask(op, args)


def test_a_local_path_ignores_the_options_of_the_session_and_refuses_its_own(tmp_path: Any) -> None:
    colonnade.create(str(tmp_path / "t"), ROWS.schema)
    asked = {"path": str(tmp_path / "t"), "options": {}}
    assert ask("load", asked)["result"]["view"]["options"] == ""
    told = ask("load", {**asked, "options": {"storage.key": SECRET}})["error"]
    assert "takes no storage options; leave ['key'] out" in told["message"]


def test_the_python_source_takes_its_options_to_tasks_and_shows_none(
    table: colonnade.ArrowTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = {"path": PATH, "storage.secret": SECRET}
    read, write = parse_read_options(given), parse_write_options(given)
    pinned = pin_read(read)
    schema = to_spark(pinned.table_schema)
    reader = ColonnadeReader(pinned, schema)
    partition = reader.partitions()[0]
    writer = ColonnadeWriter(plan_python_write(write, schema, overwrite=False))
    for shown in (read, write, pinned, reader.__dict__, partition.value, writer.__dict__):
        assert SECRET not in repr(shown)
    sent = pickle.dumps((reader, writer))
    monkeypatch.setattr(address._REGISTRY, "_held", {})
    with pytest.raises(Exception, match="not known to this process"):
        list(reader.read(partition))
    there, writes_there = pickle.loads(sent)
    assert sum(batch.num_rows for batch in there.read(partition)) == 100
    writes_there.commit([writes_there.write(iter(ROWS.to_batches()))])
    assert table.scan().to_arrow().num_rows == 200


def test_a_source_option_with_invalid_json_is_named_without_its_value() -> None:
    with pytest.raises(InvalidInputError, match="Storage option client_kwargs") as refused:
        parse_read_options({"path": PATH, "storage.client_kwargs": f"{{{SECRET}"})
    assert SECRET not in str(refused.value)
    with pytest.raises(ColonnadeError, match="no storage options"):
        pin_read(parse_read_options({"path": "/data/t", "storage.key": SECRET}))
