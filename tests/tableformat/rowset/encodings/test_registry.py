"""Every encoding is one row, which both languages know and try in one order."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow as pa
import pytest

from colonnade.tableformat.rowset.encodings.registry import ENCODINGS, encode
from colonnade.tableformat.rowset.encodings.rows import Rows
from tests.tableformat.rowset.encoded import column

ROOT = Path(__file__).parents[4]
JAVA = ROOT / "spark_ext/java/src/colonnade"


def test_the_jar_has_a_class_for_each_encoding_in_the_same_order() -> None:
    folder = JAVA / "encodings"
    classes = re.findall(r"new (\w+)\(\)", (folder / "Encodings.java").read_text("utf-8"))
    names = [
        re.findall(r'super\("(\w+)"\)', (folder / f"{each}.java").read_text("utf-8"))
        for each in classes
    ]
    assert names == [[each] for each in ENCODINGS]
    assert {f"{each}.java" for each in classes} == {
        path.name for path in folder.glob("?*Encoding.java")
    }


def test_the_jar_asks_only_for_limits_that_python_states() -> None:
    asked = {
        (of, name)
        for path in JAVA.rglob("*.java")
        for of, name in re.findall(r'\blimit\("(\w+)", "(\w+)"\)', path.read_text("utf-8"))
    }
    stated = {(each.name, name) for each in ENCODINGS.values() for name in each.limits}
    assert asked
    assert asked <= stated


@pytest.mark.parametrize("name", ENCODINGS)
def test_rows_have_a_stream_or_follow_from_the_index(name: str) -> None:
    encoding = ENCODINGS[name]
    assert (encoding.decode is None) != (encoding.repeat is None)
    kinds = (pa.string(), pa.int64(), pa.bool_(), pa.float64(), pa.decimal128(30, 2))
    has_stream = any(encoding.stream_types(kind) for kind in kinds)
    assert has_stream == (encoding.decode is not None)


def test_a_writer_takes_the_first_encoding_that_applies() -> None:
    samples = {
        "null": pa.array([None, None], pa.int64()),
        "constant": pa.array([7, 7], pa.int64()),
        "dictionary": pa.array([0, 10**12] * 500, pa.int64()),
        "narrowed": pa.array(range(500), pa.int64()),
        "lengths": pa.array([str(each) for each in range(500)]),
        "plain": pa.array([0, 2**62], pa.int64()),
    }
    assert list(samples) == list(ENCODINGS)
    for name, array in samples.items():
        of = column("string" if array.type == pa.string() else "long")
        assert encode(Rows(array, of, array.nbytes)).encoding == name
