"""Types, bounds and blocks: how bytes become Arrow arrays of the user form."""

from __future__ import annotations

import base64
import decimal
import re
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from .stored import FormatError, Json, Unsupported, need

DAY_MS = 86_400_000
BINARY = pa.binary()
SIMPLE = {
    "boolean": pa.bool_(), "byte": pa.int8(), "short": pa.int16(), "int": pa.int32(),
    "long": pa.int64(), "float": pa.float32(), "double": pa.float64(), "string": pa.utf8(),
    "binary": BINARY, "date": pa.date32(), "timestamp": pa.timestamp("us", "UTC"),
    "timestamp_ntz": pa.timestamp("us"), "void": pa.null(),
    "variant": pa.struct([pa.field(name, BINARY, False) for name in ("value", "metadata")]),
}  # fmt: skip
PATTERNS = (
    (r"(?:var)?char\([1-9]\d*\)|string collate \w+", pa.utf8()),
    (r"time\(\d\)", pa.time64("ns")),
    (r"interval (year|month|year to month)", pa.int32()),
    (r"interval (day|hour|minute|second)( to (hour|minute|second))?", pa.duration("us")),
)
DIGITS = {"byte": 3, "short": 5, "int": 10, "long": 19}


def leaf_type(text: str) -> pa.DataType:
    """Return the Arrow type of a type that has no fields."""
    if text in SIMPLE:
        return SIMPLE[text]
    if found := re.fullmatch(r"decimal\((\d+),(\d+)\)", text):
        return pa.decimal128(int(found[1]), int(found[2]))
    for pattern, kind in PATTERNS:
        if re.fullmatch(pattern, text):
            return kind
    raise Unsupported(f"unknown type {text!r}; please upgrade")


def inner_fields(kind: Any) -> list[Json]:
    """Return the fields inside a nested type."""
    parts = {"array": ["element"], "map": ["key", "value"]}.get(kind["type"], [])
    return list(kind.get("fields", [kind[part] for part in parts]))


def user_type(kind: Any) -> pa.DataType:
    """Return the Arrow type of the user form."""
    if kind == "variant":
        mark = pa.field("metadata", BINARY, False, {"variant": "true"})
        return pa.struct([pa.field("value", BINARY, False), mark])
    if isinstance(kind, str):
        return leaf_type(kind)
    inner = [user_field(one) for one in inner_fields(kind)]
    if kind["type"] == "struct":
        return pa.struct(inner)
    return pa.list_(inner[0]) if kind["type"] == "array" else pa.map_(*inner)


def user_field(one: Json) -> pa.Field:
    """Return the Arrow field of the user form."""
    kind, metadata = one["type"], {"comment": one["comment"]} if "comment" in one else {}
    stated = isinstance(kind, str) and any(re.fullmatch(pattern, kind) for pattern, _ in PATTERNS)
    if stated and kind not in ("time(9)", "interval day to second"):
        metadata["colonnade.type"] = kind
    return pa.field(one["name"], user_type(kind), one.get("nullable", True), metadata or None)


# --- from the stored type to the user form --------------------------------------------------------


def digits_of(kind: str) -> tuple[int, int] | None:
    """Return the digits before and behind the point of an integer or decimal type."""
    if found := re.fullmatch(r"decimal\((\d+),(\d+)\)", kind):
        return int(found[1]) - int(found[2]), int(found[2])
    return (DIGITS[kind], 0) if kind in DIGITS else None


def widens(have: str, want: str) -> bool:
    """Say whether a type is another one, or widens to it."""
    if have == want or (have, want) == ("date", "timestamp_ntz"):
        return True
    if want in DIGITS:
        return have in DIGITS and DIGITS[have] <= DIGITS[want]
    if want == "double":
        return have in ("byte", "short", "int", "float")
    if found := re.fullmatch(r"(?:var)?char\((\d+)\)", have):
        longer = re.fullmatch(r"varchar\((\d+)\)", want)
        return want == "string" or bool(longer and int(found[1]) <= int(longer[1]))
    less, more = digits_of(have), digits_of(want)
    return bool(less and more and less[0] <= more[0] and less[1] <= more[1])


def convert(array: pa.Array, want: Any, have: str | None = None) -> pa.Array:
    """Convert the storage form into the user form. Only a whole column states the type it has."""
    if isinstance(want, str):
        return widen(array, want, have)
    inner, found = inner_fields(want), array.type
    same = {"struct": pa.types.is_struct, "array": pa.types.is_list, "map": pa.types.is_map}
    need(have in (None, want["type"]) and same[want["type"]](found), f"a block of {found}")
    need(array.offset == 0, "an array with an offset")
    target, buffers = user_type(want), array.buffers()
    if want["type"] == "struct":
        children = [struct_child(array, one) for one in inner]
        return pa.Array.from_buffers(target, len(array), buffers[:1], children=children)
    parts = [array.values] if want["type"] == "array" else [array.keys, array.items]
    children = [convert(part, one["type"]) for part, one in zip(parts, inner, strict=True)]
    if want["type"] == "map":
        entries = pa.struct([target.key_field, target.item_field])
        children = [pa.Array.from_buffers(entries, len(parts[0]), [None], children=children)]
    return pa.Array.from_buffers(target, len(array), buffers[:2], children=children)


def struct_child(array: pa.StructArray, one: Json) -> pa.Array:
    """Return a field of a struct, found by its id; NULL without it."""
    names = [part.name for part in array.type]
    need(len(set(names)) == len(names), "a struct has an id twice")
    if str(one["id"]) not in names:
        return pa.nulls(len(array), user_type(one["type"]))
    return convert(array.field(names.index(str(one["id"]))), one["type"])


