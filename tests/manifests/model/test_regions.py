"""Regions: which values they may state, and what a plan takes along."""

from __future__ import annotations

import json
from math import inf, nextafter

import pytest
from pydantic import TypeAdapter, ValidationError

from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.model.regions import Interval, Intervals, Mask, PlannedRegions, Region
from colonnade.manifests.model.schema import SchemaField

LONG = SchemaField(id=1, name="a", type="long", nullable=False)
TEXT = SchemaField(id=2, name="b", type="string")
VARIANT = SchemaField(id=3, name="v", type="variant")
WIDER = SchemaField(id=4, name="w", type="long")


@pytest.mark.parametrize(
    ("interval", "value"),
    [
        ({"low": "i:1", "high": "i:1"}, "i:1"),
        ({"low": "i:1", "high": "i:1", "low_open": True}, None),
        ({"low": "i:1", "high": "i:1", "high_open": True}, None),
        ({"low": "i:1", "high": "i:2"}, None),
        ({"low": "i:1"}, None),
        ({}, None),
    ],
)
def test_an_interval_has_one_value_if_both_closed_bounds_are_this_value(
    interval: dict[str, object], value: str | None
) -> None:
    assert Interval.model_validate({"column": 1, **interval}).value == value


def test_bounds_are_values_of_their_column() -> None:
    assert Interval(column=1, low="i:-3").bounds(LONG) == (-3, None)
    assert Interval(column=2, high="s:né").bounds(TEXT) == (None, "né")
    for wrong in ("i:1", "f:nan", "né"):
        with pytest.raises(CorruptionError, match="bound"):
            Interval(column=2, low=wrong).bounds(TEXT)


@pytest.mark.parametrize(
    ("kind", "interval", "extent"),
    [
        ("long", {"low": "i:1", "high": "i:3"}, (1, 3)),
        ("date", {"low": "d:1", "high": "d:3", "low_open": True, "high_open": True}, (2, 2)),
        ("decimal(38,2)", {"low": "i2:1"}, (1, 10**38)),
        ("timestamp", {"high": "i:3"}, (-(10**38), 3)),
        ("double", {"low": "f:1.5", "low_open": True}, (nextafter(1.5, 2), inf)),
        ("float", {"low": "f:0.0", "high": "f:1.5", "high_open": True}, (0.0, nextafter(1.5, 0))),
        ("float", {"high": "f:1.5"}, (-inf, 1.5)),
        ("string", {"high": "s:b", "high_open": True}, ("", "b")),
        ("binary", {"high": "b:YQ=="}, (b"", b"a")),
        ("string", {"low": "s:b"}, None),
        ("long", {}, None),
    ],
)
def test_the_extent_of_an_interval_has_all_values_inside(
    kind: str, interval: dict[str, object], extent: object
) -> None:
    column = SchemaField(id=1, name="a", type=kind, nullable=False)
    assert Interval.model_validate({"column": 1, **interval}).extent(column) == extent


def test_an_interval_keeps_its_values_when_its_column_widens() -> None:
    wide = SchemaField(id=1, name="a", type="decimal(12,2)")
    narrow = Interval(column=1, low="i:1", high="i:3", high_open=True)
    found = narrow.of_type(wide)
    assert found == Interval(column=1, low="i2:100", high="i2:300", high_open=True)
    assert found.bounds(wide) == narrow.bounds(wide) == (100, 300)
    assert found.of_type(wide) is found
    assert Interval(column=1).of_type(wide) == Interval(column=1)


def test_a_region_has_an_interval() -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(Intervals).validate_python([])


@pytest.mark.parametrize("columns", [(), (TEXT,), (LONG, TEXT)])
def test_a_region_has_the_column_of_each_interval(columns: tuple[SchemaField, ...]) -> None:
    with pytest.raises(ValidationError, match="one column for each interval"):
        Region(intervals=(Interval(column=1),), columns=columns)


def test_a_region_is_of_columns_that_have_an_order() -> None:
    with pytest.raises(ValidationError, match="has an order"):
        Region(intervals=(Interval(column=3),), columns=(VARIANT,))


def test_a_mask_survives_json_with_all_keys_of_its_columns() -> None:
    """A plan leaves defaults out, and the jar reads each key of a column."""
    region = Region(intervals=(Interval(column=4, high="i:5"),), columns=(WIDER,))
    mask = Mask(column=2, region=region)
    text = mask.model_dump_json(exclude_defaults=True)
    assert Mask.model_validate_json(text) == mask
    [group] = json.loads(text)["region"]
    [column] = group["columns"]
    assert column.keys() == SchemaField.model_fields.keys()


def test_regions_survive_json_which_states_their_columns_once() -> None:
    """Each task of a scan takes them along, and a table may have many."""

    def of(column: SchemaField, **interval: object) -> Region:
        sides = (Interval.model_validate({"column": column.id, **interval}),)
        return Region(intervals=sides, columns=(column,))

    regions = (
        of(LONG, low="i:1"),
        of(LONG, low="i:1", high="i:2", low_open=True),
        of(LONG, high="i:2", high_open=True),
        of(TEXT, low='s:"\\\u2028', high="s:é", low_open=True, high_open=True),
        of(WIDER),
        *(of(LONG, low=f"i:{at}", high=f"i:{at + 1}") for at in range(1_000)),
    )
    adapter = TypeAdapter(PlannedRegions)
    text = adapter.dump_json(regions, exclude_defaults=True)
    assert adapter.validate_json(text) == adapter.validate_python(regions) == regions
    assert len(text) < 30 * len(regions)
