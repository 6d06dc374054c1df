"""Answer requests about columns that a statement or a write brings into a table.

A `MERGE WITH SCHEMA EVOLUTION` compares the columns itself, and asks the catalog for the changes
before it plans the statement. The rows of all other writes are analyzed as if the table had the
columns, and the epoch of the rows brings them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.widening import evolved_type
from colonnade.manifests.state.snapshot import TableState
from colonnade.spark_ext.options import parse_write_options
from colonnade.spark_ext.planner.catalog.alterations import alteration, column_of
from colonnade.spark_ext.planner.clauses.brought_columns import given_columns, wanted_columns
from colonnade.spark_ext.planner.state.snapshots import SNAPSHOTS
from colonnade.spark_ext.planner.state.storage import place, place_of
from colonnade.spark_ext.planner.state.transactions import TRANSACTIONS
from colonnade.spark_ext.types import declared_json
from colonnade.tableformat.location import locate_existing
from colonnade.tableformat.table.alteration import Alteration
from colonnade.tableformat.table.alteration.plan import draft_of
from colonnade.tableformat.table.new_columns import commit_evolution
from colonnade.tableformat.table.wanted_columns import (
    asked_changes,
    merged_changes,
)
from colonnade.tableformat.write.identity import open_schema

Args = Mapping[str, Any]


def evolve_table(args: Args) -> dict[str, Any]:
    """Give the table at `path` the columns and types that the source of a statement brings.

    `changes` are those of `alter_table`. What a concurrent writer has done meanwhile is left out,
    so the request may be repeated. With `exact`, each type must become the one that is asked for.
    """
    TRANSACTIONS.refuse(args["path"], "altered")
    location = locate_existing(place(args["path"]))
    log = Log(location.store)
    asked = [alteration(change) for change in args["changes"]]

    def changes(table: TableState) -> tuple[Alteration, ...]:
        return asked_changes(table.schema, asked, exact=args["exact"])

    base = log.read_head(look=location.look)
    return {"epoch": commit_evolution(log, location, base, changes).epoch}


def columns_for_rows(args: Args) -> dict[str, Any]:
    """Return the Spark schema of a table with what it lacks for rows with the schema `columns`.

    The columns are matched by name with `by_name`, and otherwise by position. `seen` names the
    table at an epoch, and `path` is where it is. Changes nothing: the write itself does
    (`brought_columns.with_columns`). Raises InvalidInputError for `options` of the write that
    exclude each other, and for a new column without a type.
    """
    parse_write_options({**args["options"], "path": args["path"]})
    TRANSACTIONS.refuse(args["path"], "altered")
    seen = args["seen"]
    state = SNAPSHOTS.at(place_of(seen), seen["database"], seen["epoch"])
    table = state.tables[seen["id"]]
    schema = draft_of(table, wanted_columns(args, table)).schema
    return {"schema": declared_json(open_schema(schema))}


def columns_after_merge(args: Args) -> dict[str, Any]:
    """Return the Spark schema that a table would have after a MERGE of rows with `columns`.

    The reply's `schema` is None where nothing would change, or where the change is refused.
    Changes nothing.
    """
    location = locate_existing(place(args["path"]))
    table = location.require(Log(location.store).read_head(look=location.look))
    try:
        given = given_columns(json.loads(args["columns"]), table, by_name=True)
        changes = merged_changes(table.schema, given, by_name=True)
        schema = draft_of(table, changes).schema
    except InvalidInputError:
        return {"schema": None}
    shown = None if schema == table.schema else declared_json(open_schema(schema))
    return {"schema": shown}


def may_widen(args: Args) -> dict[str, Any]:
    """Say whether a column of the Spark type `own` can widen to take values of the type `given`."""
    own, given = (column_of("c", args[name]).type for name in ("own", "given"))
    return {"may": evolved_type(own, given) is not None}


OPS = {
    "evolve_table": evolve_table,
    "columns_for_rows": columns_for_rows,
    "columns_after_merge": columns_after_merge,
    "may_widen": may_widen,
}
