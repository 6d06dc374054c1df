"""Values under the transforms of partition layouts: the same for every implementation.

`python -m tests.spec.test_partition_vectors` makes the file, by the slow and plain functions here;
writers in other languages read it in tests of their own. Specification: docs/spec/partitions.md
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa

from colonnade.manifests.model.entries import PartitionField
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.model.statistics import bound_prefix, encode_bound
from colonnade.manifests.state.partition_layout import check_layout
from colonnade.tableformat.partition.divide import divide
from colonnade.tableformat.partition.transforms import transformed_bounds
from colonnade.tableformat.types.arrow_types import storage_type
from tests.tagged import untagged

FILE = Path(__file__).parent / "partition_vectors.json"

ICEBERG = (
    ("int", "i:34", 2017239379),
    ("long", "i:34", 2017239379),
    ("decimal(9,2)", "i2:1420", -500754589),
    ("date", "d:17486", -653330422),
    ("time(6)", "i:81068000000000", -662762989),
    ("timestamp_ntz", "i:1510871468000000", -2047944441),
    ("timestamp_ntz", "i:1510871468000001", -1207196810),
    ("timestamp", "i:1510871468000000", -2047944441),
    ("string", "s:iceberg", 1210000089),
    ("binary", "b:AAECAw==", -188683207),
)
"""The hashes that appendix B of Iceberg's table specification publishes."""

_DAY = 86_400_000_000


def murmur3(data: bytes) -> int:
    """As its author wrote it, byte by byte."""

    def mix(word: int) -> int:
        word = word * 0xCC9E2D51 & 0xFFFFFFFF
        word = (word << 15 | word >> 17) & 0xFFFFFFFF
        return word * 0x1B873593 & 0xFFFFFFFF

    found, whole = 0, len(data) // 4 * 4
    for (word,) in struct.iter_unpack("<I", data[:whole]):
        found ^= mix(word)
        found = (found << 13 | found >> 19) & 0xFFFFFFFF
        found = (found * 5 + 0xE6546B64) & 0xFFFFFFFF
    found ^= mix(int.from_bytes(data[whole:], "little"))
    found ^= len(data)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1)):
        found = (found ^ found >> shift) * factor & 0xFFFFFFFF
    return found