def widen(array: pa.Array, want: str, have: str | None) -> pa.Array:
    """Convert values of the type that they were written with into those of a wider one."""
    found, target = array.type, user_type(want)
    if have is None:
        plain = {kind: text for text, kind in SIMPLE.items()}
        text = str(found).replace("decimal128", "decimal").replace(" ", "")
        have = want if leaf_type(want) == found else plain.get(found, text)
    need(widens(have, want) and leaf_type(have) == found, f"a block of {found} instead of {want}")
    if (have, want) == ("date", "timestamp_ntz"):
        days = array.view(pa.int32()).cast(pa.int64())
        return pc.multiply(days, DAY_MS * 1000).view(target)
    if want == "variant":
        return pa.Array.from_buffers(
            target, len(array), array.buffers()[:1], children=[array.field(0), array.field(1)]
        )
    return array if found == target else array.cast(target)


# --- bounds ---------------------------------------------------------------------------------------


def from_integers(numbers: pa.Array, kind: pa.DataType) -> pa.Array:
    """Make values of the int64 that represent them."""
    if pa.types.is_decimal(kind):
        wide = numbers.cast(pa.decimal128(19, 0))
        return pa.Array.from_buffers(kind, len(wide), wide.buffers())
    if pa.types.is_date32(kind):
        return numbers.cast(pa.int32()).view(kind)
    return numbers.view(kind) if pa.types.is_temporal(kind) else numbers.cast(kind)


def value_of(value: Any, kind: pa.DataType, scale: int | None = None) -> pa.Scalar:
    """Return the value that a number, a text or bytes represent. An integer may have a scale."""
    if pa.types.is_decimal(kind):
        sign, digits, _ = decimal.Decimal(int(value)).as_tuple()
        exponent = -(kind.scale if scale is None else scale)
        return pa.scalar(decimal.Decimal((sign, digits, exponent)), kind)
    if isinstance(value, (float, str, bytes)) or pa.types.is_floating(kind):
        return pa.scalar(value, kind)
    return from_integers(pa.array([int(value)], pa.int64()), kind)[0]


def from_bound(text: str, kind: pa.DataType) -> pa.Scalar:
    """Return the value of a bound, perhaps in a wider type than that of its prefix."""
    found = re.fullmatch(r"(i\d*|[dfsb]):(.*)", text, re.DOTALL)
    if found is None:
        raise FormatError(f"the bound {text!r}")
    prefix, value = found.groups()
    if prefix == "d":
        return value_of(int(value) * (1 if pa.types.is_date32(kind) else DAY_MS * 1000), kind)
    if prefix[0] == "i":
        return value_of(int(value), kind, int(prefix[1:] or 0))
    read: Any = {"s": str, "f": float, "b": base64.b64decode}[prefix]
    return value_of(read(value), kind)


# --- blocks ---------------------------------------------------------------------------------------


def stream(data: bytes, column: str | None, name: str) -> pa.RecordBatch:
    """Return the only batch of an Arrow stream, whose only column may be given."""
    try:
        source = pa.ipc.open_stream(data)
        batches = list(source)
        need(len(batches) == 1, f"{name}: not one batch")
        batches[0].validate(full=True)
    except (pa.ArrowException, OSError) as error:
        raise FormatError(f"{name}: {error}") from None
    need(column is None or source.schema.names == [column], f"{name}: not column {column}")
    need(all(not one.metadata for one in source.schema), f"{name}: an extension type")
    return batches[0]


def decode(block: Json, data: bytes, column: str, have: str, name: str) -> pa.Array:
    """Return the rows of a block in the storage form. NULL has the Arrow type `null`."""
    encoding, rows = block["encoding"], block["rows"]
    if encoding in ("null", "constant"):
        need(not data, f"{name}: a block with bytes")
        return pa.repeat(block["min"], rows) if encoding == "constant" else pa.nulls(rows)
    array = stream(data, column, name).column(0)
    if encoding == "dictionary":
        need(pa.types.is_dictionary(array.type), f"{name}: no dictionary")
        array = array.dictionary.take(array.indices)
    elif encoding == "narrowed":
        need(str(array.type) in ("uint8", "uint16", "uint32", "int64"), f"{name}: {array.type}")
        array = from_integers(pc.add(array.cast(pa.int64()), block["base"]), leaf_type(have))
    elif encoding == "lengths":
        array = join_lengths(array, leaf_type(have), name)
    elif encoding != "plain":
        raise Unsupported(f"{name}: unknown encoding {encoding!r}; please upgrade")
    need(len(array) == rows, f"{name}: not {rows} rows")
    return array


def join_lengths(array: pa.Array, kind: pa.DataType, name: str) -> pa.Array:
    """Return the texts of one row of lengths and bytes."""
    need(len(array) == 1 and array.type.num_fields == 2, f"{name}: not one row of lengths")
    lengths, values = array.field("lengths").values, array.field("values")
    need(values.type == kind, f"{name}: {values.type}")
    ends = pc.cumulative_sum(pc.fill_null(lengths, 0).cast(pa.int32()))
    offsets = pa.concat_arrays([pa.array([0], pa.int32()), ends])
    need(offsets[-1].as_py() == len(values[0].as_buffer()), f"{name}: lengths of other bytes")
    valid = lengths.buffers()[0] if lengths.null_count else None
    buffers = [valid, offsets.buffers()[1], values.buffers()[2]]
    return pa.Array.from_buffers(kind, len(lengths), buffers)
