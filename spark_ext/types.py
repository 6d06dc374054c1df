"""Spark types to Colonnade types and back; pure.

Spark has two forms of `char(n)` and `varchar(n)`: types of their own in a declared schema, and
`string` with a mark in the field's metadata wherever rows flow. Both are read; the second is what
`to_spark` gives, because Spark refuses the first from a data source.
Spec: docs/spec/types.md
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import pyspark
from pyspark.sql import types as spark

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.schema import (
    ArrayType,
    DataType,
    MapType,
    SchemaField,
    StructType,
    TableSchema,
    decimal_digits,
    type_text,
    walk,
)
from colonnade.tableformat.arrow_types import base_type

CHAR_KEY = "__CHAR_VARCHAR_TYPE_STRING"
"""Where Spark keeps the declared type of a string column of limited length."""

MAX_TIME_DIGITS = 9 if tuple(map(int, pyspark.__version__.split(".")[:2])) >= (4, 3) else 6
"""Digits of a second in the finest `time` of this pyspark; only its JVM part would refuse more."""

_COMMENT_KEY = "comment"
_SPARKS_OWN_KEYS = frozenset(
    (
        *(_COMMENT_KEY, "CURRENT_DEFAULT", "EXISTS_DEFAULT", "GENERATION_EXPRESSION"),
        *("identity.start", "identity.step", "identity.allowExplicitInsert", "HIVE_TYPE_STRING"),
        *("spark.watermarkDelayMs", "spark.timeWindow", "spark.sessionWindow"),
    )
)
"""Keys that mean something to Spark itself, as do all that begin with two underscores."""

_CHAR = re.compile(r"(?:var)?char\([1-9]\d{0,9}\)", re.ASCII)
_TIME = re.compile(r"time\((\d)\)", re.ASCII)
_YEAR_MONTH = ("interval year", "interval month")
_INTERVAL_FIELDS = {
    spark.DayTimeIntervalType: ("day", "hour", "minute", "second"),
    spark.YearMonthIntervalType: ("year", "month"),
}

_TO_SPARK: dict[str, spark.DataType] = {
    "boolean": spark.BooleanType(),
    "byte": spark.ByteType(),
    "short": spark.ShortType(),
    "int": spark.IntegerType(),
    "long": spark.LongType(),
    "float": spark.FloatType(),
    "double": spark.DoubleType(),
    "string": spark.StringType(),
    "binary": spark.BinaryType(),
    "date": spark.DateType(),
    "timestamp": spark.TimestampType(),
    "timestamp_ntz": spark.TimestampNTZType(),
    "variant": spark.VariantType(),
}
_FROM_SPARK = {type(data_type): name for name, data_type in _TO_SPARK.items() if name != "string"}


def from_spark(schema: spark.StructType) -> TableSchema:
    """Read a Spark schema as that of a table. Ids are left unassigned.

    Raises InvalidInputError naming column and type for what cannot be stored.
    """
    return TableSchema(fields=tuple(_field_from_spark(field, field.name) for field in schema))


def to_spark(schema: TableSchema) -> spark.StructType:
    """The Spark schema of a table's rows; comments and declared lengths join the metadata."""
    return spark.StructType([_field_to_spark(field) for field in schema.fields])


def declared_json(schema: TableSchema) -> str:
    """The Spark schema as Spark's JSON, with char and varchar as the types they were declared."""
    value: dict[str, Any] = to_spark(schema).jsonValue()
    _restore_lengths(value)
    return json.dumps(value)


def _restore_lengths(data_type: Any) -> None:
    if not isinstance(data_type, dict):
        return
    for field in data_type.get("fields", ()):
        field["type"] = field["metadata"].pop(CHAR_KEY, field["type"])
        _restore_lengths(field["type"])
    for part in ("elementType", "keyType", "valueType"):
        _restore_lengths(data_type.get(part))


