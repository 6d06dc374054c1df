"""Runs scan tasks in a JVM without Spark, and says what the same rows are in Python.

Rows are lists of JSON values: numbers as texts in their stored form, floats as their bits,
binary as base64, maps as their keys and their values.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Context
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyspark
from pydantic import TypeAdapter

from colonnade.manifests.model.entries import DeletionVectorEntry, RowSetEntry
from colonnade.manifests.model.regions import Mask, Region
from colonnade.manifests.model.schema import (
    ArrayType,
    MapType,
    SchemaField,
    StructType,
    TableSchema,
)
from colonnade.manifests.state.snapshot import LiveRowSet
from colonnade.manifests.state.view import View
from colonnade.spark_ext.java.build import QUICK
from colonnade.spark_ext.pyspark_types import to_spark
from colonnade.spark_ext.types import max_time_digits
from colonnade.tableformat.predicate.prune import MOST_MEMBERS
from colonnade.tableformat.scan.plan import ScanPlan
from colonnade.tableformat.types.storage_form import map_entries
from tests.spark_ext.java.json_process import JsonProcess
from tests.strategies import PRIMITIVES

JARS = Path(pyspark.__file__).parent / "jars"
JAVA = Path(__file__).parents[3] / "spark_ext" / "java"
JAR = JAVA.parent / "colonnade-spark.jar"

TYPES = tuple(t for t in PRIMITIVES if t != "time(9)" or max_time_digits(pyspark.__version__) == 9)
"""The primitive types that this Spark has."""

_OPENS = ("java.base/java.nio", "java.base/java.lang", "java.base/sun.nio.ch")
_WARNINGS = "-Dorg.apache.logging.log4j.level=WARN"
_EXACT = Context(prec=76)


def compile_tools(folder: Path) -> str:
    """Bring the jar up to date and compile the tools; returns the class path to run them with.

    It begins as Spark's own class path does, so that Java can use the archive of Spark's classes.
    """
    subprocess.run([sys.executable, str(JAVA / "build.py")], check=True, capture_output=True)
    (first,) = JARS.glob("slf4j-api-*.jar")
    class_path = os.pathsep.join((str(first), f"{JARS}/*", str(JAR), str(folder)))
    here = Path(__file__).parent
    names = ("ReadTool", "ShelfFileSystem", "LossyFileSystem", "ForbiddenFileSystem", "WriteRows")
    sources = [str(here / f"{name}.java") for name in names]
    command = ["javac", *QUICK, "--release", "17", "-cp", class_path, "-d", str(folder), *sources]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return class_path


class ReadTool(JsonProcess):
    """A JVM that reads one task after the other."""

    def __init__(self, class_path: str) -> None:
        opens = [f"--add-opens={each}=ALL-UNNAMED" for each in _OPENS]
        options = ["-Xmx512m", "-XX:TieredStopAtLevel=1", _WARNINGS, *opens, "-cp", class_path]
        super().__init__(["java", *options, "ReadTool"])

    def answer(
        self,
        url: str,
        plan: Mapping[str, Any],
        schema: str,
        cache: Mapping[str, Any] | None = None,
        **how: Any,
    ) -> dict[str, Any]:
        """What the reader makes of a plan: rows and the sizes of batches, or an error.

        `conf` adds settings of Hadoop. `stopped` ends the reader early instead, some `times`, and
        then the answer is how many objects are `open`: after the first batch ("early"), or while it
        opens objects ("killed"). `edges` leaves out all but the first and the last rows of batches.
        `merged` reads a plan with an order, which returns rows alone. `statics` says where static
        values are, in JSON. Of `shelf://`, the answer
        also has how many objects were `opened`, and how many bytes were `read` of each.
        """
        kept = {} if cache is None else {"cache": cache}
        task = {"url": url, "plan": plan, "most_members": MOST_MEMBERS, **kept}
        if "conf" in how:
            # Hadoop keeps a file system, whatever settings come later.
            how["conf"] = {**how["conf"], "fs.shelf.impl.disable.cache": "true"}
        return self.ask({"task": json.dumps(task), "schema": schema, **how})

    def changes(self, parts: Sequence[Mapping[str, Any]], schema: str, feed: str) -> list[Any]:
        """The rows of a task of a change feed with these parts, which has the columns `feed`."""
        task = json.dumps({"parts": parts})
        answer = self.ask({"task": task, "schema": schema, "feed": feed})
        assert "rows" in answer, answer
        return list(answer["rows"])

    def rows(self, url: str, plan: Mapping[str, Any], schema: str) -> list[Any]:
        """The rows of a plan that must be read without an error."""
        answer = self.answer(url, plan, schema)
        assert "rows" in answer, answer
        assert sum(answer["batches"]) == len(answer["rows"])
        return list(answer["rows"])


def plan_of(
    schema: TableSchema,
    entries: Iterable[RowSetEntry],
    vectors: Mapping[int, DeletionVectorEntry] | None = None,
    ranges: Sequence[tuple[int, int]] | None = None,
    prefix: str = "",
    predicate: Any = None,
    *,
    whole: bool = False,
    hidden: tuple[Region, ...] = (),
    masks: tuple[Mask, ...] = (),
) -> dict[str, Any]:
    """The plan to read whole RowSets, or ranges of each, as the planner sends it.

    With `whole`, the plan also states every value that is a default. Each RowSet has the regions
    `hidden` and the `masks`.
    """

    rowsets = tuple(
        LiveRowSet.of(7 + at, 3 + at, entry, (vectors or {}).get(at))
        for at, entry in enumerate(entries)
    )
    view = replace(
        View.written(prefix, schema.fields),
        rowsets=rowsets,
        hidden={each.id: hidden for each in rowsets if hidden},
        masks={each.id: masks for each in rowsets if masks},
    )
    plan = ScanPlan(
        view=view,
        epoch=5,
        projection=schema.names,
        predicate=predicate,
        ranges={} if ranges is None else {each.id: tuple(ranges) for each in rowsets},
    )
    return dict(json.loads(TypeAdapter(ScanPlan).dump_json(plan) if whole else plan.to_json()))


def spark_schema(schema: TableSchema) -> str:
    """A table's schema as Spark would ask for it."""
    return to_spark(schema).json()


