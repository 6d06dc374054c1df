"""Answer requests about columns that a statement or a write brings into a table.

Spark analyzes such a statement as if the table had the columns, and the epoch of its rows brings
them. So a statement that is refused, or only explained, changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from colonnade.manifests.model.widening import evolved_type
from colonnade.spark_ext.options import parse_write_options
from colonnade.spark_ext.planner.clauses.asked_columns import column_of
from colonnade.spark_ext.planner.clauses.brought_columns import wanted_columns
from colonnade.spark_ext.planner.state.snapshots import SNAPSHOTS
from colonnade.spark_ext.planner.state.storage import place_of
from colonnade.spark_ext.planner.state.transactions import TRANSACTIONS
from colonnade.spark_ext.types import declared_json
from colonnade.tableformat.table.alteration.plan import draft_of, operations_of
from colonnade.tableformat.write.identity import open_schema

Args = Mapping[str, Any]


def columns_for_rows(args: Args) -> dict[str, Any]:
    """Return the Spark schema of a table with what it lacks for the rows of a statement.

    `seen` names the table at an epoch, and `path` is where it is. `rows` is as in
    `brought_columns.wanted_columns`. Changes nothing: the write itself does
    (`brought_columns.with_columns`). Raises InvalidInputError for `options` of the write that
    exclude each other, and for columns that the table cannot have.
    """
    parse_write_options({**args["options"], "path": args["path"]})
    TRANSACTIONS.refuse(args["path"], "altered")
    seen = args["seen"]
    state = SNAPSHOTS.at(place_of(seen), seen["database"], seen["epoch"])
    table = state.tables[seen["id"]]
    draft = draft_of(table, wanted_columns(args["rows"], table))
    operations_of(draft)  # Spark cannot analyze rows if a constraint does not fit the columns.
    return {"schema": declared_json(open_schema(draft.schema))}


def may_widen(args: Args) -> dict[str, Any]:
    """Say whether a column of the Spark type `own` can widen to take values of the type `given`."""
    own, given = (column_of("c", args[name]).type for name in ("own", "given"))
    return {"may": evolved_type(own, given) is not None}


OPS = {"columns_for_rows": columns_for_rows, "may_widen": may_widen}
