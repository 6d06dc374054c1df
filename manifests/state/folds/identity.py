"""The fold of the values that identity columns have given. Pure.

Spec: docs/spec/types.md#identity-columns
"""

from __future__ import annotations

from dataclasses import replace

from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.model.columns.identity import (
    identity_columns,
    next_values,
    numbers_of,
    past,
    problem_of,
    with_last,
)
from colonnade.manifests.model.operations import (
    AddRowSet,
    AddRowSets,
    DrawIdentity,
)
from colonnade.manifests.model.schema import SchemaField
from colonnade.manifests.model.statistics import WHOLE, decode_bound
from colonnade.manifests.state.folds.refusal import refuse
from colonnade.manifests.state.snapshot import TableState

Valued = AddRowSet | AddRowSets
"""The operations that may give rows of an identity column values which the log has not given."""


def drawn(epoch: int, state: TableState, operation: DrawIdentity) -> TableState:
    """Return a table after a job took the next values of a column. Raises CorruptionError."""
    column = find_identity(state, operation.column)
    if column is None:
        refuse(epoch, f"takes values of column {operation.column}, which is not an identity column")
    values = next_values(state.identities, column, operation.count)
    if values is None:
        refuse(epoch, f"takes more values of column {column.name!r} than its type has")
    return replace(state, identities=with_last(state.identities, column, values[-1]))


def find_identity(state: TableState, number: int) -> SchemaField | None:
    """Return the identity column of a table with an id; None if it has no such column."""
    columns = identity_columns(state.schema)
    return next((each for each in columns if each.id == number), None)


def with_values(epoch: int, state: TableState, operation: Valued) -> TableState:
    """Return a table after rows got values: no later draw gives one of them again.

    The statistics of an identity column are therefore required. Raises CorruptionError.
    """
    counters = state.identities
    for column in identity_columns(state.schema):
        counters = past(counters, column, *_bounds(epoch, state, operation, column))
    return state if counters is state.identities else replace(state, identities=counters)


def _bounds(
    epoch: int, state: TableState, operation: Valued, column: SchemaField
) -> tuple[int, int]:
    stated = operation.rowset if isinstance(operation, AddRowSet) else operation.segment
    statistics = stated.statistics
    known = statistics.get(column.id)
    if known is None or known.min is None or known.max is None or known.nulls:
        refuse(
            epoch,
            f"adds rows to table {state.name!r} that have no value in identity column"
            f" {column.name!r}, or no statistics of it",
        )
    try:
        bounds = tuple(decode_bound(text, WHOLE) for text in (known.min, known.max))
    except CorruptionError as error:
        refuse(epoch, f"has a wrong bound of identity column {column.name!r}: {error.message}")
    low, high = (int(bound) for bound in bounds)
    if low not in numbers_of(column) or high not in numbers_of(column):
        refuse(epoch, f"has a bound of identity column {column.name!r} that is not a {column.type}")
    return low, high


def check_identities(epoch: int, state: TableState) -> None:
    """Refuse identity columns that a new table cannot have. Raises CorruptionError.

    A last value may be beyond the type of its column, if the table had a wider one before it was
    dropped. The column then gives no further value.
    """
    problem = problem_of(state.schema)
    if problem is not None:
        refuse(epoch, f"creates table {state.name!r}: {problem}")
