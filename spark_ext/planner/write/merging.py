"""Answer the Java source's requests about rows that merge with those of a table by their keys.

Spark fills the columns that a statement leaves out, and the planner cannot tell them from the given
ones afterwards. So a rule asks before that how such a statement is analyzed, and the plan of the
write knows the columns. Another rule asks whether a MERGE may find its rows by the primary key.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from colonnade.manifests.errors import ConflictError, InvalidInputError
from colonnade.manifests.model.columns.generated import generated_fields
from colonnade.manifests.model.columns.identity import identity_columns
from colonnade.manifests.model.primary_key import key_fields
from colonnade.manifests.sizes import parse_size
from colonnade.manifests.state.snapshot import TableState
from colonnade.spark_ext.options.write import SparkWriteOptions
from colonnade.spark_ext.planner.messages.base import operation
from colonnade.spark_ext.planner.messages.clauses import UserColumns
from colonnade.spark_ext.planner.messages.writes import AnalyzedRows, ColumnsOfAppend, MergeByKey
from colonnade.spark_ext.planner.write.base import analyzed
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


@operation
def columns_of_append(request: ColumnsOfAppend) -> AnalyzedRows:
    """Raise the errors of `incoming_columns`."""
    options, _, _, table = analyzed(request)
    own = stored_table(table)
    if not merges(own, options.settings.on_duplicate):
        return AnalyzedRows()
    names = list(request.names)
    column = expires_column(table.lifetimes, table.schema)
    if options.settings.ttl is not None and column is not None:
        names.append(column.name)  # Spark fills it where the rows lack it
    given = incoming_columns(own, names)
    return AnalyzedRows(
        user_columns=UserColumns(columns=tuple(names), checked=not checks_merged_rows(own, given)),
        columns=declared_json(open_schema(open_columns(table.schema, given))),
    )


@operation
def merge_by_key(request: MergeByKey) -> AnalyzedRows:
    """Raise InvalidInputError if `most` is not a size."""
    most = _most_bytes(request.most)
    if request.view.evolving is not None:
        return AnalyzedRows()
    options, _, _, table = analyzed(request)
    names = request.names
    sets_all = len(names) == len(table.schema.fields)
    joins = (
        request.bytes > (most if sets_all else most // 8)
        or options.settings.ttl is not None
        or not _may_merge_by_key(table, request.keys, names)
    )
    if joins:
        return AnalyzedRows()
    given = incoming_columns(table, names)
    return AnalyzedRows(
        user_columns=UserColumns(columns=names, checked=bool(table.constraints), keys=request.keys),
        columns=declared_json(open_schema(open_columns(table.schema, given))),
    )


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


def merge_options(options: SparkWriteOptions, given: UserColumns | None) -> SparkWriteOptions:
    """Return the options of a write. The rows of a MERGE by the primary key always merge."""
    if given is None or given.keys is None:
        return options
    settings = options.settings.model_copy(update={"on_duplicate": "merge"})
    return replace(options, settings=settings)


def check_merging(
    job: WriteJob,
    table: TableState | None,
    options: SparkWriteOptions,
    given: UserColumns | None,
) -> WriteJob:
    """Return a planned write, which merges its rows as the statement was analyzed.

    Raises ConflictError if the table merges rows in another way by now. Raises InvalidInputError
    if it is unknown which columns the user gave, and the rows would merge.
    """
    if table is None or given is None:
        return job
    if given.keys is not None:
        job = job.model_copy(update={"is_merge": True, "parameters": {}})
    if (names := given.columns) is not None:
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


def _merges_as(table: TableState, job: WriteJob, given: UserColumns) -> bool:
    """Return whether a table still merges rows as the statement with them was analyzed."""
    if job.incoming_columns is None:
        return False
    if not job.is_merge:
        checked = not checks_merged_rows(stored_table(table), frozenset(job.incoming_columns))
        return checked == given.checked
    if bool(table.constraints) != given.checked:
        return False
    return _may_merge_by_key(table, given.keys or (), given.columns or ())
