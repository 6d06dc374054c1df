"""Convert schemas between Spark's JSON and tables; pure.

The planner needs this module when it starts. It does not import pyspark, because that import takes
as long as the rest of the start. `pyspark_types` converts pyspark's objects.

Spark has two forms of `char(n)` and `varchar(n)`: a separate type in a declared schema, and
`string` with a mark in the field's metadata in the schema of rows. Both forms are read. `to_json`
returns the second, because Spark refuses the first from a data source. The collation of a string
is in the metadata of the innermost field around it.
Spec: docs/spec/types.md
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.schema import (
    ArrayType,
    DataType,
    MapType,
    SchemaField,
    StructType,
    TableSchema,
    type_text,
    walk,
)
from colonnade.tableformat.types.arrow_types import base_type

CHAR_KEY = "__CHAR_VARCHAR_TYPE_STRING"
"""The metadata key of the declared type of a string column of limited length."""

_COLLATIONS_KEY = "__COLLATIONS"
"""The metadata key of the collations below a field: provider and name, by path to the string."""

_COMMENT_KEY = "comment"
_SPARKS_OWN_KEYS = frozenset(
    (
        *(_COMMENT_KEY, "CURRENT_DEFAULT", "EXISTS_DEFAULT", "GENERATION_EXPRESSION"),
        *("identity.start", "identity.step", "identity.allowExplicitInsert", "HIVE_TYPE_STRING"),
        *("spark.watermarkDelayMs", "spark.timeWindow", "spark.sessionWindow"),
    )
)
"""Metadata keys of Spark itself, besides all keys that begin with two underscores."""

_CHAR = re.compile(r"(?:var)?char\([1-9]\d{0,9}\)", re.ASCII)
_TIME = re.compile(r"time\((\d)\)", re.ASCII)
_COLLATED = "string collate "
_PLAIN_COLLATION = " collate UTF8_BINARY"
"""Spark's text for the default collation, which compares strings byte by byte."""

_YEAR_MONTH = ("interval year", "interval month")
_UNIT = "(?:year|month|day|hour|minute|second)"
_WITH_PARAMETERS = re.compile(
    r"decimal\(\d+,-?\d+\)|(?:var)?char\(\d+\)|time\(\d+\)|string collate \w+"
    rf"|interval {_UNIT}(?: to {_UNIT})?",
    re.ASCII,
)
"""Types whose text is the same in Spark's JSON and in a table's schema."""

_PLAIN = ("boolean", "byte", "short", "long", "float", "double", "string", "binary", "date",
          "timestamp", "timestamp_ntz", "variant", "void")  # fmt: skip
_FROM_JSON = {**{name: name for name in _PLAIN}, "integer": "int"}


def max_time_digits(spark_version: str) -> int:
    """Return the most fractional digits of a `time` in a Spark version such as `4.3.0`."""
    return 9 if tuple(map(int, re.findall(r"\d+", spark_version)[:2])) >= (4, 3) else 6


def from_json(schema: Mapping[str, Any]) -> TableSchema:
    """Convert Spark's JSON of a schema to a table schema, without column ids.

    Raises InvalidInputError that names the column and type that cannot be stored.
    """
    return TableSchema(fields=_fields_from_json(schema["fields"], ""))


def to_json(schema: TableSchema) -> dict[str, Any]:
    """Convert a table schema to Spark's JSON; the metadata hold comments and declared lengths."""
    return _struct_to_json(schema.fields, declared=False)


def declared_json(schema: TableSchema) -> str:
    """Convert a table schema to Spark's JSON as text, with char and varchar as declared types."""
    return json.dumps(_struct_to_json(schema.fields, declared=True))


def same_type(left: DataType, right: DataType) -> bool:
    """Whether two types are the same to Spark, ignoring the case of names and nullability.

    Types char and varchar count as strings, since Spark's rows have only strings.
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
    """Whether values of the type `left` can be stored as values of the type `right`.

    Lengths and collations of strings, fields of intervals and digits of times are ignored here:
    each value is checked when it is written. Nested fields are matched by name in any order.
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


def refuse_uncarried(schema: TableSchema, spark_version: str, advice: str) -> None:
    """Refuse types that tables hold but the Python data sources of a Spark version cannot carry.

    Raises InvalidInputError that names column and type; `advice` says what to do.
    """
    for column, text in _primitives(schema):
        if text.startswith(_YEAR_MONTH):
            reason = "Spark's Python data sources cannot carry year-month intervals"
            _refuse_column(column, reason, advice)
    refuse_fine_times(schema, spark_version, advice)


def refuse_fine_times(
    schema: TableSchema,
    spark_version: str,
    advice: str = "read it through Arrow with colonnade.open(path)",
) -> None:
    """Raise InvalidInputError for times with more digits than a Spark version supports."""
    most = max_time_digits(spark_version)
    for column, text in _primitives(schema):
        if (match := _TIME.fullmatch(text)) and int(match[1]) > most:
            reason = f"Spark {spark_version} supports times of at most {most} digits"
            _refuse_column(column, reason, advice)


def _primitives(schema: TableSchema) -> Iterator[tuple[SchemaField, str]]:
    """Yield each primitive type of a schema, with its column."""
    for column in schema.fields:
        for field in walk([column]):
            if isinstance(field.type, str):
                yield column, field.type


def _refuse_column(column: SchemaField, reason: str, advice: str) -> NoReturn:
    raise InvalidInputError(
        f"Column {column.name!r} has the type {type_text(column.type)}, and {reason}; {advice}."
    )


