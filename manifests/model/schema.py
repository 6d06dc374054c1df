"""Table schemas as the log stores them: types, fields, and the column ids that files use.

A primitive type is written as Spark writes it (`"long"`, `"decimal(12,2)"`). A nested type is an
object tagged by `type`. Every field, nested ones included, has an id that its table gives only
once. Files know columns by id, and names are stored only here. This module does not know Arrow or
Spark: `colonnade.tableformat.types.arrow_types` and `colonnade.spark_ext.types` translate.
Spec: docs/spec/types.md
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, Literal

import orjson
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from colonnade.manifests.errors import InvalidInputError, NotFoundError
from colonnade.manifests.model.column_names import unquoted
from colonnade.manifests.model.type_words import PYTHON_TYPES, stated_type
from colonnade.manifests.once import once
from colonnade.manifests.public import public

INTEGERS = ("byte", "short", "int", "long")
"""The types of integers, the narrowest first."""

_PLAIN = frozenset(
    (
        *INTEGERS,
        *("boolean", "float", "double", "string", "binary"),
        *("date", "timestamp", "timestamp_ntz", "variant", "void"),
    )
)
_PARAMETRIC = re.compile(
    r"decimal\((?P<precision>\d{1,2}),(?P<scale>\d{1,2})\)"
    r"|time\([0-9]\)"
    r"|(?:char|varchar)\([1-9]\d{0,9}\)"
    r"|string collate [A-Za-z][A-Za-z0-9_]*"
    r"|interval (?:year|month|year to month)"
    r"|interval (?:day|hour|minute|second|day to hour|day to minute|day to second"
    r"|hour to minute|hour to second|minute to second)",
    re.ASCII,
)


def _check_primitive(name: str) -> str:
    if name in _PLAIN:
        return name
    if not _PARAMETRIC.fullmatch(name):
        raise ValueError(
            f"{name!r} is not a type that Colonnade stores; types are written like long, string"
            " or decimal(9,2)"
        )
    precision, scale = decimal_digits(name) or (1, 0)
    if not (1 <= precision <= 38 and scale <= precision):
        raise ValueError(f"{name!r} must have 1 to 38 digits, and a scale of at most its digits")
    return name


@cache
def is_primitive(name: str) -> bool:
    """Return whether a text names a primitive type that this code knows."""
    try:
        return bool(_check_primitive(name))
    except ValueError:
        return False


def decimal_digits(type_name: str) -> tuple[int, int] | None:
    """Return precision and scale of a decimal type; None for any other type."""
    match = _PARAMETRIC.fullmatch(type_name)
    if match is None or match["precision"] is None:
        return None
    return int(match["precision"]), int(match["scale"])


_SHOWN = 20
"""The most columns that an error lists."""


def _check_metadata(text: str) -> str:
    orjson.loads(text)  # raises for text that is not JSON
    if not text.lstrip().startswith("{"):
        raise ValueError(
            f"metadata must be the text of a JSON object, such as {{}}, not {text!r:.100}"
        )
    return text


if TYPE_CHECKING:
    _OwnNames = BaseModel  # so that type checkers know the fields of models
else:
    _OF_PYDANTIC = frozenset(name for name in dir(BaseModel) if not name.startswith("_"))

    class _Kind(type(BaseModel)):
        def __dir__(cls) -> list[str]:
            return [name for name in super().__dir__() if name not in _OF_PYDANTIC]

    class _OwnNames(BaseModel, metaclass=_Kind):
        """A model whose completion shows what it is, and not how pydantic makes it."""

        def __dir__(self) -> list[str]:
            return [name for name in super().__dir__() if name not in _OF_PYDANTIC]


CLOSED = ConfigDict(extra="forbid", strict=True)
"""For plain values with a JSON form: a reader refuses keys and types that it does not know."""


class Model(_OwnNames):
    """Base of everything that the log stores: frozen, strict, and closed to unknown keys."""

    model_config = ConfigDict(**CLOSED, frozen=True, defer_build=True, ignored_types=(once,))


class InputModel(Model):
    """Base of stored values that users also make. An invalid call raises InvalidInputError.

    A call may give a list where the value has a tuple.
    Reading an invalid value from bytes raises pydantic's ValidationError, like every other model.
    """

    if not TYPE_CHECKING:

        def __init__(self, **values: Any) -> None:
            given = {
                name: tuple(value) if isinstance(value, list) else value
                for name, value in values.items()
            }
            try:
                super().__init__(**given)
            except ValidationError as error:
                raise InvalidInputError(_sentence(type(self), values, error)) from error

        # This makes pydantic validate bytes without calling this method.
        __init__.__pydantic_base_init__ = True


def _sentence(model: type[Model], values: dict[str, Any], error: ValidationError) -> str:
    """Return the first complaint of pydantic about a call as one sentence."""
    first = error.errors(include_url=False)[0]
    what = f"{model.__name__} {values['name']!r}" if "name" in values else model.__name__
    cause = first.get("ctx", {}).get("error")
    argument, first_message = (first["loc"] or ("the call",))[0], first["msg"]
    if cause is None and argument == "type":
        cause = (
            "its type must be text such as 'long' or 'decimal(9,2)', an ArrayType, a MapType or a"
            f" StructType, not {values.get('type')!r:.100}"
        )
    reason = str(cause or f"{argument}: {first_message}").rstrip(".")
    return f"{what} cannot be made: {reason}."


_STATED = "|".join((*sorted(_PLAIN), re.sub(r"\?P<\w+>", "", _PARAMETRIC.pattern)))

PrimitiveType = Annotated[
    str,
    AfterValidator(_check_primitive),
    Field(json_schema_extra={"pattern": f"^(?:{_STATED})$"}),  # for docs/spec/schema.json
]


class ArrayType(InputModel):
    """A list of elements of one type."""

    type: Literal["array"] = "array"
    element: SchemaField


class MapType(InputModel):
    """A map of keys, which are never NULL, to values."""

    type: Literal["map"] = "map"
    key: SchemaField
    value: SchemaField


class StructType(InputModel):
    """A struct of named fields."""

    type: Literal["struct"] = "struct"
    fields: tuple[SchemaField, ...]


DataType = PrimitiveType | Annotated[ArrayType | MapType | StructType, Field(discriminator="type")]


@public
class ColumnDefault(Model):
    """What a written row gets in a column that it does not give a value.

    `sql` is the text of the expression in Spark SQL. `value` is its value (`columns/default.py`),
    and is absent where each statement evaluates the expression anew, such as `current_date()`.
    """

    sql: Annotated[str, Field(min_length=1)]
    value: str | None = None


LongNumber = Annotated[int, Field(ge=-(2**63), le=2**63 - 1)]


@public
class IdentityColumn(InputModel):
    """A column whose values the table gives: `start`, and then `step` more for each value.

    With `always`, users cannot give values themselves (`columns/identity.py`).
    """

    start: LongNumber = 1
    step: LongNumber = 1
    always: bool = True


@public
class NameReference(Model):
    """Where SQL text names a column or a field: in code points, from the start of the text."""

    offset: Annotated[int, Field(ge=0, le=65_535)]
    length: Annotated[int, Field(ge=1, le=65_536)]
    field: Annotated[int, Field(ge=1, le=2_147_483_647)]


def _check_references(references: tuple[NameReference, ...]) -> tuple[NameReference, ...]:
    if any(one.offset + one.length > other.offset for one, other in pairwise(references)):
        raise ValueError("references ascend and do not overlap")
    return references


NameReferences = Annotated[tuple[NameReference, ...], AfterValidator(_check_references)]


@public
class Generation(Model):
    """How a generated column follows from other columns of its row.

    `sql` is an expression in Spark SQL as it was stated. It reads the columns with the ids
    `columns`, and names them at `references` (`columns/stated_sql.py`); without any, its columns
    keep their names. Every session evaluates it in ANSI mode and in the time zone `time_zone`.
    """

    sql: Annotated[str, Field(min_length=1, max_length=65_536)]
    columns: tuple[Annotated[int, Field(ge=1, le=2_147_483_647)], ...]
    references: NameReferences = ()
    time_zone: Annotated[str, Field(min_length=1, max_length=255)]


@public
class SchemaField(InputModel):
    """One column, or one nested field of a column.

    `id` is 0 until the table gives the field an id. Elements, keys and values of nested types are
    fields too, named `element`, `key` and `value`. `metadata` is a JSON object, as text, that users
    attach to the field. Colonnade keeps it and gives it no meaning.
    `initial` is the value of the rows that were written before the column existed, as
    `columns/default.py` writes it; absent means NULL. `default` is for rows that are written later.
    In a column with an `identity`, the table gives rows their values.
    A column with `generated` is computed from other columns.
    A `static` column has one value for all rows of a partition key (`columns/statics.py`).

    A call may name the type by any name that SQL has for it, also of a nested type, such as
    `"BIGINT"` or `"array<int>"`, or by a type of Python, such as `int` (`type_words.py`).
    """

    if not TYPE_CHECKING:

        def __init__(self, **values: Any) -> None:
            given = values.get("type")
            if isinstance(given, type):
                values["type"] = PYTHON_TYPES.get(given, given)
            elif isinstance(given, str) and not is_primitive(given):
                try:
                    values["type"] = stated_type(given)
                except ValueError as error:
                    raise InvalidInputError(
                        f"SchemaField {values.get('name')!r} cannot be made: {error}."
                    ) from error
            super().__init__(**values)

        __init__.__pydantic_base_init__ = True

    id: Annotated[int, Field(ge=0, le=2_147_483_647)] = 0
    name: str
    type: DataType
    nullable: bool = True
    comment: str | None = None
    metadata: Annotated[str, AfterValidator(_check_metadata)] | None = None
    initial: str | None = None
    default: ColumnDefault | None = None
    identity: IdentityColumn | None = None
    generated: Generation | None = None
    static: Literal[True] | None = None

    @property
    def may_be_absent(self) -> bool:
        """Whether a RowSet may lack the column: its rows then have the initial value, or NULL."""
        return self.generated is None and (self.nullable or self.initial is not None)

    @property
    def may_be_left_out(self) -> bool:
        """Whether rows to write may lack the column: they get a default, next value, or NULL."""
        return self.nullable or self.default is not None or self.identity is not None

    def children(self) -> tuple[SchemaField, ...]:
        """Return the nested fields, in order; empty for a primitive type."""
        match self.type:
            case ArrayType(element=element):
                return (element,)
            case MapType(key=key, value=value):
                return (key, value)
            case StructType(fields=fields):
                return fields
            case _:
                return ()

    def with_children(self, children: Iterable[SchemaField]) -> SchemaField:
        """Return the field with other nested fields, given in the order of `children()`."""
        nested = tuple(children)
        match self.type:
            case ArrayType():
                new: DataType = ArrayType(element=nested[0])
            case MapType():
                new = MapType(key=nested[0], value=nested[1])
            case StructType():
                new = StructType(fields=nested)
            case _:
                return self
        return self.model_copy(update={"type": new})


SchemaField.model_rebuild()  # Otherwise each type below would build it again.
for _nested in (ArrayType, MapType, StructType):
    _nested.model_rebuild()  # finds SchemaField, which was not there above
    public(_nested)


@public
class TableSchema(InputModel):
    """The columns of a table, in order."""

    fields: tuple[SchemaField, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The column names, in order."""
        return tuple(field.name for field in self.fields)

    def field(self, name: str) -> SchemaField:
        """Find a column by its exact name, or else without regard to case.

        Raises NotFoundError, which lists the first columns.
        """
        folded = name.casefold()
        found = next((f for f in self.fields if f.name == name), None) or next(
            (f for f in self.fields if f.name.casefold() == folded), None
        )
        if found is None:
            known, more = ", ".join(self.names[:_SHOWN]), len(self.names) - _SHOWN
            others = f" and {more} more" if more > 0 else ""
            raise NotFoundError(f"Column {name!r} does not exist; the columns are {known}{others}.")
        return found

    def named(self, text: str) -> SchemaField:
        """Find a column that a text names: exactly, or within blanks and backquotes.

        Raises NotFoundError, as `field`.
        """
        return self.field(text if text in self.names else unquoted(text))

    def by_id(self, column_id: int) -> SchemaField:
        """Find a top-level column by id. Raises NotFoundError."""
        for field in self.fields:
            if field.id == column_id:
                return field
        raise NotFoundError(f"No column has the id {column_id}.")

    def select(self, names: Iterable[str]) -> TableSchema:
        """Return the named columns, in the given order. Raises NotFoundError for unknown ones."""
        exact = {field.name: field for field in self.fields}
        return TableSchema(fields=tuple(exact.get(name) or self.field(name) for name in names))


