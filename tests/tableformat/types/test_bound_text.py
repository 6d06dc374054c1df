"""Bounds of the log are shown as people write the values."""

from __future__ import annotations

import pytest

from colonnade.manifests.model.entries import ColumnStatistics
from colonnade.manifests.model.schema import SchemaField
from colonnade.tableformat.types.bound_text import SHOWN, bounds_text, value_text


def column(type_name: str) -> SchemaField:
    return SchemaField(id=1, name="c", type=type_name)


@pytest.mark.parametrize(
    ("type_name", "bound", "text"),
    [
        ("long", -42, "-42"),
        ("decimal(9,2)", 1250, "12.50"),
        ("decimal(38,0)", 10**30, str(10**30)),
        ("boolean", 1, "true"),
        ("date", 20484, "2026-01-31"),
        ("timestamp_ntz", 1_500_000, "1970-01-01 00:00:01.500000"),
        ("double", 0.5, "0.5"),
        ("binary", b"\x00\xff", "00ff"),
        ("string", "é", "é"),
        ("string", "x" * 50, "x" * (SHOWN - 1) + "…"),
    ],
)
def test_a_bound_is_shown_as_its_value(type_name: str, bound: object, text: str) -> None:
    assert value_text(column(type_name), bound) == text  # type: ignore[arg-type]


def test_bounds_that_the_log_does_not_know_have_no_text() -> None:
    known = ColumnStatistics(min="i:1", max="i:7", nulls=0)
    assert bounds_text(column("long"), known) == ("1", "7")
    assert bounds_text(column("long"), None) == (None, None)
    assert bounds_text(column("long"), known.model_copy(update={"max": None})) == (None, None)
