"""Columns of the DataFrame API as SQL text, so that one statement serves classic Spark and Connect.

Commands that change rows exist as SQL only. What has no text, such as a Python function, is
refused: register it and call it by name.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyspark.sql import Column, SparkSession
from pyspark.sql.types import DataType

from colonnade.manifests.errors import InvalidInputError
from colonnade.spark_ext.session import is_connect

_RAW_TEXTS = "spark.sql.parser.escapedStringLiterals"
"""With this a backslash in SQL is one, and Spark's own text of an expression means another."""


class SqlWriter:
    """Writes the expressions of one statement. `arguments` are for the markers in its text."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self.arguments: dict[str, Column] = {}

    def write(self, value: str | Column, what: str) -> str:
        """An expression in parentheses; text stands as it is.

        `what` names it in errors. Raises InvalidInputError for another type, or what has no text.
        """
        if isinstance(value, str):
            # The line's end ends a comment, too.
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
        text = str(expression.sql())
        # In the hour that summer time repeats one text means two times.
        times = {(node.sql(), node.value()) for node in _nodes(expression) if _is_time(node)}
        if len({time for time, _ in times}) < len(times):
            raise _no_text(value)
        for time, micros in times:
            text = text.replace(time, f"timestamp_micros({micros}L)")
        # Spark puts settings in the place of ${…}, also within texts.
        text = text.replace("${", "\\u0024{")
        if "\\" in text and self._spark.conf.get(_RAW_TEXTS) == "true":
            raise _no_text(value)
        return f"({text})"

    def _tree(self, node: Any, whole: Column) -> str:
        """The same of a tree of Spark Connect's client, whose values become arguments."""
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
                name = node._name.replace("`", "``")
                return f"`{name}`({', '.join(self._tree(arg, whole) for arg in node._args)})"
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


def _nodes(expression: Any) -> Iterator[Any]:
    """An expression of the JVM and all below it."""
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
    """Whether it is a function or query that its text only names, or what SQL has no text for."""
    kind = _kind(expression)
    return "UDF" in kind or "Subquery" in kind or kind in ("LambdaFunction", "UpdateFields")


def quoted(name: str) -> str:
    """A name as an identifier of SQL."""
    return f"`{name.replace('`', '``')}`"


def _no_text(column: Column) -> InvalidInputError:
    return InvalidInputError(
        f"{column} cannot be said in a statement that changes rows; say it in SQL, with functions"
        " by their registered names."
    )
