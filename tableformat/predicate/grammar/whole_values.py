"""Whether SQL text reads a nested column as one value, or only fields inside it. Pure.

Callers go through `sql`, which imports this module and the SQL library when it first reads SQL.
"""

from __future__ import annotations

from sqlglot import exp

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.schema import ArrayType, MapType, SchemaField, StructType
from colonnade.tableformat.predicate.grammar.trees import column_path, parse_tree, reading

_SHAPELESS = ("size", "cardinality", "array_size")
"""The functions that look at a value and at nothing inside it, as IS NULL does."""


def read_whole(text: str, column: SchemaField) -> bool:
    """Return whether an expression may read a column as one value (see `sql.reads_whole`)."""
    try:
        with reading("expression", text):
            nodes = [each for each in parse_tree(text).find_all(exp.Column)]
            paths = [tuple(map(str.casefold, column_path(each))) for each in nodes]
    except InvalidInputError:
        return True
    name = column.name.casefold()
    found = [pair for pair in zip(nodes, paths, strict=True) if name in pair[1]]
    return not found or any(
        path[0] != name or _is_whole(node, path[1:], column) for node, path in found
    )


def _is_whole(node: exp.Expr, inside: tuple[str, ...], column: SchemaField) -> bool:
    """Return whether a nested value is read, from the node of a column outwards."""
    steps: list[str | None] = [*inside]
    while (parent := node.parent) is not None and _is_inside(parent, node):
        steps.append(parent.expression.name.casefold() if isinstance(parent, exp.Dot) else None)
        node = parent
    found = column
    for step in steps:
        child = _child(found, step)
        if child is None:
            return True
        found = child
    return not isinstance(found.type, str) and not _is_shapeless(node.parent)


def _is_inside(parent: exp.Expr, node: exp.Expr) -> bool:
    """Return whether a node is a field or an element of another one."""
    if isinstance(parent, exp.Anonymous):
        return parent.name.lower() == "element_at" and parent.expressions[0] is node
    return isinstance(parent, exp.Dot | exp.Bracket) and parent.this is node


def _is_shapeless(node: exp.Expr | None) -> bool:
    return isinstance(node, exp.Is) or (
        isinstance(node, exp.Anonymous) and node.name.lower() in _SHAPELESS
    )


def _child(field: SchemaField, name: str | None) -> SchemaField | None:
    """Return a field of a struct by its name, or without a name the element or the map value."""
    match field.type:
        case StructType(fields=fields):
            return next((each for each in fields if each.name.casefold() == name), None)
        case ArrayType(element=element) if name is None:
            return element
        case MapType(value=value) if name is None:
            return value
    return None