def same_type(left: DataType, right: DataType) -> bool:
    """Whether two types are the same to Spark: in names but for case, not in nullability.

    Spark's rows have no char and varchar, only strings.
    """
    match left, right:
        case str(), str():
            return _without_length(left) == _without_length(right)
        case ((ArrayType() | MapType() | StructType()), (ArrayType() | MapType() | StructType())):
            ours, theirs = _children(left), _children(right)
            return (
                left.type == right.type
                and len(ours) == len(theirs)
                and all(
                    a.name.casefold() == b.name.casefold() and same_type(a.type, b.type)
                    for a, b in zip(ours, theirs, strict=True)
                )
            )
        case _:
            return False


def _children(data_type: DataType) -> tuple[SchemaField, ...]:
    return SchemaField(name="any", type=data_type).children()


def _without_length(text: str) -> str:
    return "string" if _CHAR.fullmatch(text) else text


def same_values(left: DataType, right: DataType) -> bool:
    """Whether two types hold the same kind of values, so that rows of one can be stored as other.

    Lengths and collations of strings, fields of intervals and digits of times are left to the
    values themselves; nested fields are matched by name in any order.
    """
    match left, right:
        case ArrayType(), ArrayType():
            return same_values(left.element.type, right.element.type)
        case MapType(), MapType():
            return same_values(left.key.type, right.key.type) and same_values(
                left.value.type, right.value.type
            )
        case StructType(), StructType():
            others = {field.name.casefold(): field.type for field in right.fields}
            return len(left.fields) == len(right.fields) and all(
                field.name.casefold() in others
                and same_values(field.type, others[field.name.casefold()])
                for field in left.fields
            )
        case str(), str():
            return base_type(left) == base_type(right)
        case _:
            return False


def refuse_uncarried(schema: TableSchema, advice: str) -> None:
    """Refuse what tables hold but Spark's Python data sources cannot carry.

    Raises InvalidInputError naming column and type; `advice` says what to do.
    """
    for column in schema.fields:
        for field in walk([column]):
            reason = _why_uncarried(field.type) if isinstance(field.type, str) else None
            if reason is not None:
                raise InvalidInputError(
                    f"Column {column.name!r} has the type {type_text(column.type)}, and {reason};"
                    f" {advice}."
                )


def refuse_fine_times(schema: TableSchema) -> None:
    """Refuse times of more digits than this Spark has. Raises InvalidInputError."""
    for column in schema.fields:
        for field in walk([column]):
            match = _TIME.fullmatch(field.type) if isinstance(field.type, str) else None
            if match and int(match[1]) > MAX_TIME_DIGITS:
                raise InvalidInputError(
                    f"Column {column.name!r} has the type {type_text(column.type)}, and"
                    f" {_why_uncarried(match[0])}; read it through Arrow with colonnade.open(path)."
                )


def _why_uncarried(text: str) -> str | None:
    if text.startswith(_YEAR_MONTH):
        return "Spark's Python data sources cannot carry year-month intervals"
    if (match := _TIME.fullmatch(text)) and int(match[1]) > MAX_TIME_DIGITS:
        return f"pyspark {pyspark.__version__} knows times of at most {MAX_TIME_DIGITS} digits"
    return None


def _field_from_spark(field: spark.StructField, path: str) -> SchemaField:
    data_type = _type_from_spark(field.dataType, path)
    declared = field.metadata.get(CHAR_KEY)
    if data_type == "string" and isinstance(declared, str) and _CHAR.fullmatch(declared):
        data_type = declared
    comment = field.metadata.get(_COMMENT_KEY)
    return SchemaField(
        name=field.name,
        type=data_type,
        nullable=field.nullable,
        comment=comment if isinstance(comment, str) else None,
        metadata=_metadata_text(field.metadata, path),
    )


