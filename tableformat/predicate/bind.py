"""Resolve the columns of predicates and values in a table, and convert literals to storage values.

The result has a normal form that evaluation and pruning share (see `bound`). Columns that are
compared with literals become nodes that bounds can decide. All else becomes a value that is
computed from each row.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from colonnade.manifests.errors import InvalidInputError, NotFoundError
from colonnade.manifests.later import later
from colonnade.manifests.model.schema import SchemaField, StructType, TableSchema
from colonnade.tableformat.predicate.bind_literals import (
    bind_in,
    bind_like,
    compare_literal,
    compare_literals,
    domain_for,
)
from colonnade.tableformat.predicate.bound import (
    BoundColumn,
    BoundCompareColumns,
    BoundConstant,
    BoundIsNull,
    BoundNode,
    BoundPredicate,
    BoundStartsWith,
    BoundTruth,
    all_of,
    any_of,
    negate,
)
from colonnade.tableformat.predicate.evaluate import evaluate
from colonnade.tableformat.predicate.expressions import (
    And,
    Call,
    Column,
    Compare,
    Constant,
    In,
    IsNull,
    Like,
    Not,
    Operand,
    Operator,
    Or,
    Predicate,
    StartsWith,
)
from colonnade.tableformat.predicate.literals import Kind, Literal, make_literal
from colonnade.tableformat.predicate.values.row_value import (
    RowValue,
    column_value,
    computed,
    constant,
)

if TYPE_CHECKING:
    from colonnade.tableformat.predicate.values import casts, compared, functions, nested, texts
else:
    casts = later("colonnade.tableformat.predicate.values.casts")
    compared = later("colonnade.tableformat.predicate.values.compared")
    functions = later("colonnade.tableformat.predicate.values.functions")
    nested = later("colonnade.tableformat.predicate.values.nested")
    texts = later("colonnade.tableformat.predicate.values.texts")

UTC = "UTC"


def bind(predicate: Predicate, schema: TableSchema, time_zone: str = UTC) -> BoundPredicate:
    """Resolve columns and convert literals. Does no I/O.

    Names are matched as `TableSchema.field` matches them. Timestamps are taken apart in
    `time_zone`. Raises InvalidInputError that names the column when it is unknown, when it has no
    order, and when a literal has another type. Raises it for a function that does not take its
    arguments.
    """
    try:
        return BoundPredicate(_Binder(schema, time_zone).node(predicate))
    except RecursionError as error:
        raise InvalidInputError("The predicate is nested too deeply; flatten it.") from error


def bind_value(value: Operand | Predicate, schema: TableSchema, time_zone: str = UTC) -> RowValue:
    """Resolve the columns of a value. Raises the errors of `bind`."""
    try:
        return _Binder(schema, time_zone).value(value)
    except RecursionError as error:
        raise InvalidInputError("The expression is nested too deeply; flatten it.") from error


class _Binder:
    def __init__(self, schema: TableSchema, time_zone: str) -> None:
        self._schema, self._zone = schema, time_zone

    def node(self, predicate: Predicate) -> BoundNode:
        match predicate:
            case And(parts):
                return all_of(self.node(part) for part in parts)
            case Or(parts):
                return any_of(self.node(part) for part in parts)
            case Not(part):
                return negate(self.node(part))
            case Constant(value):
                return BoundConstant(value)
            case IsNull(operand):
                return self._is_null(self._folded(operand))
            case Compare(operator, left, right):
                return self._compare(operator, self._folded(left), self._folded(right))
            case In(operand, values):
                return self._in(self._folded(operand), values)
            case StartsWith(Column() as column, prefix):
                return BoundStartsWith(self._text_column(column), prefix)
            case StartsWith(operand, prefix):
                found = self.value(operand), constant(make_literal(prefix))
                return BoundTruth(texts.found_in("startswith", *found))
            case Like(Column() as column, pattern, escape):
                return bind_like(self._text_column(column), pattern, escape)
            case Like(operand, pattern, escape):
                return BoundTruth(texts.like(self.value(operand), pattern, escape))
        raise AssertionError(f"not a predicate: {predicate!r}")

    def value(self, value: Operand | Predicate) -> RowValue:
        match value:
            case Literal():
                return constant(value)
            case Column():
                return self._column(value)
            case Call("cast", (operand,), type_name):
                assert not isinstance(operand, Predicate)
                return casts.cast(self.value(operand), type_name, self._zone)
            case Call("field", (operand, Literal() as name)):
                return nested.field_of(self.value(operand), str(name.value))
            case Call("truth", (predicate,)):
                return self.value(predicate)
            case Call(function, arguments):
                return functions.call(
                    function, [self.value(each) for each in arguments], self._zone
                )
        assert isinstance(value, Predicate)
        node = self.node(value)
        bound = BoundPredicate(node)
        if isinstance(node, BoundTruth) and not node.negated and node.if_null is None:
            return node.value
        return RowValue("boolean", bound.column_ids, partial(evaluate, bound), bound.may_fail)

    def _column(self, column: Column) -> RowValue:
        bound = resolve(column, self._schema)
        return column_value(self._schema.by_id(bound.id), bound.path[1:])

    def _folded(self, operand: Operand) -> Operand:
        """Return an operand that reads no column as a literal, so that bounds can decide by it."""
        if not isinstance(operand, Call):
            return operand
        found = casts.folded(self.value(operand))
        return operand if found is None else found

    def _is_null(self, operand: Operand) -> BoundNode:
        match operand:
            case Literal():
                return BoundConstant(operand.kind is Kind.NULL)
            case Column():
                return BoundIsNull(resolve(operand, self._schema))
        value = self.value(operand)
        return BoundTruth(computed("boolean", (value,), lambda array: array.is_null()))

    def _compare(self, operator: Operator, left: Operand, right: Operand) -> BoundNode:
        match left, right:
            case Literal(), Literal():
                return compare_literals(operator, left, right)
            case Column(), Column():
                one, other = (resolve(each, self._schema) for each in (left, right))
                return _compare_columns(operator, one, other)
            case Literal(), Column():
                return compare_literal(resolve(right, self._schema), operator.flipped, left)
            case Column(), Literal():
                return compare_literal(resolve(left, self._schema), operator, right)
            case Call(), Literal(Kind.BOOLEAN, True) if operator is Operator.EQUAL:
                return BoundTruth(nested.as_boolean(self.value(left)))
        return BoundTruth(compared.compared(operator, self.value(left), self.value(right)))

    def _in(self, operand: Operand, values: tuple[Literal, ...]) -> BoundNode:
        match operand:
            case Column():
                return bind_in(resolve(operand, self._schema), values)
            case Literal():
                return any_of(compare_literals(Operator.EQUAL, operand, each) for each in values)
        return BoundTruth(compared.is_one_of(self.value(operand), values))

    def _text_column(self, column: Column) -> BoundColumn:
        bound = resolve(column, self._schema)
        if domain_for(bound).family != "string":
            raise InvalidInputError(
                f"LIKE needs a string; column {str(bound)!r} is of type {bound.type}."
            )
        return bound


def resolve(column: Column, schema: TableSchema) -> BoundColumn:
    """Resolve a column, or a field of a struct. Raises InvalidInputError that names it."""
    try:
        top = field = schema.field(column.path[0])
    except NotFoundError as error:
        raise InvalidInputError(f"In the predicate: {error.message}") from error
    path = [top.name]
    for name in column.path[1:]:
        field = _nested_field(field, name, column)
        path.append(field.name)
    type_name = field.type if isinstance(field.type, str) else ""
    return BoundColumn(top.id, tuple(path), type_name)


def _nested_field(field: SchemaField, name: str, column: Column) -> SchemaField:
    if not isinstance(field.type, StructType):
        raise InvalidInputError(
            f"Column {str(column)!r} of the predicate does not exist: {field.name!r} is not a"
            " struct."
        )
    try:
        return TableSchema(fields=field.type.fields).field(name)
    except NotFoundError as error:
        raise InvalidInputError(f"In struct {field.name!r} of the predicate: {error}") from error


def _compare_columns(operator: Operator, left: BoundColumn, right: BoundColumn) -> BoundNode:
    families = {domain_for(left).family, domain_for(right).family}
    if len(families) > 1 and families != {"number", "float"}:
        raise InvalidInputError(
            f"Columns {str(left)!r} of type {left.type} and {str(right)!r} of type {right.type}"
            " cannot be compared with each other."
        )
    if operator is not Operator.NULL_SAFE_EQUAL:
        return BoundCompareColumns(left, operator, right)
    present = (BoundIsNull(left, negated=True), BoundIsNull(right, negated=True))
    equal = all_of((*present, BoundCompareColumns(left, Operator.EQUAL, right)))
    return any_of((all_of((BoundIsNull(left), BoundIsNull(right))), equal))
