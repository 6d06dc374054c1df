"""Read the tree of an Arrow expression, which Arrow shows only in its pickled form.

That is an IPC file of one row. The metadata of its schema has the tree in prefix order, and its
columns are the literals and the options of functions, which the tree names by their numbers:

    call: greater, field_ref: a, literal: 0, end: greater
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any, TypeAlias

import pyarrow as pa

from colonnade.tableformat.types.compute import pc

Row: TypeAlias = pa.Array
"""An array of one value. A scalar of Arrow does not keep the type of each part of it."""


@dataclass(frozen=True, slots=True)
class Constant:
    """A literal of any type of Arrow."""

    row: Row

    @property
    def value(self) -> pa.Scalar:
        """The literal as a scalar."""
        return self.row[0]


@dataclass(frozen=True, slots=True)
class Field:
    """A column by its name, or a field of a struct by the names that lead to it."""

    path: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """A function of Arrow by its name, with its arguments and its options, if it has some."""

    function: str
    arguments: tuple[Node, ...]
    options: Row | None = None

    def option(self, name: str) -> pa.Scalar:
        """Return an option by its name. Raises KeyError."""
        if self.options is None:
            raise KeyError(name)
        return self.options[0][name]


Node = Constant | Field | Call

_CHAINS = ("and_kleene", "or_kleene")
"""Functions of two arguments that a tree has once for a whole chain, however long it is."""


def read_expression(expression: Any) -> Node | None:
    """Return the tree of a `pyarrow.compute.Expression`; None if Arrow cannot pickle it.

    Arrow refuses columns that are named by their number, for example.
    """
    try:
        (pickled,) = expression.__reduce__()[1]
        row = pa.ipc.open_file(pickled).get_batch(0)
        return _node(iter(_metadata(row.schema)), row.column)
    except (pa.ArrowException, KeyError, ValueError):
        return None


def to_expression(node: Node) -> Any:
    """Return the `pyarrow.compute.Expression` of a tree that was read."""
    rows: list[Row] = []
    entries = list(_entries(node, rows))
    fields = [pa.field("", each.type) for each in rows]
    batch = pa.RecordBatch.from_arrays(
        rows or [pa.array([None])],
        schema=pa.schema(fields or [pa.field("", pa.null())], pa.KeyValueMetadata(entries)),
    )
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, batch.schema) as file:
        file.write_batch(batch)
    return pc.Expression._deserialize(sink.getvalue())


def columns_of(node: Node) -> Iterator[str]:
    """Yield the names of the top-level columns that a tree reads, some of them several times."""
    match node:
        case Field(path):
            yield path[0]
        case Call(_, arguments):
            yield from chain.from_iterable(map(columns_of, arguments))


def _node(entries: Iterator[tuple[str, str]], row: Callable[[int], Row]) -> Node:
    """Read the node that some entries begin with. Raises ValueError for an unknown entry."""
    above: list[tuple[str, list[Node], list[Row]]] = []
    for kind, value in entries:
        match kind:
            case "literal":
                found: Node = Constant(row(int(value)))
            case "field_ref":
                found = Field((value,))
            case "nested_field_ref":
                names = zip(range(int(value)), entries, strict=False)
                found = Field(tuple(name for _, (_, name) in names))
            case "call":
                above.append((value, [], []))
                continue
            case "options":
                above[-1][2].append(row(int(value)))
                continue
            case "end":
                found = _call(*above.pop())
            case _:
                raise ValueError(kind)
        if not above:
            return found
        above[-1][1].append(found)
    raise ValueError("The tree has no end.")


def _call(function: str, arguments: list[Node], options: list[Row]) -> Call:
    """Return a call; one of a chain such as `a | b | c` has all parts of the chain."""
    parts = list[Node]()
    for each in arguments:
        joins = function in _CHAINS and isinstance(each, Call) and each.function == function
        parts += each.arguments if joins and isinstance(each, Call) else (each,)
    return Call(function, tuple(parts), options[0] if options else None)


def _entries(node: Node, rows: list[Row]) -> Iterator[tuple[str, str]]:
    """Yield the entries of a tree, and collect its literals and options."""
    match node:
        case Constant(row):
            rows.append(row)
            yield "literal", str(len(rows) - 1)
        case Field((name,)):
            yield "field_ref", name
        case Field(path):
            yield "nested_field_ref", str(len(path))
            yield from (("field_ref", name) for name in path)
        case Call(function, (first, *others)) if function in _CHAINS:
            yield from [("call", function)] * len(others)
            yield from _entries(first, rows)
            for each in others:
                yield from _entries(each, rows)
                yield "end", function
        case Call(function, arguments, options):
            yield "call", function
            yield from chain.from_iterable(_entries(each, rows) for each in arguments)
            if options is not None:
                rows.append(options)
                yield "options", str(len(rows) - 1)
            yield "end", function


class _CSchema(ctypes.Structure):
    """The beginning of the schema of Arrow's C data interface."""

    _fields_ = (
        ("format", ctypes.c_char_p),
        ("name", ctypes.c_char_p),
        ("metadata", ctypes.c_void_p),
    )


_pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of.restype, _pointer_of.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)


def _metadata(schema: pa.Schema) -> Iterable[tuple[str, str]]:
    """Return the metadata of a schema in its order, with keys that occur several times.

    The dict that pyarrow makes of it has each key once. The C data interface has all: the number of
    pairs, and then each text after its length, as 32-bit integers.
    """
    capsule = schema.__arrow_c_schema__()
    place = _CSchema.from_address(_pointer_of(capsule, b"arrow_schema")).metadata
    texts = list[str]()
    at = place + 4
    for _ in range(2 * ctypes.c_int32.from_address(place).value):
        size = ctypes.c_int32.from_address(at).value
        texts.append(ctypes.string_at(at + 4, size).decode())
        at += 4 + size
    return zip(texts[::2], texts[1::2], strict=True)