def expected_rows(batch: pa.RecordBatch, schema: TableSchema) -> list[Any]:
    """The rows of a batch in user form, as the tool writes them."""
    columns = [
        _values(array, field) for array, field in zip(batch.columns, schema.fields, strict=True)
    ]
    if not columns:
        return [[] for _ in range(batch.num_rows)]
    return [list(row) for row in zip(*columns, strict=True)]


def _values(array: pa.Array, field: SchemaField) -> list[Any]:
    match field.type:
        case ArrayType(element=element):
            return _lists(array, _values(array.flatten(), element))
        case MapType(key=key, value=value):
            entries = map_entries(array)
            pairs = entries.flatten()
            keys = _lists(entries, _values(pairs.field(0), key))
            values = _lists(entries, _values(pairs.field(1), value))
            return [None if k is None else [k, v] for k, v in zip(keys, values, strict=True)]
        case StructType(fields=fields):
            return _structs(array, fields)
        case "variant":
            binary = SchemaField(name="", type="binary")
            return _structs(array, (binary, binary))
        case _:
            return _primitives(array, str(field.type))


def _lists(array: pa.Array, values: list[Any]) -> list[Any]:
    found, position = [], 0
    for length in array.value_lengths().to_pylist():
        found.append(None if length is None else values[position : position + length])
        position += length or 0
    return found


def _structs(array: pa.Array, fields: Sequence[SchemaField]) -> list[Any]:
    columns = [_values(child, field) for child, field in zip(array.flatten(), fields, strict=True)]
    valid = array.is_valid().to_pylist()
    rows = zip(*columns, strict=True) if columns else [()] * len(array)
    return [list(row) if ok else None for row, ok in zip(rows, valid, strict=True)]


def _primitives(array: pa.Array, text: str) -> list[Any]:
    kind = array.type
    if pa.types.is_boolean(kind):
        return [None if each is None else str(each).lower() for each in array.to_pylist()]
    if pa.types.is_string(kind) or pa.types.is_null(kind):
        return array.to_pylist()
    if pa.types.is_binary(kind):
        return [
            None if each is None else base64.b64encode(each).decode() for each in array.to_pylist()
        ]
    if pa.types.is_decimal(kind):
        return [
            None if each is None else str(int(each.scaleb(kind.scale, _EXACT)))
            for each in array.to_pylist()
        ]
    bits = pa.uint32() if kind.bit_width == 32 else pa.uint64()
    if pa.types.is_floating(kind):
        array = array.view(bits)
    elif not pa.types.is_integer(kind):
        array = array.view(pa.int32() if kind.bit_width == 32 else pa.int64())
    return [None if each is None else str(each) for each in array.to_pylist()]
