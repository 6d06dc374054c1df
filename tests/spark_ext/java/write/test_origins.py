"""Tasks state which row each written row replaces, in the order in which rows are stored."""

from __future__ import annotations

import random
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colonnade.manifests.arrays.origins import NEW, encode_origins
from colonnade.manifests.model.entries import SortField
from colonnade.manifests.model.schema import IdentityColumn, SchemaField, TableSchema
from colonnade.tableformat.statements.task_reports import TaskReport, decode_report
from colonnade.tableformat.write.settings import WriteSettings
from tests.spark_ext.java.write.test_write_partitions import LAYOUT, example
from tests.spark_ext.java.write_tool import WriteTool, read
from tests.tableformat.types.test_valid_text import bad, numbered, text_of

HANDLERS = st.builds(
    lambda rowset, row: (rowset << 32) + row,
    st.integers(0, 3) | st.integers(-(2**31), 2**31 - 1),
    st.integers(0, 2**32 - 2),
)


def by_number(url: Path, schema: TableSchema, report: TaskReport) -> dict[int, int | None]:
    """The origin of each row by the number in its column `nr`."""
    found: dict[int, int | None] = {}
    for entry, origins in zip(report.rowsets, report.row_origins(), strict=True):
        numbers = read(url, schema, [entry])["nr"].to_pylist()
        known = (None if each == NEW else each for each in origins.array().tolist())
        found.update(zip(numbers, known, strict=True))
    return found


def origins_of(rows: int, seed: int, new: float = 0.3) -> list[int | None]:
    """Random origins of rows; a share is new."""
    rng = np.random.default_rng(seed)
    handlers = rng.permutation(3 * rows)[:rows] + (rng.integers(0, 2**31, rows) << 32)
    fresh = rng.random(rows) < new
    return [None if is_new else int(h) for h, is_new in zip(handlers, fresh, strict=True)]


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.none() | HANDLERS, min_size=1, max_size=90, unique_by=lambda h: h or object()),
    st.sampled_from([(), LAYOUT[:1], LAYOUT]),
    st.sampled_from([None, 7, 30]),
    st.sampled_from([3, 10, 65_536]),
    st.booleans(),
)
def test_each_row_states_its_origin_wherever_it_is_stored(
    writer: WriteTool,
    folders: Iterator[Path],
    origins: list[int | None],
    layout: Sequence[Any],
    most_rows: int | None,
    block_rows: int,
    unsafe: bool,
) -> None:
    schema, rows = example(len(origins))
    url = next(folders)
    how: dict[str, Any] = {"partitioned_by": layout, "unsafe": unsafe, "origins": origins}
    if most_rows is not None:
        how["settings"] = WriteSettings(max_records=most_rows)
    answer = writer.answer(url, schema, rows, options={"block_rows": block_rows}, **how)
    report = decode_report(answer["entries"])
    assert by_number(url, schema, report) == dict(enumerate(origins))


@pytest.mark.parametrize("new", [0.0, 0.5, 0.9999])
def test_many_rows_state_their_origins(
    writer: WriteTool, folders: Iterator[Path], new: float
) -> None:
    count, url = 100_000, next(folders)
    rows = pa.record_batch({"nr": pa.array(range(count), pa.int64())})
    schema, origins = numbered(rows.schema), origins_of(count, 4, new)
    answer = writer.answer(url, schema, rows, origins=origins)
    assert by_number(url, schema, decode_report(answer["entries"])) == dict(enumerate(origins))


def test_rows_in_the_order_of_their_origins_cost_next_to_nothing(
    writer: WriteTool, folders: Iterator[Path]
) -> None:
    count = 200_000
    rows = pa.record_batch({"nr": pa.array(range(count), pa.int64())})
    answer = writer.answer(
        next(folders), numbered(rows.schema), rows, origins=[*range(5 << 32, (5 << 32) + count)]
    )
    [data] = decode_report(answer["entries"]).origins or ()
    assert data is not None
    assert len(data) < count / 25


def test_rowsets_of_new_rows_state_nothing(writer: WriteTool, folders: Iterator[Path]) -> None:
    schema, rows = example(300)
    origins = [None] * 300
    answer = writer.answer(next(folders), schema, rows, partitioned_by=LAYOUT, origins=origins)
    report = decode_report(answer["entries"])
    assert list(report.origins or ()) == [None] * len(report.rowsets)


def test_the_code_is_that_of_the_specification(writer: WriteTool, folders: Iterator[Path]) -> None:
    schema, rows = example(5)
    first = 5 << 32 | 700
    origins = [None, first, 3, None, first - 300]
    answer = writer.answer(next(folders), schema, rows, origins=origins)
    [data] = decode_report(answer["entries"]).origins or ()
    assert data is not None
    numbers = np.array([NEW if each is None else each for each in origins])
    assert zlib.decompress(data) == zlib.decompress(encode_origins([numbers]))


def test_two_rows_may_not_replace_one(writer: WriteTool, folders: Iterator[Path]) -> None:
    schema, rows = example(3)
    answer = writer.answer(next(folders), schema, rows, origins=[8, None, 8])
    assert answer["error"] == "Two rows replace the same row 8."


@pytest.mark.parametrize("descending", [False, True])
def test_rows_that_are_sorted_again_keep_their_origins(
    writer: WriteTool, folders: Iterator[Path], descending: bool
) -> None:
    rng = random.Random(descending)
    values = [None, *{bad(rng, 3) for _ in range(3000)}]
    values = sorted(values, key=lambda value: (value is not None, value), reverse=descending)
    count, url = len(values), next(folders)
    rows = pa.record_batch({"nr": pa.array(range(count), pa.int64()), "s": text_of(values)})
    schema, origins = numbered(rows.schema), origins_of(count, descending)
    key = [SortField(column=2, descending=descending)]
    answer = writer.answer(url, schema, rows, key=key, invalid_text="replace", origins=origins)
    report = decode_report(answer["entries"])
    assert len(report.rowsets) == 2
    assert by_number(url, schema, report) == dict(enumerate(origins))


def test_rows_with_given_numbers_and_with_new_ones_keep_their_origins(
    writer: WriteTool, folders: Iterator[Path]
) -> None:
    fields = (
        SchemaField(id=1, name="id", type="long", nullable=False, identity=IdentityColumn()),
        SchemaField(id=2, name="nr", type="long"),
    )
    schema, url = TableSchema(fields=fields), next(folders)
    ids, origins = [None] * 40 + [*range(-60, 0)], origins_of(100, 1, 0.0)
    origins[:40] = [None] * 40
    rows = pa.record_batch({"id": pa.array(ids, pa.int64()), "nr": pa.array(range(100))})
    answer = writer.answer(url, schema, rows, key=[SortField(column=1)], origins=origins)
    report = decode_report(answer["entries"])
    assert len(report.rowsets) == 2
    assert by_number(url, schema, report) == dict(enumerate(origins))
