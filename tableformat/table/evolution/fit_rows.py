"""Evolution by writing: a table gets the new columns and the wider types that rows bring along.

The columns change in an epoch of their own, before the first row is written. So two writers that
bring the same new column agree on it: the second one finds the column of the first. A column is
never dropped or made narrower. Spec: docs/spec/types.md#evolution-by-writing
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING

import pyarrow as pa

from colonnade.manifests.commit.change import Change
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.ids import new_job_id, new_transaction_id
from colonnade.manifests.later import later
from colonnade.manifests.log.log import Log
from colonnade.manifests.log.statement_log import StatementLog
from colonnade.manifests.model.operations import AlterSchema
from colonnade.manifests.model.schema import TableSchema
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.tableformat.keys.policy import merges
from colonnade.tableformat.location import Location
from colonnade.tableformat.scan.user_rows import joined
from colonnade.tableformat.statements.statement import has_batch
from colonnade.tableformat.statements.static_split import StaticSplit
from colonnade.tableformat.types.arrow_types import arrow_schema
from colonnade.tableformat.types.conform import conform
from colonnade.tableformat.write.expiry import expiry_of
from colonnade.tableformat.write.identity import OwnDraws
from colonnade.tableformat.write.job import target_of
from colonnade.tableformat.write.pipeline import new_rows
from colonnade.tableformat.write.settings import CommitSettings, WriteSettings

if TYPE_CHECKING:
    from colonnade.tableformat.statements.keyed import incoming
    from colonnade.tableformat.table import alteration
    from colonnade.tableformat.table.evolution import needed_alterations
else:
    alteration = later("colonnade.tableformat.table.alteration")
    incoming = later("colonnade.tableformat.statements.keyed.incoming")
    needed_alterations = later("colonnade.tableformat.table.evolution.needed_alterations")


@dataclass(frozen=True, slots=True)
class UnknownColumns:
    """How a write treats columns that its table does not have.

    `evolve` adds them, and widens types. `ignore` leaves them out. Without either, the write is
    refused.
    """

    evolve: bool = False
    ignore: bool = False

    def __post_init__(self) -> None:
        for name in ("evolve", "ignore"):
            if not isinstance(getattr(self, name), bool):
                option = "evolve" if name == "evolve" else "ignore_unknown_columns"
                raise InvalidInputError(
                    f"{option} must be True or False, not {getattr(self, name)!r}."
                )
        if self.evolve and self.ignore:
            raise InvalidInputError(
                "evolve and ignore_unknown_columns exclude each other: new columns are either added"
                " or left out."
            )


def fit_rows(
    log: Log,
    location: Location,
    base: Snapshot,
    batches: Iterable[pa.RecordBatch],
    unknown: UnknownColumns,
    commit: CommitSettings | None = None,
    held: Sequence[pa.RecordBatch] = (),
    settings: WriteSettings | None = None,
) -> tuple[Snapshot, Iterator[pa.RecordBatch]]:
    """Make rows and the columns of their table fit each other, as `unknown` says.

    Returns the state to write on, and the rows. The rows must come in at least one batch. An
    evolution commits an epoch, unless the table can hold the rows already. Before that, it checks
    the rows that are `held` in memory, which `settings` are for. It commits nothing if the batch of
    `commit`, the settings of the rows' own commit, has landed. Raises InvalidInputError that names
    the column when the rows cannot fit, or when a held row is refused; the table is unchanged then.
    Raises ConflictError when concurrent writers change the columns ten times in a row, or when the
    newest epoch is not the expected one.
    """
    rest = iter(batches)
    first = next(rest)
    rows = chain((first,), rest)
    if unknown.evolve:
        sample = first.slice(0, 0)
        return evolve(log, location, base, sample, commit, held, settings), rows
    schema = location.require(base).schema
    if first.schema.equals(arrow_schema(schema)):
        return base, rows
    extra = needed_alterations.unknown_columns(schema, first.schema)
    if not unknown.ignore and (extra or needed_alterations.unknown_fields(schema, first.schema)):
        _refuse(schema, first.slice(0, 0), whole=bool(extra))
    if not extra:
        return base, rows
    known = [index for index in range(first.num_columns) if index not in extra]
    return base, (batch.select(known) for batch in rows)


def evolve(
    log: Log,
    location: Location,
    base: Snapshot,
    sample: pa.RecordBatch,
    commit: CommitSettings | None = None,
    held: Sequence[pa.RecordBatch] = (),
    settings: WriteSettings | None = None,
) -> Snapshot:
    """Commit the changes that let a table hold rows like `sample`, which has no rows itself.

    Returns the state after them. Checks the rows that are `held` in memory first. Commits nothing
    if the table can hold such rows. Plans again after a concurrent change of columns. Raises the
    errors of `fit_rows`.
    """

    rows = commit or CommitSettings()

    def check(state: Snapshot, table: TableState, schema: TableSchema) -> None:
        after = replace(table, schema=schema)
        own = StatementLog.begin(log, state, after)
        _check_rows(own, after, [sample] if schema == table.schema else [sample, *held], settings)

    def planned(state: Snapshot) -> Change | None:
        table = location.require(state)
        if has_batch(rows, table):
            return None
        wanted = needed_alterations.evolving_changes(table.schema, sample.schema)
        operations = alteration.plan_alterations(table, wanted)
        altered = [op.table_schema for op in operations if isinstance(op, AlterSchema)]
        check(state, table, altered[0] if altered else table.schema)
        if not operations:
            return None
        return Change(
            new_transaction_id(),
            "alter_table",
            operations,
            {"name": table.name, "changes": "; ".join(map(str, wanted))},
            expect_epoch=rows.expect_epoch,
            prepared=rows._operations(table.id),
            fresh=True,
        )

    return log.commit_statement(base, planned)[0]


def _check_rows(
    log: StatementLog,
    table: TableState,
    rows: Sequence[pa.RecordBatch],
    settings: WriteSettings | None,
) -> None:
    """Refuse rows that an append refuses, unless only existing rows with their keys can tell."""
    split = StaticSplit(table, new_job_id())
    own = split.own
    if merges(own, None if settings is None else settings.on_duplicate):
        data = split.rows(joined(rows))
        if data is not None:
            incoming.batch_rows(log, own, data, settings)
        return
    steps = new_rows(
        target_of(own, log.limits),
        lambda: OwnDraws(table),
        divide=split.batches,
        expiry=expiry_of(own, settings, log.present_ms),
    )
    deque(steps.run(rows), maxlen=0)


def _refuse(schema: TableSchema, sample: pa.RecordBatch, whole: bool) -> None:
    """Raise InvalidInputError that says what would take the unknown columns, or only fields."""
    try:
        conform(sample, schema)
    except InvalidInputError as error:
        what = "columns" if whole else "fields"
        otherwise = "; to leave them out, with ignore_unknown_columns=True" if whole else ""
        raise InvalidInputError(
            f"{error.message} To add new {what} to the table, append with evolve=True{otherwise}."
        ) from error
