"""Damage is an error that names the thing, and no bytes bring the JVM down."""

from __future__ import annotations

import base64
import random
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from google_crc32c import value as crc32c

from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.model.codec import byte_check, seal
from colonnade.manifests.model.deletion_vector import DeletionVector, write_deletion_vector
from colonnade.manifests.model.entries import ByteCheck, DeletionVectorEntry, RowSetEntry
from colonnade.manifests.model.schema import SchemaField, TableSchema, assign_ids
from colonnade.manifests.state.snapshot import as_written
from colonnade.manifests.state.view import View
from colonnade.manifests.store import LocalStore, MemoryStore
from colonnade.tableformat.predicate import parse_predicate, to_json
from colonnade.tableformat.rowset import ipc_stream
from colonnade.tableformat.rowset.block_statistics import Statistics
from colonnade.tableformat.rowset.encodings.encoding import BlockEntry
from colonnade.tableformat.rowset.reader import RowSetReader
from colonnade.tableformat.rowset.write import output
from colonnade.tableformat.rowset.writer import RowSetWriter, WriteOptions
from colonnade.tableformat.types.arrow_types import schema_from_arrow
from tests.spark_ext.java.read.test_encodings import lone_rowset, stream_entry
from tests.spark_ext.java.read_tool import ReadTool, plan_of, spark_schema
from tests.strategies import make_batch
from tests.tableformat.rowset.encodings.test_lengths import FORGED as FORGED_LENGTHS
from tests.tableformat.rowset.encodings.test_lengths import FORGED_BYTES, moved_offsets
from tests.tableformat.rowset.test_later_encodings import later_block, later_index

JOB = "0123456789abcdef"
PLACES: dict[str, dict[str, Any]] = {
    "inline": {"inline_bytes": 2**20},
    "packed": {"inline_bytes": 0, "block_rows": 2},
    "directory": {"inline_bytes": 0, "packed_bytes": 0, "block_rows": 2},
}


@dataclass
class Case:
    """A RowSet of two columns whose rows are known, and its deletion vector if it has one."""

    store: LocalStore
    schema: TableSchema
    entry: RowSetEntry
    vector: DeletionVectorEntry | None
    tool: ReadTool

    @property
    def objects(self) -> dict[str, bytes]:
        found = {each.name: self.store.get(each.name) for each in self.store.list("")}
        if self.entry.data is not None:
            found["inline"] = base64.b64decode(self.entry.data)
        if self.vector and self.vector.data is not None:
            found["vector"] = base64.b64decode(self.vector.data)
        return found

    def answer(self, name: str = "", data: bytes | None = None) -> dict[str, Any]:
        """What is read when an object holds other bytes; None removes it."""
        entry, vector = self.entry, self.vector
        if name == "inline":
            text = base64.b64encode(data or b"").decode()
            entry = entry.model_copy(update={"data": text})
        elif name == "vector":
            assert vector
            text = base64.b64encode(data or b"").decode()
            vector = vector.model_copy(update={"data": text})
        elif name:
            path = Path(self.store.url, name)
            path.unlink() if data is None else path.write_bytes(data)
        plan = plan_of(self.schema, [entry], {0: vector} if vector else {})
        return self.tool.answer(self.store.url, plan, spark_schema(self.schema))


@pytest.fixture(params=[*PLACES, "vector", "large vector"])
def case(request: pytest.FixtureRequest, tool: ReadTool, tmp_path: Path) -> Case:
    return make_case(request.param, tool, tmp_path)


def make_case(kind: str, tool: ReadTool, tmp_path: Path) -> Case:
    store = LocalStore(str(tmp_path / "table"))
    rows = pa.record_batch({"n": pa.array([5, 6, None, 8]), "s": pa.array(["x", "x", "x", "y"])})
    gone = None
    if kind == "vector":
        gone = [1, 3]
    elif kind == "large vector":
        rows = pa.record_batch({"n": pa.array(range(6000))})
        gone = list(range(0, 6000, 3))
    schema = assign_ids(schema_from_arrow(rows.schema), 1)[0]
    options = PLACES.get(kind, PLACES["inline"])
    with RowSetWriter(store, "", JOB, schema, (), WriteOptions(**options)) as writer:
        writer.write(rows)
        (entry,) = writer.close()
    vector = write_deletion_vector(store, "", JOB, DeletionVector.of(gone)) if gone else None
    case = Case(store, schema, entry, vector, tool)
    assert len(case.answer()["rows"]) == rows.num_rows - len(gone or ())
    return case


