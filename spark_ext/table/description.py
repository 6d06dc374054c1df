"""The description of a new table in a Spark session, by methods with the names of Delta's builder.

It is carried out without Spark by `ArrowTable.create`, or as a statement of SQL (`statement`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from pyspark.sql import types as spark

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.schema import IdentityColumn, TableSchema
from colonnade.manifests.store import StorePath
from colonnade.spark_ext.pyspark_types import from_spark
from colonnade.spark_ext.table.column_sql import literal, quoted, unreplaced

_Described = TypeVar("_Described", bound="TableDescription")


class TableDescription:
    """Describes a new table; nothing is written before it is carried out. Methods can be chained.

    Each method raises InvalidInputError for an argument of a wrong type.
    """

    def __init__(self) -> None:
        self._path: StorePath | None = None
        self._name: str | None = None
        self._fields: list[spark.StructField] = []
        self._sort_key: tuple[str, ...] = ()
        self._partition_by: tuple[str, ...] = ()
        self._primary_key: tuple[str, ...] = ()
        self._static: tuple[str, ...] = ()
        self._partition_key: tuple[str, ...] = ()
        self._properties: dict[str, str] = {}
        self._comment: str | None = None
        self._constraints: dict[str, str] = {}
        self._generated: dict[str, str] = {}
        self._identity: dict[str, IdentityColumn] = {}

    def location(self: _Described, location: str) -> _Described:
        """Set the path of the table: a new path, or `<database>/<name>`."""
        self._path = _text(location, "The location of a table")
        return self

    def tableName(self: _Described, identifier: str) -> _Described:
        """Set the name of the table in the session, such as `colonnade.db.t`.

        It then is created by a statement of SQL, which needs the jar. With a `location` besides, it
        is a table of Spark's own catalog.
        """
        self._name = _text(identifier, "The name of a table")
        return self

    def comment(self: _Described, comment: str) -> _Described:
        """Set the comment of the table."""
        self._comment = _text(comment, "The comment of a table")
        return self

    def addColumn(
        self: _Described,
        colName: str,
        dataType: str | spark.DataType,
        nullable: bool = True,
        comment: str | None = None,
        *,
        generatedAlwaysAs: str | IdentityColumn | None = None,
        generatedByDefaultAs: IdentityColumn | None = None,
    ) -> _Described:
        """Add a column; the type is a Spark type or its text, such as `decimal(12,2)`.

        `generatedAlwaysAs` is an expression over other columns, as SQL text, or an IdentityColumn
        whose values the table gives. With `generatedByDefaultAs`, users may also give values of an
        identity column. Expressions mean the session's time zone. Raises InvalidInputError that
        names the column for another argument.
        """
        name = _text(colName, "The name of a column")
        if not isinstance(nullable, bool):
            raise InvalidInputError(f"Column {name!r} is nullable or not, not {nullable!r:.100}.")
        if not isinstance(dataType, str | spark.DataType):
            raise InvalidInputError(
                f"The type of column {name!r} must be text or a type of Spark, not"
                f" {dataType!r:.100}."
            )
        self._generate(name, generatedAlwaysAs, generatedByDefaultAs)
        data_type = spark.DataType.fromDDL(dataType) if isinstance(dataType, str) else dataType
        about = f"The comment of column {name!r}"
        metadata = {} if comment is None else {"comment": _text(comment, about)}
        self._fields.append(spark.StructField(name, data_type, nullable, metadata))
        return self

    def _generate(self, column: str, always: object, by_default: object) -> None:
        """Record how a column is generated, if it is."""
        if always is not None and by_default is not None:
            raise InvalidInputError(
                f"Column {column!r} cannot be generated both ALWAYS and BY DEFAULT; choose one."
            )
        stated = by_default if always is None else always
        if isinstance(stated, IdentityColumn):
            spec = stated.model_copy(update={"always": by_default is None})
            self._identity[column] = spec
        elif isinstance(stated, str) and by_default is None:
            self._generated[column] = stated
        elif stated is not None:
            wanted = "an IdentityColumn" if always is None else "SQL text or an IdentityColumn"
            raise InvalidInputError(
                f"Column {column!r} can be generated as {wanted}, not as {stated!r:.100}."
            )

    def addColumns(
        self: _Described, cols: spark.StructType | list[spark.StructField]
    ) -> _Described:
        """Add the columns of a Spark schema, with their comments and NOT NULL."""
        fields = cols.fields if isinstance(cols, spark.StructType) else cols
        if not isinstance(fields, Sequence):
            raise InvalidInputError(f"Columns are a schema of Spark, not {cols!r:.100}.")
        for field in fields:
            if not isinstance(field, spark.StructField):
                raise InvalidInputError(f"A column must be a StructField, not {field!r:.100}.")
        self._fields += fields
        return self

    def clusterBy(self: _Described, *colNames: str | Sequence[str]) -> _Described:
        """Set the sort key: the rows of each task are stored in this order; `"a desc"` descends."""
        self._sort_key = _texts(colNames, "A column of the sort key")
        return self

    def primaryKey(self: _Described, *colNames: str | Sequence[str]) -> _Described:
        """Set the primary key: no two rows have the same values in these columns.

        They become NOT NULL. The table is sorted by them unless `clusterBy` says otherwise.
        """
        self._primary_key = _texts(colNames, "A column of the primary key")
        return self

    def static(self: _Described, *colNames: str | Sequence[str]) -> _Described:
        """Make columns static: each has one value for all rows of a partition key.

        They are nullable, and neither in a key nor in the partitioning.
        """
        self._static = _texts(colNames, "A static column")
        return self

    def partitionKey(self: _Described, *colNames: str | Sequence[str]) -> _Described:
        """Set the columns that static values belong to; they become NOT NULL.

        Without this, it is the first column of the primary key.
        """
        self._partition_key = _texts(colNames, "A column of the partition key")
        return self

    def partitionedBy(self: _Described, *cols: str | Sequence[str]) -> _Described:
        """Partition rows by columns, or by transforms such as `days(ts)` or `bucket(16, id)`."""
        self._partition_by = _texts(cols, "A column of the partitioning")
        return self

    def property(self: _Described, key: str, value: str) -> _Described:
        """Set a property of the table."""
        name = _text(key, "The name of a property")
        self._properties[name] = _text(value, f"The value of property {name!r}")
        return self

    def addConstraint(self: _Described, name: str, condition: str) -> _Described:
        """Add `CHECK (condition)`, which no row may make false, such as `"price > 0"`."""
        about = _text(name, "The name of a constraint")
        self._constraints[about] = _text(condition, f"The condition of constraint {about!r}")
        return self

    def _schema(self) -> TableSchema:
        """Return the columns. Raises InvalidInputError for one that cannot be stored."""
        return from_spark(spark.StructType(self._fields))

    def _statement(self, verb: str, name: str, location: str | None) -> str:
        """Write the statement that creates the table, such as `verb` CREATE TABLE.

        Raises InvalidInputError for columns that SQL cannot write, such as an array whose elements
        are NOT NULL.
        """
        columns = [_column(field) for field in self._fields]
        _check_written(self._schema(), columns)
        parts = [
            *(
                ddl + self._generation(at.name)
                for ddl, at in zip(columns, self._fields, strict=True)
            ),
            *(f"CONSTRAINT {quoted(n)} CHECK ({sql}\n)" for n, sql in self._constraints.items()),
        ]
        text = f"{verb} {name} ({', '.join(parts)}) USING colonnade"
        if self._partition_by:
            text += f" PARTITIONED BY ({', '.join(map(self._field, self._partition_by))})"
        if location is not None:
            text += f" LOCATION {literal(location)}"
        if self._comment is not None:
            text += f" COMMENT {literal(self._comment)}"
        stated = {**self._keys(), **self._properties}.items()
        pairs = ", ".join(f"{literal(key)} = {literal(value)}" for key, value in stated)
        return f"{text} TBLPROPERTIES ({pairs})" if pairs else text

    def _generation(self, column: str) -> str:
        if column in self._generated:
            return f" GENERATED ALWAYS AS ({self._generated[column]}\n)"
        if column not in self._identity:
            return ""
        spec = self._identity[column]
        kind = "ALWAYS" if spec.always else "BY DEFAULT"
        steps = f"START WITH {spec.start} INCREMENT BY {spec.step}"
        return f" GENERATED {kind} AS IDENTITY ({steps})"

    def _keys(self) -> dict[str, str]:
        """Return the keys as the properties that state them in SQL."""
        given = {
            "sortKey": map(self._ordered, self._sort_key),
            "primaryKey": map(quoted, self._primary_key),
            "static": map(quoted, self._static),
            "partitionKey": map(quoted, self._partition_key),
        }
        texts = {name: ", ".join(columns) for name, columns in given.items()}
        keys = {name: text for name, text in texts.items() if text}
        for name in keys.keys() & self._properties.keys():
            raise InvalidInputError(
                f"Property {name!r} is stated by a method, too; leave one of them out."
            )
        return keys

    def _ordered(self, text: str) -> str:
        """Write a column of the sort key, which is perhaps followed by its direction."""
        name, _, direction = text.rstrip().rpartition(" ")
        if self._has(text) or direction.casefold() not in ("asc", "desc"):
            return quoted(text)
        return f"{quoted(name)} {direction}"

    def _field(self, text: str) -> str:
        """Write a field of the partitioning; a transform is SQL as it is."""
        return quoted(text) if self._has(text) or "(" not in text else text

    def _has(self, column: str) -> bool:
        return any(field.name == column for field in self._fields)


def _text(given: Any, what: str) -> str:
    if not isinstance(given, str):
        raise InvalidInputError(f"{what} must be text, not {given!r:.100}.")
    return given


def _texts(given: tuple[Any, ...], what: str) -> tuple[str, ...]:
    """Return texts that are given one by one, or as one list."""
    each = given[0] if len(given) == 1 and isinstance(given[0], list | tuple) else given
    return tuple(_text(text, what) for text in each)


def _column(field: spark.StructField) -> str:
    """Write a column with its NOT NULL and comment."""
    # Spark 4.1 does not escape a backslash in a comment.
    others = {key: value for key, value in field.metadata.items() if key != "comment"}
    bare = spark.StructField(field.name, field.dataType, field.nullable, others)
    sql = unreplaced(spark.StructType([bare]).toDDL())
    comment = field.metadata.get("comment")
    return sql if comment is None else f"{sql} COMMENT {literal(comment)}"


def _check_written(schema: TableSchema, columns: Sequence[str]) -> None:
    """Raise InvalidInputError for a column that would change on its way through SQL."""
    for field, ddl in zip(schema.fields, columns, strict=True):
        read = spark.DataType.fromDDL(ddl)
        assert isinstance(read, spark.StructType)
        if from_spark(read).fields != (field,):
            raise InvalidInputError(
                f"SQL cannot say all about column {field.name!r}, such as its metadata or what is"
                " NOT NULL inside it; create the table by its location alone."
            )
