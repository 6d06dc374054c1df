"""What a task in the JVM gets of a planned write."""

import json
import re
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from colonnade.manifests.arrays.origins import NEW
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.spark_ext.write_task import ENCODING, IDENTITY_DRAWS, ROWSET_ROWS, task_json
from colonnade.tableformat.rowset.write_options import WriteOptions
from colonnade.tableformat.write.pipeline import target_options
from colonnade.tableformat.write.settings import WriteSettings
from tests.spark_ext.java.write_tool import job_of

WRITE = Path(__file__).parent.parent.parent / "spark_ext/java/src/colonnade/write"
JAVA, CHOICES = WRITE / "job/WriteOptions.java", WRITE / "staged/EncodingChoices.java"
DRAWS = WRITE / "job/IdentityDraws.java"
OWN = {
    "HIGH_BITS", "DAY_NS", "SMALL", "MOST_ROWS", "BYTES", "WIDTH", "MOST",
    "MOST_HELD_ROWS", "MOST_HELD_BYTES", "BYTES_OF_ENTRY", "serialVersionUID", "HANDLER",
    "CHANGED", "VALUES", "ROW", "FIRST_ROOM",
}  # fmt: skip
"""Constants of the JVM that no writer in Python has.

They are of its own buffers, words and units, and of the columns of a query that fills.
"""
OF_THE_FORMAT = {"NEW", "VALUE_LIMIT", "BLOCK"}
"""NEW is compared below, VALUE_LIMIT in tests/spec, and BLOCK by origins that both write."""
PYTHON_ALONE = {"run_bytes"}
"""Spark sorts the rows of a task."""


def schema(columns: int = 40) -> TableSchema:
    return TableSchema(
        fields=tuple(SchemaField(id=i, name=f"c{i}", type="long") for i in range(1, columns + 1))
    )


def options(**settings: Any) -> dict[str, Any]:
    task = json.loads(task_json(job_of("/t", schema(), settings=WriteSettings(**settings))))
    return dict(task["options"])


def components(file: Path) -> set[str]:
    """What the record of a Java file has, by the names that JSON has for them."""
    code = re.sub(r"/\*.*?\*/", "", file.read_text(), flags=re.DOTALL)
    stated = re.search(rf"record {file.stem}\((.*?)\) *(?:implements \w+ )?\{{", code, re.DOTALL)
    assert stated is not None
    names = re.findall(r"(\w+)(?:,|$)", re.sub(r"<[^>]*>", "", stated[1]).strip())
    return {re.sub(r"([A-Z])", r"_\1", name).lower() for name in names}


def test_every_choice_of_a_write_reaches_the_task() -> None:
    choices = {field.name for field in fields(WriteOptions)} - PYTHON_ALONE
    assert choices | {"held_bytes"} == set(options())


def test_the_task_reads_every_choice_that_it_gets() -> None:
    assert components(JAVA) == set(options())


@pytest.mark.parametrize(("group", "file"), [("encoding", CHOICES), ("draws", DRAWS)])
def test_a_task_reads_every_size_that_it_gets(group: str, file: Path) -> None:
    sizes = {"encoding": set(ENCODING), "draws": set(IDENTITY_DRAWS)}
    assert components(file) == sizes[group]


def test_the_jvm_has_no_choices_of_its_own() -> None:
    for file in (JAVA, CHOICES, DRAWS):
        code = re.sub(r"/\*.*?\*/", "", file.read_text(), flags=re.DOTALL)
        assert not re.search(r"\d{2,}", code)
    constant = re.compile(r"static final (?:int|long|double) (\w+) =")
    assert {
        name for file in WRITE.rglob("*.java") for name in constant.findall(file.read_text())
    } == OWN | OF_THE_FORMAT


def test_a_row_without_an_origin_has_the_same_number_in_both_languages() -> None:
    [number] = re.findall(
        r"static final long NEW = (-?\d+);", (WRITE / "rowset/Origins.java").read_text()
    )
    assert int(number) == NEW


def test_statistics_are_kept_of_the_columns_that_python_would_index() -> None:
    job = job_of("/t", schema())
    chosen = target_options(job.target, job.settings)
    assert options()["indexed_columns"] == sorted(chosen.indexed_columns)
    assert len(options()["indexed_columns"]) < len(schema().fields)


@pytest.mark.parametrize(("asked", "most"), [(None, ROWSET_ROWS), (10, 10), (2**40, ROWSET_ROWS)])
def test_no_rowset_gets_more_rows_than_row_numbers_can_name(asked: int | None, most: int) -> None:
    assert options(max_records=asked)["max_records"] == most


def test_a_wide_table_may_have_larger_packed_rowsets() -> None:
    job = job_of("/t", schema(128))
    chosen = replace(target_options(job.target, job.settings), packed_bytes=1000)
    assert json.loads(task_json(job, chosen))["options"]["packed_bytes"] == 2000