def damages(data: bytes, rng: random.Random) -> Iterator[bytes]:
    """One bit flipped somewhere in each of at most 400 bytes, and ends cut off."""
    for position in sorted(rng.sample(range(len(data)), min(len(data), 400))):
        changed = bytearray(data)
        changed[position] ^= 1 << rng.randrange(8)
        yield bytes(changed)
    for length in sorted(rng.sample(range(len(data)), min(len(data), 40))):
        yield data[:length]


def test_every_flipped_bit_and_every_truncation_is_found(case: Case) -> None:
    rng = random.Random(1)
    for name, data in case.objects.items():
        named = name if "/" in name or "." in name else case.store.url
        for changed in damages(data, rng):
            error = case.answer(name, changed).get("error", "")
            assert error.startswith("[COLONNADE_CORRUPTION] ")
            assert named in error
        if name not in ("inline", "vector"):
            case.answer(name, data)


def test_a_missing_object_is_named(case: Case) -> None:
    for name, data in case.objects.items():
        if name not in ("inline", "vector"):
            error = case.answer(name).get("error", "")
            assert f"/{name} is missing, though the log names it." in error
            Path(case.store.url, name).write_bytes(data)


def test_damage_to_a_block_names_file_column_and_block(tool: ReadTool, tmp_path: Path) -> None:
    case = make_case("directory", tool, tmp_path)
    name = f"{case.entry.object}/1.col"
    data = bytearray(case.objects[name])
    data[-1] ^= 1
    error = case.answer(name, bytes(data))["error"]
    assert error == (
        f"[COLONNADE_CORRUPTION] Column 'n' (id 1) in {case.store.url}/{name} is damaged: block 1"
        " (rows 2 to 3): its bytes do not match their checksum."
    )


def test_no_row_of_a_stretch_is_given_out_whose_last_block_is_damaged(
    tool: ReadTool, tmp_path: Path
) -> None:
    rows = pa.record_batch({"s": pa.array([f"{i:04}" for i in range(200)])})
    schema = assign_ids(schema_from_arrow(rows.schema), 1)[0]
    store = LocalStore(str(tmp_path))
    options = WriteOptions(inline_bytes=0, packed_bytes=0, block_rows=100, block_bytes=200)
    with RowSetWriter(store, "", JOB, schema, (), options) as writer:
        writer.write(rows)
        (entry,) = writer.close()
    path = Path(store.url, entry.object, "1.col")
    plan = plan_of(schema, [entry])
    batches = tool.answer(store.url, plan, spark_schema(schema))["batches"]
    assert sum(batches) == 200
    assert len(batches) > 4
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    answer = tool.answer(store.url, plan, spark_schema(schema))
    assert f"block {len(batches) - 1} (rows " in answer["error"]
    assert answer["before"] == 100


def test_a_link_or_a_folder_in_the_place_of_an_object_is_refused(
    tool: ReadTool, tmp_path: Path
) -> None:
    case = make_case("directory", tool, tmp_path)
    path = Path(case.store.url, case.entry.object, "1.col")
    path.rename(path.with_name("elsewhere"))
    path.symlink_to(path.with_name("elsewhere"))
    failed = f"[COLONNADE_STORE] {path} could not be read: it is "
    link = "a symbolic link, and a database has none."
    assert case.answer()["error"] == failed + link
    path.unlink()
    path.mkdir()
    assert case.answer()["error"] == failed + "not a file."


def test_keys_of_a_newer_footer_are_refused(tool: ReadTool, tmp_path: Path) -> None:
    case = make_case("directory", tool, tmp_path)
    name = f"{case.entry.object}/rowset.json"
    whole = case.objects[name]
    inner = whole[whole.index(b'"body":') + 7 : -2]
    for changed, found in (
        (inner.replace(b'"rows"', b'"new":1,"rows"', 1), "the key 'new'"),
        (inner.replace(b'"format_version":1', b'"format_version":2'), "format version 2"),
    ):
        data = seal(changed)
        case.entry = case.entry.model_copy(update={"footer": byte_check(data)})
        error = case.answer(name, data)["error"]
        assert error.startswith("[COLONNADE_UNSUPPORTED_FORMAT] The footer of ")
        assert f"holds {found}, which this version does not know: upgrade Colonnade." in error