def hashed(type_name: str, value: Any) -> bytes:
    """The bytes of a storage value that `bucket` hashes."""
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode()
    if type_name.startswith("decimal"):
        size = next(n for n in range(1, 17) if -(2 ** (8 * n - 1)) <= value < 2 ** (8 * n - 1))
        return int(value).to_bytes(size, "big", signed=True)
    return struct.pack("<q", value // 1000 if type_name.startswith("time(") else value)


def expected(type_name: str, transform: str, argument: int | None, value: Any) -> Any:
    if value is None or transform == "identity":
        return value
    if argument is not None and transform == "bucket":
        return (murmur3(hashed(type_name, value)) & 0x7FFFFFFF) % argument
    if argument is not None:
        if isinstance(value, str | bytes):
            return value[:argument]
        less = value - value % argument
        return less if type_name.startswith("decimal") else max(less, -(2**63))
    days = value if type_name == "date" else value // _DAY
    if transform == "hours":
        return value // (_DAY // 24)
    if transform == "days":
        return days
    on = date(1970, 1, 1) + timedelta(days)
    return on.year - 1970 if transform == "years" else 12 * (on.year - 1970) + on.month - 1


def micros(text: str) -> int:
    return (datetime.fromisoformat(text) - datetime(1970, 1, 1)) // timedelta(microseconds=1)


TIMES: tuple[int, ...] = (0, -1, 1, _DAY - 1, -_DAY, -_DAY - 1, micros("2017-11-16T22:31:08"))
TIMES += (micros("1969-12-31T23:59:59"), micros("1900-02-28"), micros("2000-02-29T12:00"))
DAYS = tuple(sorted({each // _DAY for each in TIMES}))
TEXTS = ("", "a", "iceberg", "日本語です", "\U0001f600x", "é" * 9, "abcd", "abcde")
BYTES = (b"", b"\0", b"\0\1\2\3", b"\xff" * 7, bytes(range(33)))
WHOLE = {"byte": 7, "short": 15, "int": 31, "long": 63}
DECIMALS = (0, 1, -1, 1420, -1420, 127, 128, -128, -129, 32767, 32768, 10**9 - 1)


def cases() -> Iterator[tuple[str, str, int | None, Any]]:
    """Return the content of the file."""
    values: dict[str, tuple[Any, ...]] = {
        **{t: (0, 1, -1, 34, 2**bits - 1, -(2**bits)) for t, bits in WHOLE.items()},
        "decimal(9,2)": tuple(v for v in DECIMALS if abs(v) < 10**9),
        "decimal(38,10)": (*DECIMALS, 10**38 - 1, 1 - 10**38, 2**63, -(2**63) - 1),
        "string": TEXTS,
        "varchar(20)": TEXTS,
        "binary": BYTES,
        "date": DAYS,
        "timestamp": TIMES,
        "timestamp_ntz": TIMES,
        "time(6)": (0, 81_068_000_000_000),
        "time(9)": (0, 999, 1_000, 81_068_000_000_999),
        "boolean": (0, 1),
        "interval day to second": (-1, 5),
    }
    for type_name, own in values.items():
        for transform, argument in transforms(type_name):
            for value in (None, *own):
                yield type_name, transform, argument, value


def transforms(type_name: str) -> Iterator[tuple[str, int | None]]:
    yield "identity", None
    kind = type_name.partition("(")[0]
    if kind in ("date", "timestamp", "timestamp_ntz"):
        yield from ((each, None) for each in ("years", "months", "days"))
    if kind in ("timestamp", "timestamp_ntz"):
        yield "hours", None
    if kind not in ("boolean", "interval day to second"):
        yield from (("bucket", n) for n in (16, 100, 2**31 - 1))
    if kind in (*WHOLE, "decimal", "string", "varchar", "binary"):
        yield from (("truncate", n) for n in (1, 3, 50))


def vectors() -> list[dict[str, Any]]:
    def tagged(value: Any, tag: str) -> str | None:
        return None if value is None else encode_bound(value, tag)

    return [
        {
            "type": type_name,
            "transform": transform,
            "argument": argument,
            "value": tagged(value, bound_prefix(type_name)),
            "result": tagged(
                expected(type_name, transform, argument, value),
                bound_prefix(type_name) if transform in ("identity", "truncate") else "i",
            ),
        }
        for type_name, transform, argument, value in cases()
    ]


def stored(column: SchemaField, values: list[Any]) -> pa.Array:
    """Storage values as an array of a column."""
    arrow = storage_type(column)
    if pa.types.is_decimal(arrow):
        data = b"".join(int(v or 0).to_bytes(16, "little", signed=True) for v in values)
        valid = pa.array([v is not None for v in values]).buffers()[1]
        return pa.Array.from_buffers(arrow, len(values), [valid, pa.py_buffer(data)])
    if pa.types.is_boolean(arrow):
        return pa.array([None if v is None else bool(v) for v in values])
    if not pa.types.is_temporal(arrow):
        return pa.array(values, arrow)
    return pa.array(values, pa.int32() if arrow.bit_width == 32 else pa.int64()).view(arrow)


def test_the_hashes_are_those_that_iceberg_publishes() -> None:
    for type_name, value, result in ICEBERG:
        column = SchemaField(id=1, name="c", type=type_name)
        field = PartitionField(transform="bucket", column=1, argument=2**31 - 1)
        wanted = (result & 0x7FFFFFFF) % (2**31 - 1)
        assert transformed_bounds(field, column, [untagged(value)]) == [wanted]


def test_every_value_of_the_file_is_transformed_right_alone_and_in_a_batch() -> None:
    groups: dict[tuple[str, str, int | None], list[dict[str, Any]]] = {}
    for each in json.loads(FILE.read_text("utf-8")):
        key = (each["type"], each["transform"], each["argument"])
        groups.setdefault(key, []).append(each)
    for (type_name, transform, argument), group in groups.items():
        schema = TableSchema(fields=(SchemaField(id=1, name="c", type=type_name),))
        field = PartitionField.model_validate(
            {"transform": transform, "column": 1, "argument": argument}
        )
        check_layout([field], schema)
        plain = [None if v["value"] is None else untagged(v["value"]) for v in group]
        array = stored(schema.fields[0], plain)
        codes, partitions = divide([field], schema, {1: array})
        assert [partitions[code][0] for code in codes] == [v["result"] for v in group], group[0]
        if transform == "bucket":
            known = [v for v in group if v["value"] is not None]
            found = transformed_bounds(
                field, schema.fields[0], [untagged(v["value"]) for v in known]
            )
            assert [f"i:{each}" for each in found] == [v["result"] for v in known]


def test_the_file_is_what_the_plain_functions_say() -> None:
    assert json.loads(FILE.read_text("utf-8")) == vectors()


def make() -> None:
    """Write the file."""
    lines = ",\n".join(json.dumps(each, ensure_ascii=False) for each in vectors())
    FILE.write_text(f"[\n{lines}\n]\n", "utf-8")


if __name__ == "__main__":
    make()
