"""Answer the Java source's requests about rows that merge with those of a table by their keys.

Spark fills the columns that a statement leaves out, and the planner cannot tell them from the given
ones afterwards. So a rule asks before that how such a statement is analyzed, and the plan of the
write knows the columns.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from colonnade.manifests.errors import ConflictError, InvalidInputError
from colonnade.manifests.state.snapshot import TableState
from colonnade.spark_ext.options import SparkWriteOptions, parse_write_options
from colonnade.spark_ext.planner.state.storage import place
from colonnade.spark_ext.planner.write.base import base_of, evolved
from colonnade.spark_ext.types import declared_json
from colonnade.tableformat.keys.own_table import own_table
from colonnade.tableformat.keys.policy import merges
from colonnade.tableformat.statements.keyed.given import (
    checks_merged_rows,
    given_columns,
    open_columns,
)
from colonnade.tableformat.write.expiry import expires_column
from colonnade.tableformat.write.identity import open_schema
from colonnade.tableformat.write.job import WriteJob


def columns_given(args: Mapping[str, Any]) -> dict[str, Any]:
    """Return how Spark analyzes an append of rows for which the user gave the columns `names`.

    `path`, `seen`, `options` and `evolving` are those of `plan_write`. The reply's `given` is None
    if the rows do not merge with those of the table. Else it is the argument `given` of
    `plan_write`: the `columns`, and whether Spark has the constraints `checked`. In `schema`, the
    other columns are nullable. Raises the errors of `given_columns`.
    """
    options = parse_write_options({**args["options"], "path": args["path"]})
    location, base = base_of(place(options.path, options.storage), args["seen"], args.get("query"))
    state, _ = evolved(location, base, args.get("evolving"))
    assert state is not None  # the statement has read the table
    table = location.require(state)
    own = own_table(table)
    if not merges(own, options.settings.on_duplicate):
        return {"given": None}
    names = list(args["names"])
    column = expires_column(table.lifetimes, table.schema)
    if options.settings.ttl is not None and column is not None:
        names.append(column.name)  # Spark fills it where the rows lack it
    given = given_columns(own, names)
    return {
        "given": {"columns": names, "checked": not checks_merged_rows(own, given)},
        "schema": declared_json(open_schema(open_columns(table.schema, given))),
    }


def check_merging(
    job: WriteJob,
    table: TableState | None,
    options: SparkWriteOptions,
    given: Mapping[str, Any] | None,
) -> None:
    """Check that a planned write merges its rows as the statement was analyzed.

    Raises ConflictError if the table merges rows in another way by now. Raises InvalidInputError
    if it is unknown which columns the user gave, and the rows would merge.
    """
    if table is None or given is None:
        return
    if (names := given["columns"]) is not None:
        known = None if job.given is None else frozenset(job.given)
        if known is None or checks_merged_rows(own_table(table), known) == given["checked"]:
            raise ConflictError(
                f"Table {table.name!r} merges rows by their keys in another way than when the"
                f" statement with the columns {', '.join(names)} was analyzed; run it again."
            )
    elif job.mode == "append" and merges(own_table(table), options.settings.on_duplicate):
        raise InvalidInputError(
            f"Table {table.name!r} merges the rows by their keys, and this session cannot tell"
            " which columns they have: create the session by colonnade.configure(builder), which"
            " adds Colonnade's extension, or use colonnade.open(path).upsert."
        )


OPS = {"columns_given": columns_given}