@pytest.mark.parametrize("rows", [4, 9])
def test_a_damaged_filter_is_an_error_that_names_it(
    tool: ReadTool, tmp_path: Path, rows: int
) -> None:
    store = LocalStore(str(tmp_path))
    batch = pa.record_batch({"n": pa.array([3 * i % 10 for i in range(rows)])})
    schema = assign_ids(schema_from_arrow(batch.schema), 1)[0]
    entry = in_directory(store, schema, batch, bloom_columns=frozenset({1}), block_rows=5)
    name = f"{entry.object}/1.idx"
    damaged = bytearray(store.get(name))
    damaged[7] ^= 1
    Path(store.url, name).write_bytes(damaged)

    def answer(where: str) -> dict[str, Any]:
        plan = plan_of(schema, [entry], predicate=to_json(parse_predicate(where)))
        return tool.answer(store.url, plan, spark_schema(schema))

    assert len(answer("n >= 0")["rows"]) == rows
    error = answer("n = 4")["error"]
    assert error.startswith("[COLONNADE_CORRUPTION] Column 'n' (id 1) in ")
    assert f"is damaged: block 0: its Bloom filter in {store.locate(name)} does not match" in error
    Path(store.url, name).unlink()
    assert f"{store.locate(name)} is missing" in answer("n = 4")["error"]


def test_filters_that_a_footer_cannot_state_are_refused(tool: ReadTool, tmp_path: Path) -> None:
    store = LocalStore(str(tmp_path))
    batch = pa.record_batch({"n": pa.array([5, 6, None, 8])})
    schema = assign_ids(schema_from_arrow(batch.schema), 1)[0]
    case = Case(store, schema, in_directory(store, schema, batch), None, tool)
    name = f"{case.entry.object}/rowset.json"
    whole = case.objects[name]
    inner = whole[whole.index(b'"body":') + 7 : -2]
    problem = "says of its Bloom filter cannot be"
    for filters in (b'{"offset":0,"length":32}', b'{"offset":0,"length":33,"crc32c":1}'):
        data = seal(inner.replace(b'"statistics":', b'"filters":' + filters + b',"statistics":', 1))
        case.entry = case.entry.model_copy(update={"footer": byte_check(data)})
        error = case.answer(name, data)["error"]
        assert error.startswith("[COLONNADE_CORRUPTION] ")
        assert problem in error
        with pytest.raises(CorruptionError, match="Bloom"):
            list(RowSetReader(store, View.written(""), as_written(case.entry)).read(schema.fields))


def in_directory(
    store: LocalStore, schema: TableSchema, rows: pa.RecordBatch, **options: Any
) -> RowSetEntry:
    chosen = WriteOptions(inline_bytes=0, packed_bytes=0, **options)
    with RowSetWriter(store, "", JOB, schema, (), chosen) as writer:
        writer.write(rows)
        (entry,) = writer.close()
    return entry


FORGED = ("long", "string", "decimal(38,3)", "boolean", "double", "variant", "binary")
NESTED = ("array", "struct", "map")
LENGTHS = ("short texts", "long binary")


