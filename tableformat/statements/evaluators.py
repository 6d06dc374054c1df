"""The statements that users run on a table, before it is known which state they run on.

Each function takes what the user gives, refuses what no state could make right, and returns an
`Evaluate`, which a table or a transaction calls with its state, perhaps again after a conflict:

    evaluate = evaluators.delete("price > 3")
    statement = evaluate(log, table, job_id)

`ArrowTable` says what each statement promises.
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.later import later
from colonnade.manifests.log.statement_log import StatementLog
from colonnade.manifests.model.schema import TableSchema
from colonnade.manifests.state.snapshot import TableState
from colonnade.tableformat.keys.key_rows import are_keys, key_rows
from colonnade.tableformat.predicate import Where, parse_predicate, text_of
from colonnade.tableformat.rowset.column import check_names
from colonnade.tableformat.scan.user_rows import batches_of, held_rows
from colonnade.tableformat.statements.statement import Statement, shortened
from colonnade.tableformat.types.arrow_types import arrow_schema
from colonnade.tableformat.write.settings import WriteSettings, check_settings

if TYPE_CHECKING:
    from colonnade.tableformat.statements import delete as deletes
    from colonnade.tableformat.statements import merge as merges
    from colonnade.tableformat.statements import merge_clauses, ranges
    from colonnade.tableformat.statements import overwrite as overwrites
    from colonnade.tableformat.statements import update as updates
    from colonnade.tableformat.statements.columns import assignments
    from colonnade.tableformat.statements.keyed import delete_keys as deleted_keys
    from colonnade.tableformat.statements.keyed import incoming, upsert_on
    from colonnade.tableformat.statements.keyed import upsert as upserts
else:
    assignments = later("colonnade.tableformat.statements.columns.assignments")
    deletes = later("colonnade.tableformat.statements.delete")
    deleted_keys = later("colonnade.tableformat.statements.keyed.delete_keys")
    incoming = later("colonnade.tableformat.statements.keyed.incoming")
    merges = later("colonnade.tableformat.statements.merge")
    merge_clauses = later("colonnade.tableformat.statements.merge_clauses")
    overwrites = later("colonnade.tableformat.statements.overwrite")
    ranges = later("colonnade.tableformat.statements.ranges")
    updates = later("colonnade.tableformat.statements.update")
    upserts = later("colonnade.tableformat.statements.keyed.upsert")
    upsert_on = later("colonnade.tableformat.statements.keyed.upsert_on")

Evaluate = Callable[[StatementLog, TableState, str], Statement]
"""Evaluates a statement on a table. The third argument is the prefix of new object ids."""


def overwrite(
    data: Any, where: Where | None, settings: WriteSettings | None, *, may_lease: bool
) -> Evaluate:
    """Overwrite all rows, or the rows that meet `where`."""
    check_settings(settings, None, may_lease=may_lease)
    parsed = None if where is None else parse_predicate(where)

    def evaluate(log: StatementLog, table: TableState, job_id: str) -> Statement:
        rows = batches_of(data, arrow_schema(table.schema))
        if parsed is None:
            return overwrites.evaluate_overwrite(log, table, rows, job_id, settings)
        return overwrites.evaluate_overwrite_where(
            log, table, rows, parsed, job_id, settings, _text(where)
        )

    return evaluate


def overwrite_partitions(data: Any, settings: WriteSettings | None) -> Evaluate:
    """Overwrite the rows of each partition that has rows in `data`."""
    check_settings(settings, None)

    def evaluate(log: StatementLog, table: TableState, job_id: str) -> Statement:
        rows = batches_of(data, arrow_schema(table.schema))
        return overwrites.evaluate_overwrite_partitions(log, table, rows, job_id, settings)

    return evaluate


def delete(where: Where | None, *, counted: bool) -> Evaluate:
    """Delete the rows that meet `where`; they are read and counted, or perhaps a range."""
    parsed = None if where is None else parse_predicate(where)

    def evaluate(log: StatementLog, table: TableState, job_id: str) -> Statement:
        return deletes.evaluate_delete(log, table, parsed, _text(where), counted=counted)

    return evaluate


def delete_range(where: Where, *, counted: bool) -> Evaluate:
    """Delete a range of rows; they are read only if they are to be counted."""
    parsed, text = parse_predicate(where), _text(where)

    def evaluate(log: StatementLog, table: TableState, job_id: str) -> Statement:
        ranges.require_range(table, parsed, text or "")
        return deletes.evaluate_delete(log, table, parsed, text, counted=counted)

    return evaluate


def update(
    values: Mapping[str, Any], where: Where | None, settings: WriteSettings | None
) -> Evaluate:
    """Set columns of the rows that meet `where`."""
    check_settings(settings, None, may_expire=False, may_choose=False)
    parsed, text = None if where is None else parse_predicate(where), _text(where)

    def evaluate(log: StatementLog, table: TableState, job_id: str) -> Statement:
        assigned = assignments.parse_assignments(values, table.schema, table.name)
        done = updates.evaluate_update(log, table, assigned, parsed, job_id, settings, text)
        return replace(done, parameters={**done.parameters, "set": _set_text(values)})

    return evaluate


def upsert(
    columns: TableSchema,
    data: Any,
    on: str | Sequence[str] | None,
    settings: WriteSettings | None,
    *,
    ignore_unknown_columns: bool,
) -> Evaluate:
    """Merge rows into the rows with the same keys. Holds them; `columns` are now the table's."""
    check_settings(settings, None, may_choose=False)
    held = held_rows(data, arrow_schema(columns))

    def evaluate(log: StatementLog, table: TableState, job_id: str) -> Statement:
        rows = incoming.known_columns(table, held) if ignore_unknown_columns else held
        if on is None:
            return upserts.evaluate_upsert(log, table, rows, job_id, settings)
        return upsert_on.evaluate_upsert_on(log, table, rows, on, job_id, settings)

    return evaluate


