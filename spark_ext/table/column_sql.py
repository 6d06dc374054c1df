"""Write Columns as SQL text, so that the same statement works on classic Spark and on Connect.

Spark has commands that change rows only in SQL. An expression that has no SQL text, such as a
Python function, is refused; users register the function and call it by its name.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyspark.sql import Column, SparkSession
from pyspark.sql.types import DataType

from colonnade.manifests.errors import InvalidInputError
from colonnade.spark_ext.session import is_connect

_RAW_TEXTS = "spark.sql.parser.escapedStringLiterals"
"""With this setting, backslashes in SQL are literal, though Spark's text of expressions escapes."""

_OPERATORS = {
    **{each: each for each in ("=", "<=>", "<", "<=", ">", ">=", "+", "-", "*", "/", "%")},
    "==": "=",  # the client of Connect has this name for it
    "and": "AND",
    "or": "OR",
}
"""Functions of two values that the history shows as the operators that users know."""


class SqlWriter:
    """Writes the expressions of one statement; `arguments` are the values of its markers."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self.arguments: dict[str, Column] = {}

    def write(self, value: str | Column, what: str) -> str:
        """Return an expression as SQL in parentheses; text is kept unchanged.

        `what` names the expression in errors. Raises InvalidInputError for another type, or an
        expression that has no text.
        """
        if isinstance(value, str):
            # The line feed ends a comment at the end of the text.
            return f"({value}\n)"
        if not isinstance(value, Column):
            raise InvalidInputError(f"{what} must be text or a Column, not {value!r}.")
        if is_connect(self._spark):
            return self._tree(value._expr, value)
        expression = self._spark._jsparkSession.expression(value._jc)
        if _kind(expression) == "Alias":
            expression = expression.child()
        if any(map(_has_no_text, _nodes(expression))):
            raise _no_text(value)
        text = _sql(expression)
        # In the hour that daylight saving time repeats, one text means two times.
        times = {(node.sql(), node.value()) for node in _nodes(expression) if _is_time(node)}
        if len({time for time, _ in times}) < len(times):
            raise _no_text(value)
        for time, micros in times:
            text = text.replace(time, f"timestamp_micros({micros}L)")
        text = unreplaced(text)
        if "\\" in text and self._spark.conf.get(_RAW_TEXTS) == "true":
            raise _no_text(value)
        return f"({text})"

    def _tree(self, node: Any, whole: Column) -> str:
        """Write an expression tree of the Spark Connect client; its literals become arguments."""
        match type(node).__name__:
            case "ColumnReference":
                return str(node.name())
            case "SQLExpression":
                return f"({node._expr}\n)"
            case "LiteralExpression":
                name = f"colonnade_{len(self.arguments)}"
                self.arguments[name] = type(whole)(node)
                return f":{name}"
            case "ColumnAlias":
                return self._tree(node._child, whole)
            case "CastExpression":
                return self._cast(node, whole)
            case "CaseWhen":
                return self._case(node, whole)
            case "UnresolvedFunction" | "CallFunction" if not getattr(node, "_is_distinct", False):
                return _call(node._name, [self._tree(each, whole) for each in node._args])
            case "UnresolvedExtractValue":
                return f"{self._tree(node._child, whole)}[{self._tree(node._extraction, whole)}]"
        raise _no_text(whole)

    def _cast(self, node: Any, whole: Column) -> str:
        kind = node._data_type
        text = kind.simpleString() if isinstance(kind, DataType) else kind
        function = "TRY_CAST" if node._eval_mode == "try" else "CAST"
        return f"{function}({self._tree(node._expr, whole)} AS {text})"

    def _case(self, node: Any, whole: Column) -> str:
        parts = [
            f"WHEN {self._tree(condition, whole)} THEN {self._tree(value, whole)}"
            for condition, value in node._branches
        ]
        if node._else_value is not None:
            parts.append(f"ELSE {self._tree(node._else_value, whole)}")
        return f"(CASE {' '.join(parts)} END)"


def _sql(expression: Any) -> str:
    """Write an expression of the JVM; its outer calls of operators are written as operators."""
    if _kind(expression) != "UnresolvedFunction":
        return str(expression.sql())
    name = str(expression.nameParts().mkString("."))
    children = expression.children()
    if name not in _OPERATORS or children.size() != 2:
        return str(expression.sql())
    return _call(name, [_sql(children.apply(at)) for at in range(2)])


def _call(name: str, values: list[str]) -> str:
    if name in _OPERATORS and len(values) == 2:
        return f"({values[0]} {_OPERATORS[name]} {values[1]})"
    return f"{quoted(name)}({', '.join(values)})"


def _nodes(expression: Any) -> Iterator[Any]:
    """Yield an expression of the JVM and all of its descendants."""
    yield expression
    children = expression.children()
    for index in range(children.size()):
        yield from _nodes(children.apply(index))


def _kind(expression: Any) -> str:
    return str(expression.getClass().getSimpleName())


def _is_time(expression: Any) -> bool:
    literal = _kind(expression) == "Literal" and expression.value() is not None
    return literal and expression.dataType().typeName() == "timestamp"


def _has_no_text(expression: Any) -> bool:
    """Whether SQL text cannot express this node: a UDF, a subquery or another special node."""
    kind = _kind(expression)
    return "UDF" in kind or "Subquery" in kind or kind in ("LambdaFunction", "UpdateFields")


def quoted(name: str) -> str:
    """Quote a name as an SQL identifier."""
    return f"`{name.replace('`', '``')}`"


def literal(text: str) -> str:
    """Write a text as a literal of SQL, with backslashes that escape."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return unreplaced(f"'{escaped}'")


def require_escapes(spark: SparkSession, sql: str) -> None:
    """Raise InvalidInputError if the backslashes of a statement would not escape in a session."""
    if "\\" in sql and spark.conf.get(_RAW_TEXTS) == "true":
        raise InvalidInputError(
            f"The statement has backslashes, which the setting {_RAW_TEXTS} takes literally; unset"
            f" it, or leave out quotes and backslashes: {sql:.500}"
        )


def unreplaced(sql: str) -> str:
    """Return SQL whose literals keep ${…}, which Spark otherwise replaces by settings."""
    return sql.replace("${", "\\u0024{")


def _no_text(column: Column) -> InvalidInputError:
    return InvalidInputError(
        f"{column} cannot be written in a statement that changes rows; write it in SQL, and call"
        " functions by their registered names."
    )
