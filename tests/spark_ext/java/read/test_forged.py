"""What a checksum covers but no writer makes: both readers refuse it, or read the same rows."""

from __future__ import annotations

import base64
import random
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pytest

from colonnade.manifests.errors import CorruptionError, UnsupportedFormatError
from colonnade.manifests.model.codec import byte_check, seal, unseal
from colonnade.manifests.model.deletion_vector import DeletionVector, write_deletion_vector
from colonnade.manifests.model.entries import RowSetEntry
from colonnade.manifests.model.schema import TableSchema, assign_ids
from colonnade.manifests.state.snapshot import as_written
from colonnade.manifests.state.view import View
from colonnade.manifests.store.local import LocalStore
from colonnade.tableformat.rowset import ipc_stream
from colonnade.tableformat.rowset.reader import RowSetReader
from colonnade.tableformat.rowset.writer import RowSetWriter, WriteOptions
from colonnade.tableformat.types.arrow_types import schema_from_arrow
from tests.examples_of import examples
from tests.spark_ext.java.read_tool import ReadTool, expected_rows, plan_of, spark_schema

JOB = "0123456789abcdef"
REFUSALS = ("[COLONNADE_CORRUPTION] ", "[COLONNADE_UNSUPPORTED_FORMAT] ")
HOSTILE = (0, 1, 2, 3, 20, 2**31 - 9, 2**31, 2**32 - 1, 2**32, 2**53 - 1, 2**63 - 1, -1)
ROWS = pa.record_batch(
    {
        "n": pa.array([None if i % 5 == 0 else i * i for i in range(200)]),
        "s": pa.array([f"{i % 7:04}" for i in range(200)]),
        "b": pa.array([bytes([i]) * (i % 9) for i in range(200)]),
        "c": pa.array(["same"] * 200),
    }
)


class Forgery:
    """A RowSet in a directory, whose objects are forged with right checksums."""

    def __init__(self, tool: ReadTool, folder: Path) -> None:
        self.tool, self.store = tool, LocalStore(str(folder))
        self.schema: TableSchema = assign_ids(schema_from_arrow(ROWS.schema), 1)[0]
        options = WriteOptions(
            inline_bytes=0, packed_bytes=0, block_rows=50, bloom_columns=frozenset({1})
        )
        with RowSetWriter(self.store, "", JOB, self.schema, (), options) as writer:
            writer.write(ROWS)
            (self.entry,) = writer.close()
        self.footer: dict[str, Any] = orjson.loads(
            unseal(self.store.get(f"{self.entry.object}/rowset.json"), "")
        )

        self.indexes = {
            column: self.store.get(f"{self.entry.object}/{column}.idx") for column in (1, 2, 3)
        }
        self.rows = self.tool.rows(
            self.store.url, plan_of(self.schema, [self.entry]), spark_schema(self.schema)
        )

    def put(self, name: str, data: bytes) -> None:
        Path(self.store.url, self.entry.object, name).write_bytes(data)

    def put_footer(self, footer: dict[str, Any]) -> RowSetEntry:
        data = seal(orjson.dumps(footer))
        self.put("rowset.json", data)
        return self.entry.model_copy(update={"footer": byte_check(data)})

    def index(self, column: int) -> bytes:
        segment = self.footer["columns"][str(column)]["index"]
        return self.indexes[column][segment["offset"] :][: segment["length"]]

    def with_index(self, column: int, data: bytes) -> RowSetEntry:
        footer = orjson.loads(orjson.dumps(self.footer))
        whole = self.indexes[column]
        segment = footer["columns"][str(column)]["index"]
        check = byte_check(data)
        segment.update(offset=len(whole), length=check.length, crc32c=check.crc32c)
        self.put(f"{column}.idx", whole + data)
        entry = self.put_footer(footer)
        return entry.model_copy(update={"bytes": entry.bytes + len(data)})

    def both(self, entry: RowSetEntry, url: str | None = None, **how: Any) -> str:
        """Read by both, and return what Python does. Java does the same."""
        plan = plan_of(self.schema, [entry])
        java = self.tool.answer(url or self.store.url, plan, spark_schema(self.schema), **how)
        assert "crash" not in java
        try:
            found = list(
                RowSetReader(self.store, View.written(""), as_written(entry)).read(
                    self.schema.fields
                )
            )
            rows = [row for _, batch in found for row in expected_rows(batch, self.schema)]
        except (CorruptionError, UnsupportedFormatError):
            # Java has no use for some of what Python checks, and then it reads what is stored.
            refused = java.get("error", "").startswith(REFUSALS)
            assert refused or java.get("rows") == self.rows, java
            return "refused"
        assert java.get("rows") == rows, java.get("error")
        return "read"


@pytest.fixture
def forgery(tool: ReadTool, tmp_path: Path) -> Forgery:
    return Forgery(tool, tmp_path)