def _of_user(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Metadata without what Spark keeps there for itself, which is wrong of a stored column."""
    return {
        key: value
        for key, value in metadata.items()
        if not key.startswith("__") and key not in _SPARKS_OWN_KEYS
    }


def _is_held_by_spark(value: Any) -> bool:
    """Whether Spark's metadata can have a value: a list there is of one type, not of lists or NULL.

    Others than Spark may have stored any JSON, and Spark fails to load a table that shows it.
    """
    match value:
        case dict():
            return all(map(_is_held_by_spark, value.values()))
        case list():
            kinds = {type(part) for part in value}
            uniform = len(kinds) <= 1 and kinds.isdisjoint((list, type(None)))
            return uniform and all(map(_is_held_by_spark, value))
        case _:
            return True


def _metadata_text(metadata: Mapping[str, Any] | None, path: str) -> str | None:
    """The user's metadata of a field, as the log stores it; None where there is none."""
    if not (kept := _of_user(metadata or {})):
        return None
    try:
        text = json.dumps(
            kept, ensure_ascii=False, allow_nan=False, separators=(",", ":"), sort_keys=True
        )
        text.encode()  # raises for a lone surrogate
        return text
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInputError(
            f"The metadata of column {path!r} cannot be written as JSON: {error}; remove it."
        ) from error


def _type_from_spark(data_type: spark.DataType, path: str) -> DataType:
    match data_type:
        case spark.ArrayType():
            element = _type_from_spark(data_type.elementType, f"{path}.element")
            return ArrayType(
                element=SchemaField(name="element", type=element, nullable=data_type.containsNull)
            )
        case spark.MapType():
            key = _type_from_spark(data_type.keyType, f"{path}.key")
            value = _type_from_spark(data_type.valueType, f"{path}.value")
            return MapType(
                key=SchemaField(name="key", type=key, nullable=False),
                value=SchemaField(name="value", type=value, nullable=data_type.valueContainsNull),
            )
        case spark.StructType():
            return StructType(
                fields=tuple(_field_from_spark(f, f"{path}.{f.name}") for f in data_type)
            )
        case spark.DecimalType():
            return f"decimal({data_type.precision},{data_type.scale})"
        case spark.StringType() | spark.CharType() | spark.VarcharType() | spark.TimeType():
            return data_type.simpleString()
        case spark.DayTimeIntervalType() | spark.YearMonthIntervalType():
            return data_type.simpleString()
    try:
        return _FROM_SPARK[type(data_type)]
    except KeyError:
        raise InvalidInputError(
            f"Column {path!r} has the Spark type {_shown(data_type)}, which Colonnade cannot store;"
            " leave it out or cast it to another type."
        ) from None


def _shown(data_type: spark.DataType) -> str:
    """The name of a type that users know it by."""
    if isinstance(data_type, spark.UserDefinedType):
        return f"{type(data_type).__name__} (user-defined)"
    return data_type.simpleString()


def _field_to_spark(field: SchemaField) -> spark.StructField:
    told = _of_user(json.loads(field.metadata)) if field.metadata else {}
    metadata = {key: value for key, value in told.items() if _is_held_by_spark(value)}
    if field.comment is not None:
        metadata[_COMMENT_KEY] = field.comment
    if isinstance(field.type, str) and _CHAR.fullmatch(field.type):
        metadata[CHAR_KEY] = field.type
    return spark.StructField(field.name, _type_to_spark(field.type), field.nullable, metadata)


def _type_to_spark(data_type: DataType) -> spark.DataType:
    match data_type:
        case ArrayType(element=element):
            return spark.ArrayType(_type_to_spark(element.type), element.nullable)
        case MapType(key=key, value=value):
            return spark.MapType(
                _type_to_spark(key.type), _type_to_spark(value.type), value.nullable
            )
        case StructType(fields=fields):
            return spark.StructType([_field_to_spark(field) for field in fields])
        case str() as text:
            return _primitive_to_spark(text)


def _primitive_to_spark(text: str) -> spark.DataType:
    if (plain := _TO_SPARK.get(text)) is not None:
        return plain
    if digits := decimal_digits(text):
        return spark.DecimalType(*digits)
    if match := _TIME.fullmatch(text):
        return spark.TimeType(int(match[1]))
    if text.startswith("string collate "):
        return spark.StringType(text.removeprefix("string collate "))
    if _CHAR.fullmatch(text):
        return spark.StringType()
    return _interval_to_spark(text)


def _interval_to_spark(text: str) -> spark.DataType:
    start, _, end = text.removeprefix("interval ").partition(" to ")
    for spark_type, names in _INTERVAL_FIELDS.items():
        if start in names:
            return spark_type(names.index(start), names.index(end or start))
    raise AssertionError(f"{text!r} is no type of a table schema")