def refuse_type(path: str, shown: str) -> NoReturn:
    """Raise InvalidInputError for a column whose Spark type cannot be stored."""
    raise InvalidInputError(
        f"Column {path!r} has the Spark type {shown}, which Colonnade cannot store;"
        " leave it out or cast it to another type."
    )


def user_defined(name: str) -> str:
    """Return the name of a user-defined type for error messages."""
    return f"{name.rpartition('.')[2]} (user-defined)"


def _fields_from_json(fields: list[Mapping[str, Any]], above: str) -> tuple[SchemaField, ...]:
    return tuple(_field_from_json(field, f"{above}{field['name']}") for field in fields)


def _field_from_json(field: Mapping[str, Any], path: str) -> SchemaField:
    metadata = field.get("metadata") or {}
    name: str = field["name"]
    collations = {
        path + place.removeprefix(name): collation.partition(".")[2]
        for place, collation in metadata.get(_COLLATIONS_KEY, {}).items()
    }
    data_type = _type_from_json(field["type"], path, collations)
    declared = metadata.get(CHAR_KEY)
    if data_type == "string" and isinstance(declared, str) and _CHAR.fullmatch(declared):
        data_type = declared
    comment = metadata.get(_COMMENT_KEY)
    return SchemaField(
        name=name,
        type=data_type,
        nullable=field.get("nullable", True),
        comment=comment if isinstance(comment, str) else None,
        metadata=_metadata_text(metadata, path),
    )


def _of_user(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metadata without Spark's own keys, which do not apply to a stored column."""
    return {
        key: value
        for key, value in metadata.items()
        if not key.startswith("__") and key not in _SPARKS_OWN_KEYS
    }


def _is_held_by_spark(value: Any) -> bool:
    """Whether Spark's metadata can hold a value; its lists have one type, without lists or NULL.

    Other writers may have stored any JSON, and Spark could not load a table with such a value.
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


def _metadata_text(metadata: Mapping[str, Any], path: str) -> str | None:
    """Return the user's metadata of a field as the log stores it; None if there is none."""
    if not (kept := _of_user(metadata)):
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


def _type_from_json(value: Any, path: str, collations: Mapping[str, str]) -> DataType:
    match value:
        case {"type": "array"}:
            return ArrayType(
                element=SchemaField(
                    name="element",
                    type=_type_from_json(value["elementType"], f"{path}.element", collations),
                    nullable=value["containsNull"],
                )
            )
        case {"type": "map"}:
            return MapType(
                key=SchemaField(
                    name="key",
                    type=_type_from_json(value["keyType"], f"{path}.key", collations),
                    nullable=False,
                ),
                value=SchemaField(
                    name="value",
                    type=_type_from_json(value["valueType"], f"{path}.value", collations),
                    nullable=value["valueContainsNull"],
                ),
            )
        case {"type": "struct"}:
            return StructType(fields=_fields_from_json(value["fields"], f"{path}."))
        case {"type": "udt"}:
            refuse_type(path, user_defined(value.get("pyClass") or value["class"]))
    if (collation := collations.get(path)) is not None:
        value = f"{value} collate {collation}"
    text = str(value).removesuffix(_PLAIN_COLLATION)
    if text in _FROM_JSON:
        return _FROM_JSON[text]
    if _WITH_PARAMETERS.fullmatch(text) is None:
        refuse_type(path, text)
    return text


def _struct_to_json(fields: tuple[SchemaField, ...], declared: bool) -> dict[str, Any]:
    return {"type": "struct", "fields": [_field_to_json(field, declared) for field in fields]}


def _field_to_json(field: SchemaField, declared: bool) -> dict[str, Any]:
    told = _of_user(json.loads(field.metadata)) if field.metadata else {}
    metadata = {key: value for key, value in told.items() if _is_held_by_spark(value)}
    if field.comment is not None:
        metadata[_COMMENT_KEY] = field.comment
    if collations := dict(_collations(field.type, field.name)):
        metadata[_COLLATIONS_KEY] = collations
    data_type = _type_to_json(field.type, declared)
    if isinstance(field.type, str) and _CHAR.fullmatch(field.type) and not declared:
        metadata[CHAR_KEY] = field.type
    return {
        "name": field.name,
        "type": data_type,
        "nullable": field.nullable,
        "metadata": metadata,
    }


def _collations(data_type: DataType, place: str) -> Iterator[tuple[str, str]]:
    """Yield each string with a collation, except strings in structs, whose fields hold it."""
    match data_type:
        case ArrayType(element=element):
            yield from _collations(element.type, f"{place}.element")
        case MapType(key=key, value=value):
            yield from _collations(key.type, f"{place}.key")
            yield from _collations(value.type, f"{place}.value")
        case str() as text if text.startswith(_COLLATED):
            name = text.removeprefix(_COLLATED)
            yield place, f"{'spark' if name.startswith('UTF8') else 'icu'}.{name}"


def _type_to_json(data_type: DataType, declared: bool) -> Any:
    match data_type:
        case ArrayType(element=element):
            return {
                "type": "array",
                "elementType": _type_to_json(element.type, declared),
                "containsNull": element.nullable,
            }
        case MapType(key=key, value=value):
            return {
                "type": "map",
                "keyType": _type_to_json(key.type, declared),
                "valueType": _type_to_json(value.type, declared),
                "valueContainsNull": value.nullable,
            }
        case StructType(fields=fields):
            return _struct_to_json(fields, declared)
        case "int":
            return "integer"
        case str() as text:
            is_text = text.startswith(_COLLATED) or (_CHAR.fullmatch(text) and not declared)
            return "string" if is_text else text
