"""What a task's writer makes of text that is not valid UTF-8."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from colonnade.manifests.model.entries import PartitionField, SortField
from colonnade.tableformat.types.conform import conform
from tests.spark_ext.java.write_tool import WriteTool, by_python, read
from tests.strategies import identical
from tests.tableformat.types.test_valid_text import (
    KEYS,
    PLACES,
    bad,
    decoded,
    nested_batch,
    numbered,
    text_of,
    with_text,
)


@pytest.mark.parametrize("unsafe", [True, False])
def test_both_writers_store_the_same_text_for_any_bytes(
    writer: WriteTool, folders: Iterator[Path], unsafe: bool
) -> None:
    batch, wanted = nested_batch(random.Random(unsafe), 1500)
    schema = numbered(batch.schema)
    url, other = next(folders), next(folders)
    (entry,) = writer.write(url, schema, batch, unsafe=unsafe, invalid_text="replace")
    (expected,) = by_python(other, schema, conform(batch, schema, "replace"))
    found = read(url, schema, [entry])
    assert found.to_pylist() == wanted
    assert identical(found, read(other, schema, [expected]))
    assert entry.statistics == expected.statistics


@pytest.mark.parametrize("descending", [False, True])
def test_rows_whose_sort_key_changes_are_sorted_again(
    writer: WriteTool, folders: Iterator[Path], descending: bool
) -> None:
    rng = random.Random(descending)
    values = [None, *{bad(rng, 3) for _ in range(3000)}]
    values = sorted(values, key=lambda value: (value is not None, value), reverse=descending)
    rows = {"n": pa.array(range(len(values)), pa.int64()), "s": text_of(values)}
    batch = pa.record_batch(rows)
    schema, url = numbered(batch.schema), next(folders)
    key = [SortField(column=2, descending=descending)]
    entries = writer.write(url, schema, batch, unsafe=True, key=key, invalid_text="replace")
    assert len(entries) == 2
    found: dict[int, str | None] = {}
    for entry in entries:
        stored = read(url, schema, [entry])
        texts = [text or "" for text in stored["s"].to_pylist()]
        assert texts == sorted(texts, reverse=descending)
        found.update(zip(stored["n"].to_pylist(), stored["s"].to_pylist(), strict=True))
    assert found == dict(enumerate(decoded(values)))


@pytest.mark.parametrize("unsafe", [True, False])
@pytest.mark.parametrize("place", PLACES)
def test_a_refusal_names_column_and_row_of_the_input_of_the_task(
    writer: WriteTool, folders: Iterator[Path], place: str, unsafe: bool
) -> None:
    value, kind, path = PLACES[place]
    column = pa.array([None] * 70_000 + [value], kind).view(with_text(kind))
    parts = pa.array([n % 3 for n in range(70_001)], pa.int64())
    batch = pa.record_batch({"c": column, "p": parts})
    schema = numbered(batch.schema)
    fields = [PartitionField(transform="identity", column=schema.fields[1].id)]
    sentence = f"Column {path} has an invalid string in row 70001 of the task's input, counted"
    assert sentence in writer.error(next(folders), schema, batch, unsafe=unsafe)
    refused = writer.error(next(folders), schema, batch, unsafe=unsafe, partitioned_by=fields)
    assert sentence in refused


@pytest.mark.parametrize("case", KEYS)
def test_keys_of_a_map_that_would_become_the_same_are_refused(
    writer: WriteTool, folders: Iterator[Path], case: str
) -> None:
    kind, (one, other) = KEYS[case]
    plain = pa.map_(kind, pa.int64())
    maps = pa.array([[(one, 1)], [(other, 2)], [(one, 1), (other, 2)]], plain)
    batch = pa.record_batch({"m": maps.view(with_text(plain))})
    schema = numbered(batch.schema)
    writer.write(next(folders), schema, batch.slice(0, 2), invalid_text="replace")
    sentence = "Column 'm' has a map with two keys that become equal once U+FFFD replaces bytes"
    assert sentence in writer.error(next(folders), schema, batch, invalid_text="replace")