def numbers(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every number in a footer, but those of its statistics."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key != "statistics":
                yield from numbers(inner, (*path, key))
    elif isinstance(value, int):
        yield path


def test_every_number_of_a_footer_is_refused_or_changes_no_row(forgery: Forgery) -> None:
    found = set()
    for path in numbers(forgery.footer):
        for hostile in HOSTILE[:-2]:
            footer = orjson.loads(orjson.dumps(forgery.footer))
            inside = footer
            for key in path[:-1]:
                inside = inside[key]
            inside[path[-1]] = hostile
            if path[0] == "format_version":
                continue
            found.add(forgery.both(forgery.put_footer(footer)))
    assert found == {"refused", "read"}


def with_nulls(value: Any) -> Iterator[Any]:
    """A JSON object as it is with null under one of its keys, for each of them at any depth."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield {**value, key: None}
            yield from ({**value, key: changed} for changed in with_nulls(inner))


def test_no_key_of_a_footer_may_be_null_for_either_reader(forgery: Forgery) -> None:
    nulls = [*with_nulls(forgery.footer)]
    assert len(nulls) > 30
    for footer in nulls:
        entry = forgery.put_footer(footer)
        plan = plan_of(forgery.schema, [entry])
        java = forgery.tool.answer(forgery.store.url, plan, spark_schema(forgery.schema))
        assert java.get("error", "").startswith("[COLONNADE_"), footer
        with pytest.raises((CorruptionError, UnsupportedFormatError)):
            [
                *RowSetReader(forgery.store, View.written(""), as_written(entry)).read(
                    forgery.schema.fields
                )
            ]


def changed_indexes(data: bytes, times: int, seed: int) -> Iterator[bytes]:
    """An index with hostile numbers in its columns, and one with hostile bytes, in turn."""
    rng = random.Random(seed)
    batch = ipc_stream.decode_batch(pa.py_buffer(data), 2**20)
    for at in range(times):
        if at % 2:
            changed = bytearray(data)
            place, length = rng.randrange(len(data)), rng.choice((1, 2, 4, 8))
            changed[place : place + length] = rng.choice((b"\xff", b"\x00", b"\x80")) * length
            yield bytes(changed[: len(data)])
            continue
        columns = [column.to_pylist() for column in batch.columns]
        for _ in range(rng.choice((1, 1, 2, 3))):
            column = rng.choice([i for i, f in enumerate(batch.schema) if f.type == pa.int64()])
            columns[column][rng.randrange(batch.num_rows)] = rng.choice(HOSTILE)
        arrays = [pa.array(c, f.type) for c, f in zip(columns, batch.schema, strict=True)]
        forged = pa.RecordBatch.from_arrays(arrays, schema=batch.schema)
        yield ipc_stream.encode_batch(forged, 10).to_pybytes()


@pytest.mark.parametrize("column", [1, 2, 3])
def test_a_forged_index_is_refused_by_both_or_read_alike(forgery: Forgery, column: int) -> None:
    found = {
        forgery.both(forgery.with_index(column, data))
        for data in changed_indexes(forgery.index(column), examples(600), column)
    }
    assert found == {"refused", "read"}


def test_rows_and_bytes_of_blocks_whose_sums_overflow_are_refused(forgery: Forgery) -> None:
    batch = ipc_stream.decode_batch(pa.py_buffer(forgery.index(1)), 2**20)
    for name, first in (("rows", "first_row"), ("length", "offset")):
        values = batch.column(name).to_pylist()
        whole = sum(values)
        values[1:] = [2**63 - 1, 2**63 - 1, whole - values[0] + 2]
        sums = [(sum(values[:i]) + 2**63) % 2**64 - 2**63 for i in range(4)]
        columns = dict(zip(batch.schema.names, batch.columns, strict=True))
        columns[name], columns[first] = pa.array(values), pa.array(sums)
        forged = pa.RecordBatch.from_arrays([*columns.values()], schema=batch.schema)
        data = ipc_stream.encode_batch(forged, 10).to_pybytes()
        assert forgery.both(forgery.with_index(1, data)) == "refused"


@pytest.mark.parametrize("what", ["index", "footer"])
def test_a_huge_length_takes_no_memory_behind_hadoop(forgery: Forgery, what: str) -> None:
    entry = forgery.entry
    if what == "index":
        footer = orjson.loads(orjson.dumps(forgery.footer))
        footer["columns"]["1"]["index"]["length"] = 2**31 - 9
        entry = forgery.put_footer(footer)
    else:
        footer_check = entry.footer.model_copy(update={"length": 2**30})
        entry = entry.model_copy(update={"footer": footer_check})
    hadoop = {"fs.shelf.impl": "ShelfFileSystem"}
    assert forgery.both(entry, f"shelf://{forgery.store.url}", conf=hadoop) == "refused"


def test_a_bitmap_whose_rows_are_not_in_order_is_refused(forgery: Forgery) -> None:
    whole = write_deletion_vector(forgery.store, "", JOB, DeletionVector.of([3, 7, 9]))
    bitmap = base64.b64decode(whole.data or "")
    for rows in ((7, 3, 9), (3, 3, 9), (9, 7, 3)):
        data = bitmap.replace(struct.pack("<3H", 3, 7, 9), struct.pack("<3H", *rows))
        assert data != bitmap
        text = base64.b64encode(data).decode()
        vector = whole.model_copy(update={"data": text, "check": byte_check(data)})
        plan = plan_of(forgery.schema, [forgery.entry], {0: vector})
        answer = forgery.tool.answer(forgery.store.url, plan, spark_schema(forgery.schema))
        assert "is not a Roaring bitmap" in answer["error"]