@pytest.mark.parametrize("times", [400, pytest.param(1500, marks=pytest.mark.long)])
@pytest.mark.parametrize("kind", [*FORGED, *NESTED, *LENGTHS])
def test_forged_blocks_with_a_right_checksum_never_bring_the_jvm_down(
    tool: ReadTool, tmp_path: Path, kind: str, times: int
) -> None:
    schema, rows = forged_rows(kind)
    field = schema.fields[0]
    rng = random.Random(kind)
    store = LocalStore(str(tmp_path / "table"))
    with RowSetWriter(store, "", JOB, schema, (), WriteOptions(inline_bytes=0)) as writer:
        writer.write(rows)
        (entry,) = writer.close()
    (stored,) = (store.get(each.name) for each in store.list(""))
    case = Case(store, schema, entry, None, tool)
    length = int(stored[stored.index(b'"length":') + 9 :].split(b",")[0])
    block, encoding = stored[:length], stored.split(b'"encoding":"')[1].split(b'"')[0].decode()
    assert (encoding == "lengths") == (kind in LENGTHS)
    answers: set[str] = set()
    for _ in range(times):
        changed = bytearray(block)
        for _ in range(rng.choice((1, 1, 1, 2, 4))):
            at = rng.randrange(len(changed))
            change = rng.choice((1, 2, 4, 8))
            changed[at : at + change] = rng.choice((b"\xff", b"\x00", b"\x7f", b"\x80")) * change
        data = bytes(changed[: len(block)])
        known = BlockEntry(
            rows.num_rows, len(data), 2**20, crc32c(data), encoding, 0, Statistics(0)
        )
        case.entry = lone_rowset(field, known, data)
        answer = case.answer()
        answers.update(answer)
        if "NUMERIC_VALUE_OUT_OF_RANGE" not in answer.get("crash", ""):  # Spark's own check
            named = f"Column '{field.name}' (id {field.id})" in answer.get("error", "")
            assert "rows" in answer or named
    assert "error" in answers


def forged_rows(kind: str) -> tuple[TableSchema, pa.RecordBatch]:
    """Some rows of one column, which take a block with bytes."""
    types = {
        "array": pa.list_(pa.list_(pa.string())),
        "struct": pa.struct([("x", pa.string()), ("y", pa.int64())]),
        "map": pa.map_(pa.string(), pa.float64()),
        "short texts": pa.string(),
        "long binary": pa.binary(),
    }
    if kind not in types:
        schema = TableSchema(fields=(SchemaField(id=1, name="a", type=kind),))
        return schema, make_batch(schema, 200, 3)
    schema = assign_ids(schema_from_arrow(pa.schema([("a", types[kind])])), 1)[0]
    if kind not in LENGTHS:
        return schema, make_batch(schema, 200, 3)
    text = "{:x}" if kind == "short texts" else "a longer value {}"
    values = [None if i % 9 == 0 else text.format(i).encode() for i in range(300)]
    return schema, pa.record_batch([pa.array(values, pa.binary()).cast(types[kind])], ["a"])


def error_of(tool: ReadTool, field: SchemaField, entry: RowSetEntry) -> str:
    schema = TableSchema(fields=(field,))
    return str(tool.answer("/nowhere", plan_of(schema, [entry]), spark_schema(schema))["error"])


def test_the_lengths_that_a_stream_states_are_compared_with_the_index(tool: ReadTool) -> None:
    text = SchemaField(id=1, name="a", type="string")
    number = SchemaField(id=1, name="a", type="long")
    indexes = pa.array([0, 1, 5], pa.int8())
    outside = pa.DictionaryArray.from_arrays(indexes, pa.array(["x", "y"]), safe=False)
    error = error_of(tool, text, stream_entry(text, outside, "dictionary", 2**20))
    assert "an index points outside the dictionary" in error
    negative = pa.DictionaryArray.from_arrays(pa.array([-1], pa.int8()), ["x"], safe=False)
    error = error_of(tool, text, stream_entry(text, negative, "dictionary", 2**20))
    assert "an index points outside the dictionary" in error
    long = pa.DictionaryArray.from_arrays(pa.array([0] * 1000, pa.int8()), ["x" * 1000])
    error = error_of(tool, text, stream_entry(text, long, "dictionary", 10_000))
    assert "the decoded values would be larger than the index says" in error
    none = pa.DictionaryArray.from_arrays(pa.array([0], pa.int8()), pa.array([None], pa.string()))
    assert "its dictionary holds NULL" in error_of(
        tool, text, stream_entry(text, none, "dictionary", 2**20)
    )
    for array, encoding in ((pa.array([1]), "plain"), (pa.array([1], pa.int8()), "narrowed")):
        error = error_of(tool, text, stream_entry(text, array, encoding, 2**20))
        assert "of something else than its index states" in error
    small = pa.array([1], pa.uint8())
    assert "lacks the base" in error_of(
        tool, number, stream_entry(number, small, "narrowed", 2**20)
    )
    large = stream_entry(number, pa.array(range(10_000)), "plain", 1000)
    assert "bytes decoded where 1000 are stated" in error_of(tool, number, large)
    vast = stream_entry(number, pa.array([1, 2]), "plain", 2**27)
    assert "decoded bytes; 67108864 is the most" in error_of(tool, number, vast)


