"""Spark types become Colonnade types and come back, or are refused by name."""

from __future__ import annotations

import pytest
from hypothesis import given
from pyspark.sql import types as spark
from pyspark.sql.pandas.types import to_arrow_schema

from manifests.errors import InvalidInputError
from manifests.schema import ArrayType, DataType, SchemaField, TableSchema, type_text, walk
from spark_ext.types import (
    CHAR_KEY,
    from_spark,
    refuse_uncarried,
    same_type,
    same_values,
    to_spark,
)
from tableformat.arrow_types import arrow_schema
from tests.strategies import PRIMITIVES, schemas

CASES = [
    (spark.BooleanType(), "boolean"),
    (spark.ByteType(), "byte"),
    (spark.ShortType(), "short"),
    (spark.IntegerType(), "int"),
    (spark.LongType(), "long"),
    (spark.FloatType(), "float"),
    (spark.DoubleType(), "double"),
    (spark.DecimalType(12, 2), "decimal(12,2)"),
    (spark.DecimalType(38, 38), "decimal(38,38)"),
    (spark.StringType(), "string"),
    (spark.StringType("UNICODE_CI"), "string collate UNICODE_CI"),
    (spark.BinaryType(), "binary"),
    (spark.DateType(), "date"),
    (spark.TimestampType(), "timestamp"),
    (spark.TimestampNTZType(), "timestamp_ntz"),
    (spark.TimeType(3), "time(3)"),
    (spark.VariantType(), "variant"),
    (spark.DayTimeIntervalType(), "interval day to second"),
    (spark.DayTimeIntervalType(1, 1), "interval hour"),
    (spark.DayTimeIntervalType(1, 2), "interval hour to minute"),
    (spark.YearMonthIntervalType(), "interval year to month"),
    (spark.YearMonthIntervalType(1), "interval month"),
]


class Point(spark.UserDefinedType):
    """A user-defined type over a struct."""

    @classmethod
    def sqlType(cls) -> spark.DataType:
        return spark.StructType([spark.StructField("x", spark.DoubleType())])


REFUSED = [
    (spark.NullType(), "void"),
    (spark.CalendarIntervalType(), "interval"),
    (spark.GeographyType(4326), "geography(4326)"),
    (spark.GeometryType(0), "geometry(0)"),
    (Point(), "Point (user-defined)"),
]


def one(data_type: spark.DataType) -> spark.StructType:
    return spark.StructType([spark.StructField("c", data_type)])


def stored(data_type: DataType) -> TableSchema:
    return TableSchema(fields=(SchemaField(name="c", type=data_type),))


@pytest.mark.parametrize(("ours", "theirs"), [(b, a) for a, b in CASES], ids=str)
def test_a_type_is_read_and_given_back(ours: str, theirs: spark.DataType) -> None:
    assert from_spark(one(theirs)) == stored(ours)
    assert to_spark(stored(ours)) == one(theirs)


@pytest.mark.parametrize(("data_type", "shown"), REFUSED, ids=str)
@pytest.mark.parametrize("nested", [False, True])
def test_what_cannot_be_stored_is_refused_naming_column_and_type(
    data_type: spark.DataType, shown: str, nested: bool
) -> None:
    schema = one(spark.ArrayType(one(data_type)) if nested else data_type)
    with pytest.raises(InvalidInputError) as caught:
        from_spark(schema)
    assert f"Column {'c.element.c' if nested else 'c'!r} has the Spark type {shown}" in str(
        caught.value
    )


def test_both_forms_of_char_and_varchar_are_read() -> None:
    marked = spark.StructField("c", spark.StringType(), True, {CHAR_KEY: "varchar(7)"})
    assert from_spark(one(spark.VarcharType(7))) == stored("varchar(7)")
    assert from_spark(spark.StructType([marked])) == stored("varchar(7)")
    assert from_spark(one(spark.CharType(3))) == stored("char(3)")


def test_spark_gets_strings_for_char_and_varchar_which_it_would_refuse() -> None:
    assert to_spark(stored("char(3)"))["c"].dataType == spark.StringType()
    assert from_spark(to_spark(stored("char(3)"))) == stored("char(3)")


def test_a_comment_and_not_null_travel_with_a_field() -> None:
    field = spark.StructField("c", spark.LongType(), False, {"comment": "how many"})
    expected = SchemaField(name="c", type="long", nullable=False, comment="how many")
    assert from_spark(spark.StructType([field])).fields == (expected,)
    assert to_spark(TableSchema(fields=(expected,)))["c"].metadata == {"comment": "how many"}


