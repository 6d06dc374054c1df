"""Any damage to a stored byte is an error that names the file, never a wrong row."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import pyarrow as pa
import pytest

from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.model.codec import byte_check, decode_model, encode_model
from colonnade.manifests.model.deletion_vector import (
    DeletionVector,
    read_deletion_vector,
    write_deletion_vector,
)
from colonnade.manifests.model.entries import ByteCheck, RowSetEntry
from colonnade.manifests.model.schema import TableSchema, assign_ids
from colonnade.manifests.object_names import footer_name
from colonnade.manifests.state.snapshot import as_written
from colonnade.manifests.state.view import View
from colonnade.manifests.store import MemoryStore
from colonnade.tableformat.predicate import bind, parse_predicate, prune
from colonnade.tableformat.rowset.footer import Footer
from colonnade.tableformat.rowset.reader import RowSetReader
from colonnade.tableformat.rowset.writer import RowSetWriter, WriteOptions
from colonnade.tableformat.types.arrow_types import schema_from_arrow

JOB = "0123456789abcdef"


@dataclass
class Case:
    """Objects by name, and how to read what they make up."""

    objects: dict[str, bytes]
    read: Callable[[dict[str, bytes]], Any]


def rowset_case(columns: tuple[str, ...] = ("n",), **options: Any) -> Case:
    both = pa.record_batch({"n": pa.array([5, 6, None, 8]), "s": pa.array(["x", "x", "x", "y"])})
    rows = both.select(columns)
    schema: TableSchema = assign_ids(schema_from_arrow(rows.schema), 1)[0]
    store = MemoryStore()
    with RowSetWriter(store, "", JOB, schema, (), WriteOptions(**options)) as writer:
        writer.write(rows)
        (entry,) = writer.close()
    objects = {each.name: store.get(each.name) for each in store.list("")}
    if entry.data is not None:
        objects["inline"] = base64.b64decode(entry.data)

    def read(changed: dict[str, bytes]) -> list[dict[str, Any]]:
        damaged: RowSetEntry = entry
        store = MemoryStore()
        for name, data in changed.items():
            if name == "inline":
                text = base64.b64encode(data).decode()
                damaged = entry.model_copy(update={"data": text})
            elif data:
                store.put(name, data, sync=False)
        found = RowSetReader(store, View.written(""), as_written(damaged)).read(schema.fields)
        return [row for _, batch in found for row in batch.to_pylist()]

    assert read(objects) == rows.to_pylist()
    return Case(objects, read)


def vector_case(inline: bool) -> Case:
    vector = DeletionVector.of([1, 3] if inline else range(0, 6000, 3))
    store = MemoryStore()
    entry = write_deletion_vector(store, "", JOB, vector)
    objects = {each.name: store.get(each.name) for each in store.list("")}
    if entry.data is not None:
        objects["inline"] = base64.b64decode(entry.data)

    def read(changed: dict[str, bytes]) -> DeletionVector:
        store = MemoryStore()
        damaged = entry
        for name, data in changed.items():
            if name == "inline":
                text = base64.b64encode(data).decode()
                damaged = entry.model_copy(update={"data": text})
            elif data:
                store.put(name, data, sync=False)
        return read_deletion_vector(store, "", damaged, 6000)

    assert read(objects) == vector
    return Case(objects, read)


CASES = {
    "inline": lambda: rowset_case(("n", "s"), inline_bytes=2**20),
    "packed": lambda: rowset_case(inline_bytes=0, block_rows=2),
    "directory": lambda: rowset_case(inline_bytes=0, packed_bytes=0, block_rows=2),
    "vector in the log": lambda: vector_case(True),
    "vector as an object": lambda: vector_case(False),
}


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest) -> Case:
    return CASES[request.param]()


def flips(data: bytes) -> Iterator[bytes]:
    changed = bytearray(data)
    for bit in range(8 * len(data)):
        changed[bit // 8] ^= 1 << bit % 8
        yield bytes(changed)
        changed[bit // 8] ^= 1 << bit % 8


def a_flip_in_each_byte(data: bytes) -> Iterator[bytes]:
    changed = bytearray(data)
    for at in range(len(data)):
        changed[at] ^= 1 << at % 8
        yield bytes(changed)
        changed[at] ^= 1 << at % 8


def cuts(data: bytes) -> Iterator[bytes]:
    return (data[:length] for length in range(len(data)))


@pytest.mark.slow
@pytest.mark.parametrize(
    "damage", [a_flip_in_each_byte, cuts, pytest.param(flips, marks=pytest.mark.long)]
)
def test_every_flipped_bit_and_every_truncation_is_found(
    case: Case, damage: Callable[[bytes], Iterator[bytes]]
) -> None:
    for name, data in case.objects.items():
        for changed in damage(data):
            with pytest.raises(CorruptionError):
                case.read({**case.objects, name: changed})


def test_a_missing_object_is_named(case: Case) -> None:
    for name in case.objects.keys() - {"inline"}:
        rest = {other: data for other, data in case.objects.items() if other != name}
        with pytest.raises(CorruptionError, match=name):
            case.read(rest)


def test_objects_that_changed_places_are_found(case: Case) -> None:
    for name in case.objects:
        for other in case.objects.keys() - {name}:
            with pytest.raises(CorruptionError):
                case.read({**case.objects, name: case.objects[other]})


def test_damage_to_a_block_names_file_column_and_block() -> None:
    case = CASES["directory"]()
    name = next(name for name in case.objects if name.endswith("/1.col"))
    data = bytearray(case.objects[name])
    data[-1] ^= 1
    with pytest.raises(CorruptionError) as caught:
        case.read({**case.objects, name: bytes(data)})
    assert name in caught.value.message
    assert "'n' (id 1)" in caught.value.message
    assert "block 1 (rows 2 to 3)" in caught.value.message


def test_a_vector_beyond_its_rowset_is_refused() -> None:
    store = MemoryStore()
    entry = write_deletion_vector(store, "", JOB, DeletionVector.of([4]))
    assert read_deletion_vector(store, "", entry, 5).cardinality == 1
    with pytest.raises(CorruptionError, match="deletes row 4 of a RowSet that has 4 rows"):
        read_deletion_vector(store, "", entry, 4)


def test_a_footer_of_another_length_than_the_rowset_is_refused() -> None:
    rows = pa.record_batch({"n": pa.array([1])})
    schema = assign_ids(schema_from_arrow(rows.schema), 1)[0]
    store = MemoryStore()
    with RowSetWriter(store, "", JOB, schema) as writer:
        writer.write(rows)
        (entry,) = writer.close()
    for check in (ByteCheck(length=10**6, crc32c=0), ByteCheck(length=2**40, crc32c=0)):
        with pytest.raises(CorruptionError, match="footer"):
            RowSetReader(
                store, View.written(""), as_written(entry.model_copy(update={"footer": check}))
            )
    with pytest.raises(CorruptionError, match="other rows"):
        RowSetReader(store, View.written(""), as_written(entry.model_copy(update={"rows": 2})))


@pytest.mark.parametrize("name", ["n", "s"])
@pytest.mark.parametrize("bound", ["i:1", "s:a", "f:0.5", "b:AA==", "i:one"])
def test_forged_bounds_of_a_lone_block_name_file_and_column(name: str, bound: str) -> None:
    rows = pa.record_batch({"n": pa.array([5, 6]), "s": pa.array(["x", "y"])})
    schema = assign_ids(schema_from_arrow(rows.schema), 1)[0]
    store = MemoryStore()
    options = WriteOptions(inline_bytes=0, packed_bytes=0)
    with RowSetWriter(store, "", JOB, schema, (), options) as writer:
        writer.write(rows)
        (entry,) = writer.close()
    file = footer_name("", entry.object)
    footer = decode_model(Footer, store.get(file), file)
    column = schema.field(name)
    segment = footer.columns[column.id]
    wrong = segment.statistics.model_copy(update={"max": bound})
    columns = footer.columns | {column.id: segment.model_copy(update={"statistics": wrong})}
    forged = encode_model(footer.model_copy(update={"columns": columns}))
    store.put(file, forged, sync=False)
    entry = entry.model_copy(update={"footer": byte_check(forged)})

    def read() -> list[Any]:
        where = bind(parse_predicate("n > 1 AND s > 'a'"), schema)
        may_match = partial(prune, where)
        return list(
            RowSetReader(store, View.written(""), as_written(entry)).read(
                schema.fields, None, may_match, {1, 2}
            )
        )

    if bound == {"n": "i:1", "s": "s:a"}[name]:
        read()
    else:
        with pytest.raises(
            CorruptionError, match=f"Column '{name}'.* in .*{entry.object}.*{bound}"
        ):
            read()
