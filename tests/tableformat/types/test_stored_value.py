"""Values have one exact form in the log, and become what pyarrow makes of them, without pandas."""

from __future__ import annotations

import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import colonnade
from colonnade.manifests.model.columns.default import decode_value, encode_value
from colonnade.manifests.model.schema import SchemaField
from colonnade.tableformat.types.stored_value import (
    booleans,
    repeated,
    stored_value,
    to_array,
    to_numpy,
    to_scalar,
)
from tests.default_values import TYPES, values
from tests.strategies import identical

INTEGERS = (pa.int8(), pa.int16(), pa.int32(), pa.int64())
UNSIGNED = (pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64())
MOMENTS = (pa.date32(), pa.timestamp("us"), pa.timestamp("us", "UTC"))


def integers(type_: pa.DataType) -> st.SearchStrategy[list[int]]:
    return st.lists(st.integers(-(2 ** (type_.bit_width - 1)), 2 ** (type_.bit_width - 1) - 1))


CASES: dict[Any, st.SearchStrategy[list[Any]]] = {
    **{each: integers(each) for each in (*INTEGERS, *MOMENTS)},
    pa.time64("ns"): st.lists(st.integers(0, 86_399 * 10**9)),
    pa.bool_(): st.lists(st.booleans()),
    pa.float32(): st.lists(st.floats(width=32)),
    pa.float64(): st.lists(st.floats()),
    pa.string(): st.lists(st.text()),
    pa.binary(): st.lists(st.binary()),
}


@pytest.mark.parametrize("type_", CASES, ids=str)
@given(data=st.data())
def test_values_become_the_array_that_pyarrow_makes_of_them(
    type_: pa.DataType, data: st.DataObject
) -> None:
    values = data.draw(CASES[type_])
    found, wanted = to_array(values, type_), pa.array(values, type_)
    found.validate(full=True)
    assert (found.type, len(found)) == (type_, len(values))
    assert same(found, wanted)
    if values:
        assert to_scalar(values[0], type_).type == type_
        assert same(pa.nulls(1, type_).fill_null(to_scalar(values[0], type_)), wanted[:1])


def same(found: pa.Array, wanted: pa.Array) -> bool:
    if pa.types.is_floating(found.type):  # NaN is not equal to itself
        return repr(found.to_pylist()) == repr(wanted.to_pylist())
    return bool(found.equals(wanted))


@given(st.lists(st.integers(-(10**38) + 1, 10**38 - 1)))
def test_decimals_are_unscaled(values: list[int]) -> None:
    with_scale = [Decimal(each).scaleb(-2) for each in values if abs(each) < 10**28]
    wanted = pa.array(with_scale, pa.decimal128(38, 2))
    found = to_array([each for each in values if abs(each) < 10**28], pa.decimal128(38, 2))
    assert found.equals(wanted)


@pytest.mark.parametrize("type_", [*INTEGERS, *UNSIGNED, pa.float32(), pa.float64()], ids=str)
@given(data=st.data())
def test_numbers_become_those_of_numpy(type_: pa.DataType, data: st.DataObject) -> None:
    values = data.draw(st.lists(st.integers(0, 127), min_size=3))
    array = pa.array(values, type_)
    for part in (array, array.slice(1), array.slice(1, 1), array.slice(0, 0)):
        found = to_numpy(part)
        assert found.dtype == part.to_numpy().dtype
        assert found.tolist() == part.to_pylist()


def test_numbers_are_read_from_a_buffer_that_is_longer_than_they_are() -> None:
    buffer = pa.py_buffer(np.arange(3, dtype=np.int64).tobytes() + b"more")
    array = pa.Array.from_buffers(pa.int64(), 2, [None, buffer], offset=1)
    assert to_numpy(array).tolist() == [1, 2]


class _Huge(bytes):
    def __len__(self) -> int:
        return 2**30


def test_texts_that_no_array_holds_are_refused() -> None:
    with pytest.raises(OverflowError, match="2147483648 bytes"):
        to_array([_Huge(), _Huge()], pa.binary())


@given(st.lists(st.booleans()))
def test_booleans_of_numpy_become_those_of_arrow(values: list[bool]) -> None:
    assert booleans(np.array(values, np.bool_)).to_pylist() == values


@pytest.mark.parametrize("number", [128, -129])
def test_a_number_that_the_type_cannot_hold_is_refused(number: int) -> None:
    with pytest.raises(OverflowError):
        to_scalar(number, pa.int8())


READS = {
    "all": "table.to_arrow()",
    "two columns": "table.to_arrow(['id', 'price'])",
    "a comparison": "table.to_arrow(where='id = 2')",
    "a date and a text": "table.to_arrow(where=\"day >= DATE '2026-01-01' AND item = 'pen'\")",
    "a list": "table.to_arrow(where='id IN (1, 3) OR NOT paid')",
    "a count": "table.count('price > 1.5')",
    "dicts": "table.to_pylist()",
    "a deletion": "table.delete('id = 3')",
}


@pytest.mark.slow
@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_the_first_call_of_a_process_does_not_import_pandas(read: str, tmp_path: Path) -> None:
    table = colonnade.create(
        tmp_path / "orders",
        {"id": "bigint", "item": "string", "price": "double", "day": "date", "paid": "boolean"},
    )
    some = [
        {"id": id, "item": item, "price": id / 2, "day": None, "paid": None}
        for id in range(1, 6)
        for item in ("pen", "ink")
    ]
    table.append(some)
    table.delete("id = 4")
    program = f"import sys, colonnade\ntable = colonnade.open(sys.argv[1])\n{read}\n"
    check = "assert 'pandas' not in sys.modules"
    command = [sys.executable, "-c", program + check, str(tmp_path / "orders")]
    subprocess.run(command, check=True, cwd=Path(__file__).parents[3])


@pytest.mark.parametrize("name", TYPES)
def test_a_value_comes_back_from_the_log_as_it_was(name: str) -> None:
    column = SchemaField(name="c", type=name)
    for _, array in values(name):
        text = encode_value(stored_value(array), name)
        again = repeated(decode_value(text, column), array.type, 3)
        assert identical(again, pa.concat_arrays([array] * 3)), text
