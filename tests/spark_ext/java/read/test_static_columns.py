"""The Java reader gives a row of a table the static values that its partition key has."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from colonnade.manifests.model.deletion_vector import DeletionVector, write_deletion_vector
from colonnade.manifests.model.entries import DeletionVectorEntry, RowSetEntry
from colonnade.manifests.model.schema import (
    ArrayType,
    SchemaField,
    StructType,
    TableSchema,
    assign_ids,
)
from colonnade.manifests.store import LocalStore
from colonnade.spark_ext.pyspark_types import to_spark
from colonnade.tableformat.predicate import parse_predicate, to_json
from colonnade.tableformat.rowset.writer import RowSetWriter, WriteOptions
from colonnade.tableformat.types.arrow_types import arrow_schema
from tests.examples_of import examples
from tests.spark_ext.java.read_tool import TYPES, ReadTool, expected_rows, plan_of
from tests.strategies import make_batch, random_value, schemas

JOB = "0123456789abcdef"
ORDERED = tuple(each for each in TYPES if each != "variant" and "collate" not in each)
_MINUS_ZERO = {str(2**31): "0", str(2**63): "0"}


def named(fields: Sequence[SchemaField], name: str, **changes: Any) -> list[SchemaField]:
    return [
        field.model_copy(update={"name": f"{name}{at}", **changes})
        for at, field in enumerate(fields)
    ]


class Tables:
    """A table and its static values, written as RowSets, and the model of what a scan returns."""

    def __init__(
        self, store: LocalStore, key: TableSchema, statics: TableSchema, seed: int
    ) -> None:
        self.store, self.rng = store, random.Random(seed)
        keys = named(key.fields, "k", nullable=False)
        own = SchemaField(name="n", type="long", nullable=False)
        fields = (*keys, own, *named(statics.fields, "s", nullable=True))
        self.schema = assign_ids(TableSchema(fields=fields), 1)[0]
        count = len(keys)
        self.keys = TableSchema(fields=self.schema.fields[:count])
        self.own = TableSchema(fields=self.schema.fields[: count + 1])
        self.statics = TableSchema(fields=self.schema.fields[count + 1 :])
        self.seed = seed

    def write(self, keys: int, rows: int, block_rows: int, rowsets: int) -> None:
        pool = self._distinct_keys(keys)
        self.with_values = self.rng.sample(range(len(pool)), self.rng.randint(0, len(pool)))
        values = make_batch(self.statics, len(self.with_values), self.seed + 1)
        held = _batch(self.keys, [pool[at] for at in self.with_values])
        schema = TableSchema(fields=(*self.keys.fields, *self.statics.fields))
        columns = [*held.columns, *values.columns]
        self.held = pa.RecordBatch.from_arrays(columns, schema=arrow_schema(schema))
        gone = {at for at in range(held.num_rows) if self.rng.random() < 0.2}
        self.static_plan = self._written(schema, self.held, block_rows, rowsets, gone)
        chosen = sorted(self.rng.randrange(len(pool)) for _ in range(rows))
        if self.rng.random() < 0.5:
            self.rng.shuffle(chosen)
        stored = [[*self._other_zero(pool[at]), n] for n, at in enumerate(chosen)]
        self.rows = _batch(self.own, stored)
        self.plan = self._written(self.own, self.rows, block_rows, rowsets, set())
        whole = plan_of(self.schema, [])["view"]["columns"]
        for field in whole["fields"][len(self.own.fields) :]:
            field["static"] = True
        self.plan["view"]["columns"] = whole
        count = len(self.keys.fields)
        model = {
            _key(row[:count]): row[count:]
            for at, row in enumerate(expected_rows(self.held, schema))
            if at not in gone
        }
        missing = [None] * len(self.statics.fields)
        self.expected = [
            [*row, *model.get(_key(row[:count]), missing)]
            for row in expected_rows(self.rows, self.own)
        ]

    def _distinct_keys(self, count: int) -> list[list[Any]]:
        found: dict[Any, list[Any]] = {}
        for _ in range(count):
            key = [self._value(field) for field in self.keys.fields]
            batch = _batch(self.keys, [key])
            found.setdefault(_key(expected_rows(batch, self.keys)[0]), key)
        return list(found.values())

    def _value(self, field: SchemaField) -> Any:
        value = random_value(field, self.rng)
        return 0.0 if value != value else value  # a key is never NaN

    def _other_zero(self, key: Sequence[Any]) -> list[Any]:
        return [
            self.rng.choice((0.0, -0.0)) if isinstance(each, float) and each == 0.0 else each
            for each in key
        ]

    def _written(
        self,
        schema: TableSchema,
        rows: pa.RecordBatch,
        block_rows: int,
        rowsets: int,
        gone: set[int],
    ) -> dict[str, Any]:
        size = max(1, rows.num_rows // rowsets)
        entries: list[RowSetEntry] = []
        vectors: dict[int, DeletionVectorEntry] = {}
        options = WriteOptions(block_rows=block_rows, inline_bytes=self.rng.choice((0, 10**6)))
        for start in range(0, rows.num_rows, size):
            with RowSetWriter(self.store, "", JOB, schema, (), options) as writer:
                writer.write(rows.slice(start, size))
                (entry,) = writer.close()
            here = [at - start for at in gone if start <= at < start + size]
            if here:
                vector = DeletionVector.of(here)
                vectors[len(entries)] = write_deletion_vector(self.store, "", JOB, vector)
            entries.append(entry)
        return plan_of(schema, entries, vectors)

    def statics_json(self) -> str:
        return json.dumps({"key": list(self.keys.names), "scan": self.static_plan})

    def answer(self, tool: ReadTool, names: Sequence[str], **how: Any) -> dict[str, Any]:
        shown = to_spark(self.schema.select(names)).json()
        return tool.answer(self.store.url, self.plan, shown, statics=self.statics_json(), **how)

    def expected_of(self, names: Sequence[str]) -> list[Any]:
        places = [self.schema.names.index(name) for name in names]
        return [[row[at] for at in places] for row in self.expected]


def _key(values: Sequence[Any]) -> str:
    return json.dumps([_MINUS_ZERO.get(each, each) for each in values])


def _batch(schema: TableSchema, rows: Sequence[Sequence[Any]]) -> pa.RecordBatch:
    target = arrow_schema(schema)
    columns = [pa.array([row[at] for row in rows], field.type) for at, field in enumerate(target)]
    return pa.RecordBatch.from_arrays(columns, schema=target)


@pytest.fixture
def store(tmp_path: Any) -> LocalStore:
    return LocalStore(str(tmp_path / "table"))


@settings(max_examples=examples(120), deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_each_row_has_the_static_values_of_its_key(
    tool: ReadTool, store: LocalStore, data: st.DataObject
) -> None:
    key = data.draw(schemas(ORDERED, max_columns=3, nested=False))
    tables = Tables(store, key, data.draw(schemas(TYPES)), data.draw(st.integers(0, 2**32)))
    tables.write(
        data.draw(st.integers(1, 40)),
        data.draw(st.integers(1, 60)),
        data.draw(st.sampled_from((1, 7, 65_536))),
        data.draw(st.integers(1, 3)),
    )
    names = data.draw(st.permutations(tables.schema.names))
    names = names[: data.draw(st.integers(1, len(names)))]
    answer = tables.answer(tool, names)
    assert answer.get("rows") == tables.expected_of(names), answer


def test_only_the_wanted_fields_of_a_static_struct_are_read(
    tool: ReadTool, store: LocalStore
) -> None:
    inner = SchemaField(name="c", type=ArrayType(element=SchemaField(name="element", type="int")))
    text = SchemaField(name="b", type="string")
    struct = StructType(fields=(SchemaField(name="a", type="long"), text, inner))
    statics = TableSchema(fields=(SchemaField(name="x", type=struct),))
    key = TableSchema(fields=(SchemaField(name="k", type="string"),))
    tables = Tables(store, key, statics, 3)
    tables.write(30, 200, 16, 2)
    shown = json.loads(to_spark(tables.schema.select(["s0"])).json())
    del shown["fields"][0]["type"]["fields"][1]
    answer = tool.answer(store.url, tables.plan, json.dumps(shown), statics=tables.statics_json())
    expected = [[None if s is None else [s[0], s[2]]] for (s,) in tables.expected_of(["s0"])]
    assert answer["rows"] == expected


def test_a_condition_on_a_static_column_skips_no_rows(tool: ReadTool, store: LocalStore) -> None:
    key = TableSchema(fields=(SchemaField(name="k", type="date"),))
    statics = TableSchema(fields=(SchemaField(name="x", type="long"),))
    tables = Tables(store, key, statics, 5)
    tables.write(20, 100, 4, 3)
    for condition in ("s0 IS NULL", "s0 IS NOT NULL", "s0 IN (4, 5)", "NOT s0 = 4"):
        tables.plan["predicate"] = to_json(parse_predicate(condition))
        assert tables.answer(tool, ["n", "s0"])["rows"] == tables.expected_of(["n", "s0"])


def test_a_damaged_table_of_static_values_is_named_each_time(
    tool: ReadTool, store: LocalStore
) -> None:
    key = TableSchema(fields=(SchemaField(name="k", type="int"),))
    statics = TableSchema(fields=(SchemaField(name="x", type="string"),))
    tables = Tables(store, key, statics, 8)
    tables.write(400, 50, 64, 1)
    (rowset,) = tables.static_plan["view"]["rowsets"]
    rowset["entry"]["object"] = JOB + "0" * 16
    rowset["entry"].pop("inline", None)
    rowset["entry"]["place"] = "files"
    for _ in range(2):
        answer = tables.answer(tool, ["n", "s0"])
        assert JOB + "0" * 16 in answer["error"]
        assert answer["before"] == 0
    assert tables.answer(tool, ["n"])["rows"] == tables.expected_of(["n"])
