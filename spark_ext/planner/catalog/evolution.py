"""Answer requests about columns that a statement or a write brings into a table.

Spark analyzes such a statement as if the table had the columns, and the epoch of its rows brings
them. So a statement that is refused, or only explained, changes nothing.
"""

from __future__ import annotations

from colonnade.manifests.model.columns.widening import evolved_type
from colonnade.spark_ext.options.write import parse_write_options
from colonnade.spark_ext.planner.clauses.columns_of_rows import wanted_columns
from colonnade.spark_ext.planner.clauses.new_columns import column_of
from colonnade.spark_ext.planner.messages.base import Answer, operation
from colonnade.spark_ext.planner.messages.catalog import Columns, ColumnsForRows, MayWiden
from colonnade.spark_ext.planner.state.snapshots import SNAPSHOTS
from colonnade.spark_ext.planner.state.transactions import TRANSACTIONS
from colonnade.spark_ext.types import declared_json
from colonnade.tableformat.table.alteration.plan import draft_of, operations_of
from colonnade.tableformat.write.identity import open_schema


@operation
def columns_for_rows(request: ColumnsForRows) -> Columns:
    """Change nothing: the write itself does (`columns_of_rows.with_columns`).

    Raises InvalidInputError for `options` of the write that exclude each other, and for columns
    that the table cannot have.
    """
    parse_write_options({**request.options, "path": request.path})
    TRANSACTIONS.refuse(request.path, "altered")
    table = SNAPSHOTS.of_view(request.view)[1]
    draft = draft_of(table, wanted_columns(request.rows, table))
    operations_of(draft)  # Spark cannot analyze rows if a constraint does not fit the columns.
    return Columns(columns=declared_json(open_schema(draft.schema)))


@operation
def may_widen(request: MayWiden) -> Answer:
    """Say no where the column need not widen, too."""
    own, values = (column_of("c", each).type for each in (request.own, request.value_type))
    return Answer(yes=evolved_type(own, values) is not None)