@pytest.mark.parametrize("rows", [2, 5], ids=["in the footer", "in an index"])
def test_an_encoding_of_a_later_version_asks_for_an_upgrade(
    tool: ReadTool, monkeypatch: pytest.MonkeyPatch, rows: int
) -> None:
    monkeypatch.setattr(output, "encode_index", later_index)
    monkeypatch.setattr(output, "block_of", later_block)
    number = SchemaField(id=1, name="a", type="long")
    options = WriteOptions(block_rows=2)
    schema = TableSchema(fields=(number,))
    with RowSetWriter(MemoryStore(), "", JOB, schema, (), options) as writer:
        writer.write(pa.record_batch({"a": range(rows)}))
        (entry,) = writer.close()
    error = error_of(tool, number, entry)
    assert "COLONNADE_UNSUPPORTED_FORMAT" in error
    assert "holds the encoding 'later', which this version does not know: upgrade" in error


@pytest.mark.parametrize("what", FORGED_LENGTHS)
def test_forged_lengths_are_refused_as_in_python(tool: ReadTool, what: str) -> None:
    stream, message = FORGED_LENGTHS[what]
    text = SchemaField(id=7, name="a", type="string")
    entry = stream_entry(text, stream, "lengths", FORGED_BYTES, rows=3)
    assert message in error_of(tool, text, entry)


@pytest.mark.parametrize("what", moved_offsets())
def test_offsets_of_lengths_begin_at_zero(tool: ReadTool, what: str) -> None:
    text = SchemaField(id=7, name="a", type="string")
    data = moved_offsets()[what]
    block = BlockEntry(19, len(data), 200, crc32c(data), "lengths", None, Statistics(0))
    error = error_of(tool, text, lone_rowset(text, block, data))
    assert "do not begin at the first" in error or "do not ascend" in error


def test_offsets_must_ascend_within_their_values(tool: ReadTool) -> None:
    text = SchemaField(id=1, name="a", type="string")
    batch = pa.RecordBatch.from_arrays([pa.array(["", "ab", "cdef"])], ["1"])
    whole = ipc_stream.encode_batch(batch, 10).to_pybytes()
    right = struct.pack("<4i", 0, 0, 2, 6)
    for offsets in ([0, 5, 2, 6], [0, 1, 2, 2**30], [-8, 0, 1, 2], [1, 0, 0, 0]):
        data = whole.replace(right, struct.pack("<4i", *offsets))
        assert data != whole
        block = BlockEntry(3, len(data), 2**20, crc32c(data), "plain", None, Statistics(0))
        error = error_of(tool, text, lone_rowset(text, block, data))
        assert "offsets of the Arrow stream do not ascend" in error


def test_a_vector_beyond_its_rowset_is_refused(tool: ReadTool, tmp_path: Path) -> None:
    case = make_case("inline", tool, tmp_path)
    case.vector = write_deletion_vector(case.store, "", JOB, DeletionVector.of([4]))
    assert "deletes row 4 of a RowSet that has 4 rows" in case.answer()["error"]
    case.vector = case.vector.model_copy(update={"cardinality": 2})
    assert "deletes 1 rows where the log says 2" in case.answer()["error"]


def test_a_footer_of_another_length_or_other_rows_is_refused(
    tool: ReadTool, tmp_path: Path
) -> None:
    case = make_case("inline", tool, tmp_path)
    entry = case.entry
    for check in (ByteCheck(length=10**6, crc32c=0), ByteCheck(length=2**40, crc32c=0)):
        case.entry = entry.model_copy(update={"footer": check})
        assert f"cannot have {check.length} bytes" in case.answer()["error"]
    case.entry = entry.model_copy(update={"rows": 2})
    assert "is that of other rows than the log says" in case.answer()["error"]
