"""A value that a user states for a column, as an exact value of the column. Pure.

An update sets it in existing rows, and a default gives it to new rows.
Grammar: docs/predicates.md#values
"""

from __future__ import annotations

import reprlib
from collections.abc import Mapping

import pyarrow as pa

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.columns.void import VOID
from colonnade.manifests.model.schema import ArrayType, MapType, SchemaField, StructType
from colonnade.tableformat.predicate.literals import Kind, Literal, make_literal, require_zone
from colonnade.tableformat.predicate.storage import Domain, domain_of, fits, locate, read_text
from colonnade.tableformat.types.arrow_types import arrow_type, base_type, type_name
from colonnade.tableformat.types.conversion import match_fields
from colonnade.tableformat.types.decimals import from_unscaled


def constant_value(value: object, field: SchemaField) -> pa.Scalar:
    """Return a Python value, or a literal, in the Arrow type of a column.

    Raises InvalidInputError that names the column for a value that it cannot hold.
    """
    if isinstance(value, list | dict | tuple):
        return _nested(value, field)
    return _primitive(make_literal(value), field)


def _nested(value: object, field: SchemaField) -> pa.Scalar:
    try:
        return pa.scalar(_fitted(value, field, field.name), arrow_type(field))
    except InvalidInputError:
        raise
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise _misfit(field, reprlib.repr(value)) from error


def _fitted(value: object, field: SchemaField, where: str) -> object:
    """Return a Python value whose dicts have exactly the fields of their structs.

    Arrow would drop unknown fields, and treat missing ones as NULL. Raises InvalidInputError that
    names the struct, and TypeError for another kind of value.
    """
    match field.type, value:
        case _, None:
            return None
        case StructType(fields=fields), Mapping():
            names = list(value)
            order = match_fields(names, [each.name for each in fields], f"Column {where!r}")
            return {
                each.name: _fitted(value[names[index]], each, f"{where}.{each.name}")
                for index, each in zip(order, fields, strict=True)
            }
        case ArrayType(element=element), list() | tuple():
            return [_fitted(each, element, f"{where}.element") for each in value]
        case MapType() as map_type, Mapping() | list() | tuple():
            return [
                (_fitted(key, map_type.key, f"{where}.key"),
                 _fitted(item, map_type.value, f"{where}.value"))
                for key, item in (value.items() if isinstance(value, Mapping) else value)
            ]  # fmt: skip
        case StructType() | ArrayType() | MapType(), _:
            raise TypeError(f"{where} takes no {type(value).__name__}")
    require_zone(value, str(field.type), f"Column {where!r}")
    return value


def _primitive(literal: Literal, field: SchemaField) -> pa.Scalar:
    """Return a literal as an exact value of its column; only a `float` column rounds a number."""
    target = arrow_type(field)
    if literal.kind is Kind.NULL:
        return pa.scalar(None, target)
    text = field.type if isinstance(field.type, str) else ""
    domain = Domain("string") if base_type(text) == "string" else domain_of(text)
    require_zone(literal, text, f"Column {field.name!r}")
    literal = read_text(literal, text)
    nan = isinstance(literal.value, float) and literal.value != literal.value
    if domain is None or not fits(literal, domain) or (nan and domain.family != "float"):
        raise _misfit(field, literal)
    if domain.family == "float":
        number = pa.scalar(float(literal.value), pa.float64())  # type: ignore[arg-type]
        return number.cast(target, safe=False)
    if domain.low == domain.high:
        return pa.scalar(literal.value, target)
    low, high = locate(literal, domain)
    if low != high or not domain.low <= low <= domain.high:
        raise _misfit(field, literal)
    if pa.types.is_decimal(target):
        return pa.scalar(from_unscaled(low, target.scale), target)
    width = pa.int32() if target.bit_width == 32 else pa.int64()
    return pa.array([low], width).cast(target)[0]


def _misfit(field: SchemaField, value: object) -> InvalidInputError:
    hint = "give the column a type first" if field.type == VOID else "give a value that it can hold"
    return InvalidInputError(
        f"Column {field.name!r} is {type_name(field.type)} and cannot be set to {value!s}; {hint}."
    )
