"""Operations are what their specification says, and survive JSON."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import TypeAdapter, ValidationError

from colonnade.manifests.model.operations import (
    CompactionOutput,
    CreateDatabase,
    DropConsumer,
    DropRowSet,
    Lease,
    Operation,
    RenameTable,
    SetConsumer,
)
from tests.log_samples import entry, vector

SPEC = Path(__file__).parents[3] / "docs" / "spec" / "operations.md"
ANY: TypeAdapter[Any] = TypeAdapter(Operation)
KINDS = get_args(get_args(Operation)[0])
TABLE = "0123456789abcdef"


def fields_by_op() -> dict[str, set[str]]:
    """The fields of each operation, as the table of the specification names them."""
    rows = re.findall(r"^\| `(\w+)` \|(.*?)(?<!\\)\|", SPEC.read_text(), re.MULTILINE)
    return {op: set(re.findall(r"`(\w+)`", fields)) for op, fields in rows}


@pytest.mark.parametrize("kind", KINDS)
def test_the_specification_names_every_field_of_every_operation(kind: Any) -> None:
    op = kind.model_fields["op"].default
    assert set(kind.model_fields) - {"op"} <= fields_by_op()[op]


@pytest.mark.parametrize("kind", KINDS)
def test_no_operation_takes_an_unknown_key(kind: Any) -> None:
    op = kind.model_fields["op"].default
    with pytest.raises(ValidationError) as caught:
        ANY.validate_python({"op": op, "newer": 1})
    assert (op, "newer") in {problem["loc"] for problem in caught.value.errors()}


@pytest.mark.parametrize(
    "operation",
    [
        CreateDatabase(database=TABLE, slot_block=2**32),
        DropRowSet(table=TABLE, rowsets=((0, 2**32 - 1),), kind="merge"),
        RenameTable(table=TABLE, name="日" * 255),
        Lease(job=TABLE, epoch=2**53 - 1, until_ms=0),
        SetConsumer(name="c", source=TABLE, seen=0, until_ms=0, keep_ms=2**53 - 1),
        SetConsumer(name="c", source=TABLE, seen=2, before=1, until_ms=9, keep_ms=9),
        DropConsumer(name="c"),
    ],
)
def test_the_largest_values_of_an_operation_survive_json(operation: Any) -> None:
    assert ANY.validate_json(operation.model_dump_json(exclude_none=True)) == operation


@pytest.mark.parametrize(
    "fields",
    [
        {"op": "create_database", "database": TABLE, "slot_block": 0},
        {"op": "create_database", "database": TABLE, "slot_block": 2**32 + 1},
        {"op": "rename_table", "table": TABLE, "name": ""},
        {"op": "rename_table", "table": TABLE, "name": "n" * 256},
        {"op": "rename_table", "table": TABLE.upper(), "name": "n"},
        {"op": "drop_rowset", "table": TABLE, "rowsets": ((0, 2**32),)},
        {"op": "add_deletion_vector", "table": TABLE, "rowset": 0, "kind": "delete"},
        {"op": "txn", "table": TABLE, "app": "a", "version": -1},
    ],
)
def test_values_beyond_the_limits_of_the_specification_are_refused(
    fields: dict[str, object],
) -> None:
    with pytest.raises(ValidationError):
        ANY.validate_python(fields)


def test_an_output_is_empty_when_its_vector_deletes_every_row() -> None:
    written = entry(rows=10)
    assert not CompactionOutput(rowset=written).is_empty
    assert not CompactionOutput(rowset=written, vector=vector(9)).is_empty
    assert CompactionOutput(rowset=written, vector=vector(10)).is_empty