def without_ids(field: SchemaField) -> SchemaField:
    """What Spark can say of a field: no ids, and beside `element`, `key`, `value` no comments."""
    bare = [without_ids(child) for child in field.children()]
    if not isinstance(field.type, str) and field.type.type != "struct":
        bare = [child.model_copy(update={"comment": None}) for child in bare]
    return field.with_children(bare).model_copy(update={"id": 0})


def lengths_lost(field: SchemaField) -> bool:
    """Spark keeps the length of a string in its field, and elements of arrays have none."""
    return any(
        isinstance(child.type, str) and "char(" in child.type
        for parent in walk([field])
        if not isinstance(parent.type, str) and parent.type.type != "struct"
        for child in parent.children()
    )


@given(schemas())
def test_every_schema_survives_the_way_through_spark(schema: TableSchema) -> None:
    again = from_spark(spark.StructType.fromJson(to_spark(schema).jsonValue()))
    for before, after in zip(schema.fields, again.fields, strict=True):
        assert same_type(before.type, after.type)
        if not lengths_lost(before):
            assert after == without_ids(before)


CARRIED = [name for name in PRIMITIVES if not name.startswith(("interval year", "interval month"))]


@given(schemas(CARRIED))
def test_batches_of_a_table_are_what_spark_expects_of_its_schema(schema: TableSchema) -> None:
    expected = to_arrow_schema(to_spark(schema), timezone="UTC")
    assert expected.equals(arrow_schema(schema))


@pytest.mark.parametrize(
    ("digits", "data_type", "refused"),
    [
        (6, "time(6)", False),
        (6, "time(7)", True),
        (6, "time(9)", True),
        (9, "time(9)", False),
        (9, "interval day", False),
        (9, "interval year", True),
        (9, "interval month", True),
    ],
)
@pytest.mark.parametrize("nested", [False, True])
def test_what_this_pyspark_cannot_carry_is_refused_naming_column_and_type(
    monkeypatch: pytest.MonkeyPatch, digits: int, data_type: str, refused: bool, nested: bool
) -> None:
    monkeypatch.setattr("spark_ext.types.MAX_TIME_DIGITS", digits)
    inner = SchemaField(name="element", type=data_type)
    schema = stored(ArrayType(element=inner) if nested else data_type)
    if not refused:
        refuse_uncarried(schema, "leave it out")
        return
    with pytest.raises(InvalidInputError) as caught:
        refuse_uncarried(schema, "leave it out")
    shown = f"array<{data_type}>" if nested else data_type
    assert str(caught.value).startswith(f"Column 'c' has the type {shown}, and ")
    assert str(caught.value).endswith("; leave it out.")


def struct(*names: str) -> DataType:
    fields = [spark.StructField(name, spark.LongType()) for name in names]
    return from_spark(one(spark.StructType(fields))).fields[0].type


def test_a_read_takes_nested_fields_in_order_and_a_write_in_any() -> None:
    assert same_type(struct("a", "b"), struct("A", "b"))
    assert not same_type(struct("a", "b"), struct("b", "a"))
    assert same_values(struct("a", "b"), struct("b", "A"))
    assert not same_values(struct("a", "b"), struct("a"))
    assert not same_values(struct("a", "b"), struct("a", "c"))


@pytest.mark.parametrize(
    ("left", "right", "read", "write"),
    [
        ("string", "char(3)", True, True),
        ("string", "string collate UNICODE", False, True),
        ("time(6)", "time(3)", False, True),
        ("interval day", "interval day to second", False, True),
        ("int", "long", False, False),
        ("timestamp", "timestamp_ntz", False, False),
        ("decimal(9,2)", "decimal(10,2)", False, False),
    ],
)
def test_which_types_may_stand_for_each_other(
    left: str, right: str, read: bool, write: bool
) -> None:
    assert same_type(left, right) is same_type(right, left) is read
    assert same_values(left, right) is same_values(right, left) is write


def test_messages_show_types_as_spark_users_write_them() -> None:
    nested = spark.MapType(spark.StringType(), spark.ArrayType(one(spark.DecimalType(9, 2))))
    shown = type_text(from_spark(one(nested)).fields[0].type)
    assert shown == nested.simpleString()