def walk(fields: Iterable[SchemaField]) -> Iterator[SchemaField]:
    """Yield every field, nested ones included, parents before children."""
    for field in fields:
        yield field
        yield from walk(field.children())


def type_text(data_type: DataType) -> str:
    """Return a type as SQL writes it, for messages."""
    match data_type:
        case ArrayType(element=element):
            return f"array<{type_text(element.type)}>"
        case MapType(key=key, value=value):
            return f"map<{type_text(key.type)},{type_text(value.type)}>"
        case StructType(fields=fields):
            return f"struct<{','.join(f'{f.name}:{type_text(f.type)}' for f in fields)}>"
        case str() as text:
            return text


def without_metadata(schema: TableSchema) -> TableSchema:
    """Return the same columns without their metadata, which has no meaning for a scan."""

    def bare(field: SchemaField) -> SchemaField:
        nested = field.with_children(map(bare, field.children()))
        return nested.model_copy(update={"metadata": None})

    if all(field.metadata is None for field in walk(schema.fields)):
        return schema
    return TableSchema(fields=tuple(map(bare, schema.fields)))


def assign_ids(schema: TableSchema, next_id: int) -> tuple[TableSchema, int]:
    """Give every field the next free id, parents before children, top-level columns first.

    No rows exist that lack a column of such a schema, so it has no initial value.
    A generated column names columns by id, so it is generated no more.
    Returns the schema with ids, and the next free id.
    """

    def number(fields: tuple[SchemaField, ...]) -> tuple[SchemaField, ...]:
        nonlocal next_id
        own = []
        for field in fields:
            fresh = {"id": next_id, "initial": None, "generated": None}
            own.append(field.model_copy(update=fresh))
            next_id += 1
        return tuple(f.with_children(number(f.children())) for f in own)

    return TableSchema(fields=number(schema.fields)), next_id
