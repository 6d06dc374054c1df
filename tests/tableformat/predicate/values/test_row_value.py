"""Values computed from rows are those of Spark, or refused."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonnade import InvalidInputError, SchemaField, StructType, TableSchema
from colonnade.tableformat.predicate.bind import bind_value
from colonnade.tableformat.predicate.sql import parse_value
from colonnade.tableformat.predicate.values.row_value import RowValue
from colonnade.tableformat.types.arrow_types import arrow_schema

TYPES = {
    "ts": "timestamp",
    "n": "timestamp_ntz",
    "d": "date",
    "b": "byte",
    "i": "int",
    "l": "long",
    "t": "string",
    "odd name": "int",
}
SCHEMA = TableSchema(
    fields=(
        *(SchemaField(id=at, name=n, type=t) for at, (n, t) in enumerate(TYPES.items(), 1)),
        SchemaField(id=20, name="s", type=StructType(fields=(SchemaField(name="x", type="int"),))),
    )
)


def parse_row_value(sql: str, schema: TableSchema, zone: str) -> RowValue:
    return bind_value(parse_value(sql), schema, zone)


def compute(sql: str, zone: str = "UTC", /, **row: Any) -> Any:
    batch = pa.RecordBatch.from_pylist([row], arrow_schema(SCHEMA))
    [value] = parse_row_value(sql, SCHEMA, zone).compute(batch).to_pylist()
    return value


MOMENTS = st.datetimes(datetime(1850, 1, 1), datetime(2037, 12, 31))
ZONES = ("UTC", "America/New_York", "Asia/Kathmandu", "Pacific/Apia", "+05:30")


@pytest.mark.slow
@given(MOMENTS, st.sampled_from(ZONES))
def test_times_are_taken_apart_in_the_time_zone(moment: datetime, zone: str) -> None:
    own = moment.replace(tzinfo=timezone.utc)
    offset = timedelta(hours=5, minutes=30)
    local = (own + offset) if zone == "+05:30" else own.astimezone(ZoneInfo(zone))
    for part in ("year", "month", "day", "hour", "minute"):
        assert compute(f"{part}(ts)", zone, ts=own) == getattr(local, part)
        assert compute(f"{part}(n)", zone, n=moment) == getattr(moment, part)
    assert compute("CAST(ts AS DATE)", zone, ts=own) == local.date()
    assert compute("to_date(n)", zone, n=moment) == moment.date()
    assert compute("dayofmonth(d)", zone, d=moment.date()) == moment.day


LONGS = st.integers(-(2**63), 2**63 - 1)
INTS = st.integers(-(2**31), 2**31 - 1)


@pytest.mark.slow
@given(LONGS, INTS)
def test_whole_numbers_are_computed_exactly_or_refused(long: int, number: int) -> None:
    for sql, steps, bits in [
        ("l + i", [long + number], 63),
        ("l * i - 3", [long * number, long * number - 3], 63),
        ("i * i", [number * number], 31),
        ("(i - `odd name`) * -2", [0], 31),
        ("CAST(l AS INT)", [long], 31),
        ("CAST(i AS TINYINT)", [number], 7),
    ]:
        row: dict[str, Any] = {"l": long, "i": number, "odd name": number}
        if all(-(2**bits) <= step < 2**bits for step in steps):
            assert compute(sql, **row) == steps[-1]
        else:
            with pytest.raises(InvalidInputError, match="does not fit"):
                compute(sql, **row)


@pytest.mark.parametrize(
    ("sql", "kind"),
    [
        ("i", "int"),
        ("b + b", "byte"),
        ("b + 1", "int"),
        ("b + 3000000000", "long"),
        ("CAST(i AS STRING)", "string"),
        ("year(d)", "int"),
        ("I", "int"),
    ],
)
def test_an_expression_has_the_type_that_spark_gives_it(sql: str, kind: str) -> None:
    assert parse_row_value(sql, SCHEMA, "UTC").type == kind


def test_null_stays_null() -> None:
    for sql in ("i + l", "year(ts)", "CAST(n AS DATE)", "CAST(i AS STRING)"):
        assert compute(sql) is None


def test_text_is_made_of_whole_numbers() -> None:
    assert compute("CAST(i AS STRING)", i=-12) == "-12"


@pytest.mark.parametrize(
    ("sql", "text"),
    [
        ("rand()", "RAND"),
        ("year(t)", "year of string"),
        ("hour(d)", "hour of date"),
        ("t + 1", "on string"),
        ("i & 2", "cannot contain"),
        ("CAST(ts AS INT)", "CAST of timestamp to int"),
        ("TRY_CAST(i AS TINYINT)", "cannot contain"),
        ("to_date(t, 'yyyy')", "takes 1 argument"),
        ("i i", "not SQL"),
        ("", "empty"),
        ("(SELECT 1)", "cannot contain"),
    ],
)
def test_an_expression_that_only_spark_evaluates_is_named(sql: str, text: str) -> None:
    with pytest.raises(InvalidInputError, match=text):
        parse_row_value(sql, SCHEMA, "UTC")


def test_an_unknown_column_and_an_unknown_zone_are_named() -> None:
    with pytest.raises(InvalidInputError, match="'missing'"):
        parse_row_value("missing + 1", SCHEMA, "UTC")
    with pytest.raises(InvalidInputError, match="'Mars/Olympus'"):
        parse_row_value("year(ts)", SCHEMA, "Mars/Olympus")


def test_times_whose_zone_is_not_known_in_advance_are_left_to_spark() -> None:
    late = datetime(2038, 4, 1, tzinfo=timezone.utc)
    assert compute("hour(ts)", "UTC", ts=late) == 0
    assert compute("hour(ts)", "-04:00", ts=late) == 20
    with pytest.raises(InvalidInputError, match="years 1 to 2037"):
        compute("hour(ts)", "America/New_York", ts=late)


def test_years_that_sql_does_not_have_are_refused() -> None:
    column = pa.array([2**62], pa.timestamp("us")), pa.array([2**31 - 1], pa.int32())
    late = pa.RecordBatch.from_arrays([column[0], column[1].cast(pa.date32())], names=["n", "d"])
    for sql in ("year(n)", "CAST(n AS DATE)", "year(d)"):
        with pytest.raises(InvalidInputError, match=r"years 1 to 9999|does not fit"):
            parse_row_value(sql, SCHEMA, "UTC").compute(late)
    assert compute("year(d)", d=date(9999, 12, 31)) == 9999
