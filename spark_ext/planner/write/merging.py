"""Answer the Java source's requests about rows that merge with those of a table by their keys.

Spark fills the columns that a statement leaves out, and the planner cannot tell them from the given
ones afterwards. So a rule asks before that how such a statement is analyzed, and the plan of the
write knows the columns. Another rule asks whether a MERGE may find its rows by the primary key.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from colonnade.manifests.errors import ConflictError, InvalidInputError
from colonnade.manifests.model.generated import generated_fields
from colonnade.manifests.model.identity import identity_columns
from colonnade.manifests.model.primary_key import key_fields
from colonnade.manifests.sizes import parse_size
from colonnade.manifests.state.snapshot import TableState
from colonnade.spark_ext.options import SparkWriteOptions, parse_write_options
from colonnade.spark_ext.planner.state.storage import place
from colonnade.spark_ext.planner.write.base import base_of, evolved
from colonnade.spark_ext.types import declared_json
from colonnade.tableformat.keys.policy import merges, policy_of
from colonnade.tableformat.keys.static_parts import stored_table
from colonnade.tableformat.statements.keyed.incoming import (
    checks_merged_rows,
    incoming_columns,
    open_columns,
)
from colonnade.tableformat.write.expiry import expires_column
from colonnade.tableformat.write.identity import open_schema
from colonnade.tableformat.write.job import WriteJob

MOST_SETTING = "spark.colonnade.mergeByKeyBytes"

MOST_BYTES = 64 << 20
"""The most bytes that the source of a MERGE reads which finds its rows by their keys.

One process finds the rows. Where columns are left out, it also writes these rows again, so it is an
eighth of that.
"""


def columns_given(args: Mapping[str, Any]) -> dict[str, Any]:
    """Return how Spark analyzes an append of rows for which the user gave the columns `names`.

    `path`, `seen`, `options` and `evolving` are those of `plan_write`. The reply's `given` is None
    if the rows do not merge with those of the table. Else it is the argument `given` of
    `plan_write`: the `columns`, and whether Spark has the constraints `checked`. In `schema`, the
    other columns are nullable. Raises the errors of `incoming_columns`.
    """
    options = parse_write_options({**args["options"], "path": args["path"]})
    location, base = base_of(place(options.path, options.storage), args["seen"], args.get("query"))
    state, _ = evolved(location, base, args.get("evolving"))
    assert state is not None  # the statement has read the table
    table = location.require(state)
    own = stored_table(table)
    if not merges(own, options.settings.on_duplicate):
        return {"given": None}
    names = list(args["names"])
    column = expires_column(table.lifetimes, table.schema)
    if options.settings.ttl is not None and column is not None:
        names.append(column.name)  # Spark fills it where the rows lack it
    given = incoming_columns(own, names)
    return {
        "given": {"columns": names, "checked": not checks_merged_rows(own, given)},
        "schema": declared_json(open_schema(open_columns(table.schema, given))),
    }


def merge_by_key(args: Mapping[str, Any]) -> dict[str, Any]:
    """Return how Spark analyzes a MERGE that finds its rows by the primary key, without a join.

    `path`, `seen`, `options` and `evolving` are those of `plan_write`. The MERGE compares the
    columns `keys`, and sets the columns `names`, which include them. What its source reads takes
    `bytes`, and `most` is the setting of the most bytes, or None. The reply is that of
    `columns_given`. Its `given` is None if the MERGE has to join.
    Raises InvalidInputError if `most` is not a size.
    """
    most = _most_bytes(args["most"])
    options = parse_write_options({**args["options"], "path": args["path"]})
    location, base = base_of(place(options.path, options.storage), args["seen"], args.get("query"))
    assert base is not None  # the statement has read the table
    table, names = location.require(base), args["names"]
    sets_all = len(names) == len(table.schema.fields)
    joins = (
        args["bytes"] > (most if sets_all else most // 8)
        or args.get("evolving") is not None
        or options.settings.ttl is not None
        or not _may_merge_by_key(table, args["keys"], names)
    )
    if joins:
        return {"given": None}
    given = incoming_columns(table, names)
    return {
        "given": {"columns": names, "checked": bool(table.constraints), "keys": args["keys"]},
        "schema": declared_json(open_schema(open_columns(table.schema, given))),
    }


def _most_bytes(text: str | None) -> int:
    try:
        return MOST_BYTES if text is None else parse_size(text)
    except ValueError:
        raise InvalidInputError(
            f"{MOST_SETTING} is {text!r}, which is not a size; set it to a number of bytes such as"
            " 64m."
        ) from None


def _may_merge_by_key(table: TableState, keys: Collection[str], names: Collection[str]) -> bool:
    """Return whether a MERGE has the result of an upsert, apart from repeated keys.

    A column that expires, is static or is computed, and a constraint on a column that is not set,
    mean other things in a MERGE.
    """
    schema, own = table.schema, key_fields(table.primary_key, table.schema)
    if not own or {each.name for each in own} != set(keys):
        return False
    fields = [each for each in schema.fields if each.name in names]
    return (
        table.lifetimes is None
        and table.statics is None
        and not generated_fields(schema)
        and not identity_columns(schema)
        and policy_of(table).replaces(fields)
        and (not table.constraints or len(fields) == len(schema.fields))
    )


def merge_options(options: SparkWriteOptions, given: Mapping[str, Any] | None) -> SparkWriteOptions:
    """Return the options of a write. The rows of a MERGE by the primary key always merge."""
    if given is None or "keys" not in given:
        return options
    settings = options.settings.model_copy(update={"on_duplicate": "merge"})
    return replace(options, settings=settings)


def check_merging(
    job: WriteJob,
    table: TableState | None,
    options: SparkWriteOptions,
    given: Mapping[str, Any] | None,
) -> WriteJob:
    """Return a planned write, which merges its rows as the statement was analyzed.

    Raises ConflictError if the table merges rows in another way by now. Raises InvalidInputError
    if it is unknown which columns the user gave, and the rows would merge.
    """
    if table is None or given is None:
        return job
    if "keys" in given:
        job = job.model_copy(update={"is_merge": True, "parameters": {}})
    if (names := given["columns"]) is not None:
        if not _merges_as(table, job, given):
            raise ConflictError(
                f"Table {table.name!r} merges rows by their keys in another way than when the"
                f" statement with the columns {', '.join(names)} was analyzed; run it again."
            )
    elif job.mode == "append" and merges(stored_table(table), options.settings.on_duplicate):
        raise InvalidInputError(
            f"Table {table.name!r} merges the rows by their keys, and this session cannot tell"
            " which columns they have: call colonnade.enable(spark), which adds Colonnade's"
            " extension, or use colonnade.open(path).upsert."
        )
    return job


def _merges_as(table: TableState, job: WriteJob, given: Mapping[str, Any]) -> bool:
    """Return whether a table still merges rows as the statement with them was analyzed."""
    if job.incoming_columns is None:
        return False
    if not job.is_merge:
        checked = not checks_merged_rows(stored_table(table), frozenset(job.incoming_columns))
        return checked == bool(given["checked"])
    if bool(table.constraints) != given["checked"]:
        return False
    return _may_merge_by_key(table, given["keys"], given["columns"])


OPS = {"columns_given": columns_given, "merge_by_key": merge_by_key}
