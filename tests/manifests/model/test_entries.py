"""Entries survive JSON, have the fields of their specification, and refuse all else."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from colonnade.manifests.model.entries import (
    ByteCheck,
    ColumnReplacement,
    ColumnStatistics,
    DeletionVectorEntry,
    EntrySegment,
    OriginEntry,
    PartitionField,
    RowSetEntry,
    SortField,
)

SPEC = "".join(
    path.read_text() for path in (Path(__file__).parents[3] / "docs" / "spec").glob("*.md")
)
KINDS = (
    *(ByteCheck, ColumnReplacement, ColumnStatistics, DeletionVectorEntry, EntrySegment),
    *(OriginEntry, PartitionField, RowSetEntry, SortField),
)
OBJECTS = st.text("0123456789abcdef", min_size=32, max_size=32)
CHECKS = st.builds(ByteCheck, length=st.integers(0, 2**53 - 1), crc32c=st.integers(0, 2**32 - 1))
STATISTICS = st.builds(
    ColumnStatistics,
    min=st.none() | st.just("i:-9"),
    max=st.none() | st.text(max_size=5),
    nulls=st.integers(0, 2**53 - 1),
    exact=st.booleans(),
)
REPLACEMENTS = st.builds(
    ColumnReplacement,
    columns=st.tuples(st.integers(1, 2**31 - 1)),
    object=OBJECTS,
    place=st.sampled_from(("directory", "packed")),
    bytes=st.integers(0, 2**53 - 1),
    footer=CHECKS,
)
ROWSETS = st.builds(
    RowSetEntry,
    object=OBJECTS,
    place=st.sampled_from(("directory", "packed")),
    rows=st.integers(1, 2**32 - 1),
    bytes=st.integers(0, 2**53 - 1),
    cuts=st.integers(1, 2**32 - 1) | st.tuples(st.just(3), st.just(5)),
    footer=CHECKS,
    statistics=st.dictionaries(st.integers(1, 2**31 - 1), STATISTICS, max_size=2),
    partition=st.none() | st.just(("i:1", None)),
    replacements=st.none() | st.tuples(REPLACEMENTS),
)


@settings(max_examples=20)
@given(ROWSETS)
def test_the_entry_of_a_rowset_survives_json(entry: RowSetEntry) -> None:
    assert RowSetEntry.model_validate_json(entry.model_dump_json(exclude_none=True)) == entry


@pytest.mark.parametrize("kind", KINDS)
def test_the_specification_names_every_field(kind: Any) -> None:
    named = set(re.findall(r'[`"](\w+)[`"]', SPEC))
    assert set(kind.model_fields) <= named


@pytest.mark.parametrize("kind", KINDS)
def test_no_entry_takes_an_unknown_key(kind: Any) -> None:
    with pytest.raises(ValidationError) as caught:
        kind.model_validate({"newer": 1})
    assert ("newer",) in {problem["loc"] for problem in caught.value.errors()}


@pytest.mark.parametrize(
    ("transform", "argument", "valid"),
    [
        ("bucket", 16, True),
        ("bucket", None, False),
        ("bucket", 0, False),
        ("truncate", 2**31 - 1, True),
        ("truncate", 2**31, False),
        ("days", None, True),
        ("days", 1, False),
        ("centuries", None, False),
    ],
)
def test_only_bucket_and_truncate_have_an_argument(
    transform: str, argument: int | None, valid: bool
) -> None:
    fields = {"transform": transform, "column": 1, "argument": argument}
    if valid:
        assert PartitionField.model_validate(fields).argument == argument
    else:
        with pytest.raises(ValidationError):
            PartitionField.model_validate(fields)


def test_a_replacement_has_at_least_one_column() -> None:
    fields = {"object": "a" * 32, "place": "packed", "bytes": 1, "columns": ()}
    with pytest.raises(ValidationError, match="columns"):
        ColumnReplacement.model_validate({**fields, "footer": ByteCheck(length=1, crc32c=1)})