def delete_keys(columns: TableSchema, data: Any) -> Evaluate:
    """Delete the rows that have one of the primary keys. Holds rows of keys, as `upsert` does."""
    rows = None if are_keys(data) else held_rows(data, arrow_schema(columns))

    def evaluate(log: StatementLog, table: TableState, job_id: str) -> Statement:
        found = key_rows(data, table) if rows is None else rows
        return deleted_keys.evaluate_delete_keys(log, table, found, job_id)

    return evaluate


def merge(
    columns: TableSchema,
    data: Any,
    on: str | Sequence[str] | Mapping[str, str],
    names: tuple[str, str],
    settings: WriteSettings | None,
) -> Callable[[Sequence[merge_clauses.MergeClause]], Evaluate]:
    """Return what merges rows by clauses. Reads and holds the rows, which a stream has only once.

    `names` are those of the table and of the rows in clauses.
    """
    check_settings(settings, None, may_expire=False, may_choose=False)
    merge_clauses.check_aliases(names)
    keys = _matching(on)
    source = merges.MergeSource(held_rows(data, arrow_schema(columns)), keys, names)

    def merged(clauses: Sequence[merge_clauses.MergeClause]) -> Evaluate:
        def evaluate(log: StatementLog, table: TableState, job_id: str) -> Statement:
            return merges.evaluate_merge(log, table, source, clauses, job_id, settings)

        return evaluate

    return merged


def _matching(on: str | Sequence[str] | Mapping[str, str]) -> dict[str, str]:
    """Return the matching columns: names of the table, each with its name of the source."""
    if isinstance(on, Mapping):
        return dict(zip(check_names(on, "on"), check_names(on.values(), "on"), strict=True))
    names = check_names((on,) if isinstance(on, str) else on, "on")
    if len(set(names)) < len(names):
        raise InvalidInputError(f"A key is one or more columns, each once, not {list(names)}.")
    return {each: each for each in names}


def _set_text(values: Mapping[str, Any]) -> str:
    """Return assignments as history shows them, however large the values are."""
    texts = (
        (name, shortened(value) if isinstance(value, str) else reprlib.repr(value))
        for name, value in values.items()
    )
    return ", ".join(f"{name} = {text}" for name, text in texts)


def _text(where: Where | None) -> str | None:
    """Return the condition as history shows it."""
    return None if where is None else text_of(where)
