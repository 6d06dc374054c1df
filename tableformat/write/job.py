"""A write in three steps, which may run on three machines, and the job that travels between them.

    plan_write      on the driver, before any data exists: fixes transaction id and base epoch,
                    and for a new table its id and column ids
    write_rows      on executors (`run.py`): streams rows into RowSets under the job's id
    commit_written  on the driver, perhaps in another process (`statements/commit.py`): one epoch,
                    or an error

Everything that travels between the steps is a plain value that converts to JSON. Repeating a step
(a retried task, a resent commit) does no harm: each task attempt writes objects with new ids, and a
commit finds its transaction id in the log.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

from pydantic import Field

from colonnade.manifests import clock
from colonnade.manifests.clock import AgreedTime
from colonnade.manifests.commit.change import Change
from colonnade.manifests.epochs.agreement import first_time
from colonnade.manifests.errors import InvalidInputError, NotFoundError
from colonnade.manifests.ids import new_job_id, new_transaction_id
from colonnade.manifests.limits import LIMITS, Limits
from colonnade.manifests.log.creation import prepare_place
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.columns.bloom import bloom_columns
from colonnade.manifests.model.columns.properties import by_name
from colonnade.manifests.model.columns.statics import stored_schema
from colonnade.manifests.model.columns.text_policy import TextPolicy, text_policy
from colonnade.manifests.model.constraints import CheckConstraint
from colonnade.manifests.model.entries import (
    ColumnNumber,
    Count,
    PartitionField,
    RowSetEntry,
    SortField,
    TableIdText,
)
from colonnade.manifests.model.epoch import TransactionIdText
from colonnade.manifests.model.lifetimes import Lifetimes
from colonnade.manifests.model.operations import CreateTable, Lease, Operation
from colonnade.manifests.model.primary_key import key_fields
from colonnade.manifests.model.schema import Model, TableSchema
from colonnade.manifests.object_names import table_prefix
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.manifests.store import StoreAddress
from colonnade.tableformat.location import Location
from colonnade.tableformat.predicate import Predicate, to_json
from colonnade.tableformat.write.column_changes import ColumnChanges
from colonnade.tableformat.write.expiry import Expiry, expires_column, expiry
from colonnade.tableformat.write.kept_ids import with_kept_ids
from colonnade.tableformat.write.settings import CommitSettings, WriteSettings, check_settings


class WriteTarget(Model):
    """The table that a write adds rows to; it may not exist yet.

    `primary_key` has the present ids of its columns. `expires` is the id of the column that says
    when each row expires.
    """

    table: TableIdText
    name: str
    prefix: str
    table_schema: TableSchema
    schema_id: Count = 0
    sort_key: tuple[SortField, ...]
    bloom_columns: tuple[ColumnNumber, ...] = ()
    invalid_text: TextPolicy = "refuse"
    partition_layout_id: Count = 0
    partition_fields: tuple[PartitionField, ...] = ()
    inline_rowset_bytes: Count = LIMITS.inline_rowset_bytes
    constraints: tuple[CheckConstraint, ...] = ()
    sort_order_id: Count = 0
    primary_key: tuple[ColumnNumber, ...] = ()
    expires: ColumnNumber | None = None


StatementTime = Callable[[Snapshot, TableState | None], AgreedTime]
"""Returns the time of a statement on a state and its table, if that exists."""

WriteMode = Literal["append", "overwrite", "overwrite_partitions"]


class WriteJob(Model):
    """One planned write; the same value on the driver and on every executor.

    `create` describes a table that the write creates. `columns` are changes of the columns of an
    existing table; `target` has them already. `replaced_table` is a table that it drops in
    the same epoch. An overwrite deletes the rows that `where` selects, which is a predicate as
    JSON; None means all rows. A partition overwrite deletes the rows in the partitions of its new
    rows. `incoming_columns` are those in which added rows have values, where it is known that these
    rows merge with the rows of the table by their keys. With `is_merge`, they are the rows of a
    MERGE, and no two of them may share a key. `time` is that of its statement, which decides what
    has expired; None if nothing expires in the table, or there is no database yet.
    """

    address: StoreAddress
    target: WriteTarget
    mode: WriteMode
    create: CreateTable | None
    columns: ColumnChanges = Field(default_factory=ColumnChanges)
    replaced_table: TableIdText | None = None
    where: Any = None
    create_database: bool
    base: Count
    transaction: TransactionIdText
    job_id: TableIdText
    settings: WriteSettings
    commit: CommitSettings = Field(default_factory=CommitSettings)
    parameters: dict[str, str]
    incoming_columns: tuple[ColumnNumber, ...] | None = None
    is_merge: bool = False
    time: AgreedTime | None = None

    def expiry(self) -> Expiry | None:
        """When new rows expire that do not say it themselves; None if the settings do not say it.

        Raises the errors of `expiry`.
        """
        target, ttl = self.target, self.settings.ttl
        number = target.expires
        column = None if number is None else target.table_schema.by_id(number)
        present = 0 if self.time is None else self.time.present_ms
        return None if ttl is None else expiry(target.name, column, ttl, present)

    def end_of_lease(self) -> tuple[Operation, ...]:
        """The operations that end the job's lease with its commit, if it has one."""
        return end_of_lease(self.base, self.job_id, self.settings) if self.has_lease else ()

    @property
    def url(self) -> str:
        """The path of the database, for messages."""
        return self.address.url

    @property
    def has_lease(self) -> bool:
        """Whether `take_lease` takes a lease, which the commit ends."""
        return self.settings.lease_hours is not None and not self.create_database

    @property
    def overwrites_all(self) -> bool:
        """Whether the job overwrites all rows of an existing table."""
        return self.mode == "overwrite" and self.create is None and self.where is None

    def needs_commit(self, entries: Sequence[RowSetEntry]) -> bool:
        """Return whether there is something to commit or to check, given what the tasks wrote.

        An append without rows needs no commit, unless it changes columns, ends a lease, records a
        batch or expects an epoch.
        """
        asked = self.commit.batch is not None or self.commit.expect_epoch is not None
        alters = self.create is not None or bool(self.columns.operations)
        return bool(entries) or self.mode == "overwrite" or alters or asked or self.has_lease

    def with_columns(self, base: Snapshot, changes: ColumnChanges) -> WriteJob:
        """Return the job, planned on a preview of `changes`, as one that makes them on `base`."""
        if not changes.operations:
            return self
        return self.model_copy(update={"base": base.epoch, "columns": changes})


def plan_write(
    location: Location,
    base: Snapshot | None,
    mode: WriteMode,
    *,
    create: CreateTable | None = None,
    replace: bool = False,
    where: Predicate | None = None,
    settings: WriteSettings | None = None,
    commit: CommitSettings | None = None,
    parameters: dict[str, str] | None = None,
    limits: Limits = LIMITS,
    agreed: StatementTime | None = None,
) -> WriteJob:
    """Plan a write to the table at `location`, as of `base` (None: no database yet).

    A table that does not exist is created in the same epoch when `create` describes it. With
    `replace`, an existing table is dropped in that epoch, too, and columns of the same name and
    type keep their ids. An overwrite replaces the rows that `where` selects (None: all). `limits`
    are those of the log, if they differ from the usual ones. `agreed` returns the time of the
    statement (None: `Agreement.statement_time`), and is asked if something expires in the table.
    `statements.commit.commit_written` commits every kind of write.

    Raises NotFoundError when `create` is absent and the table does not exist, or was dropped after
    `location` was resolved. Raises InvalidInputError for a store that cannot commit, for settings
    of another type, and for a new database in a folder that holds data of another format.
    """
    check_settings(settings, commit, may_lease=True)
    location.store.require_writable()
    if base is None and create is not None:
        prepare_place(location.store, lone_table=True)
    table = None if base is None else location.find(base)
    if table is not None and not (replace and create is not None):
        create, target = None, target_of(table, limits)
    elif create is not None:
        create = create if table is None else with_kept_ids(create, table)
        target = _new_target(create, location, limits)
    elif base is not None:
        create, target = None, target_of(location.require(base), limits)
    else:
        raise NotFoundError(f"There is no table at {location.url}; create it first.")
    job = WriteJob(
        address=location.store.address,
        target=target,
        mode=mode,
        create=create,
        columns=ColumnChanges(),  # pydantic then builds this model once, before that of the job
        replaced_table=None if table is None or create is None else table.id,
        where=None if where is None else to_json(where),
        create_database=base is None,
        base=0 if base is None else base.epoch,
        transaction=new_transaction_id(),
        job_id=new_job_id(),
        settings=settings or WriteSettings(),
        commit=commit or CommitSettings(),
        parameters=parameters or {},
    )
    return _begun(job, base, table, agreed or Log(location.store).agreement.statement_time)


def _begun(
    job: WriteJob, base: Snapshot | None, table: TableState | None, agreed: StatementTime
) -> WriteJob:
    """Return the job with the time of its statement, if something expires in its table.

    Raises InvalidInputError, before the first row, if its rows are to expire at a time that no
    column can say.
    """
    written = job.create or table
    assert written is not None, "A job writes to a table."
    if base is not None and written.lifetimes is not None:
        job = job.model_copy(update={"time": agreed(base, table)})
    elif job.settings.ttl is not None:
        job = job.model_copy(update={"time": first_time(clock.now_ms())})
    job.expiry()
    return job


def take_lease(
    log: Log,
    base: Snapshot | None,
    job_id: str,
    settings: WriteSettings | None,
    commit: CommitSettings | None,
) -> None:
    """Take a lease that keeps what a job reads and writes from vacuum, if its settings ask for one.

    Call it before the first file is written. `base` is the state that the job is planned on. The
    lease ends with the commit, or when its time is over. Raises InvalidInputError when the job
    expects an epoch to be the newest, because the lease itself is an epoch after it. Raises the
    errors of `Log.commit`.
    """
    hours = None if settings is None else settings.lease_hours
    if hours is None or base is None:
        return
    if commit is not None and commit.expect_epoch is not None:
        raise InvalidInputError(
            "A lease commits an epoch first, so it excludes expect_epoch; leave one of them out."
        )
    until = log.agreement.time(base).present_ms + int(hours * 3_600_000)
    lease = Lease(job=job_id, epoch=base.epoch, until_ms=until)
    log.commit(Change(new_transaction_id(), "lease", (lease,), fresh=True), base)


def end_of_lease(base: int, job_id: str, settings: WriteSettings | None) -> tuple[Operation, ...]:
    """Return the operations that end the lease of a job on an epoch, if it has one."""
    leased = settings is not None and settings.lease_hours is not None
    return (Lease(job=job_id, epoch=base, until_ms=0),) if leased else ()


def target_of(table: TableState, limits: Limits) -> WriteTarget:
    """Return the write target for an existing table. `limits` are those of its log.

    Static columns are left out, because RowSets do not store them.
    """
    schema = stored_schema(table.schema)
    return WriteTarget(
        table=table.id,
        name=table.name,
        prefix=table.prefix,
        table_schema=schema,
        schema_id=table.schema_id,
        sort_key=table.sort_key,
        bloom_columns=bloom_columns(table.properties, schema, table.primary_key),
        invalid_text=text_policy(table.properties),
        partition_layout_id=table.partition_layout_id,
        partition_fields=table.partition_fields,
        inline_rowset_bytes=limits.inline_rowset_bytes,
        constraints=table.constraints,
        sort_order_id=table.sort_order_id,
        primary_key=tuple(f.id for f in key_fields(table.primary_key, schema)),
        expires=_expires(table.lifetimes, schema),
    )


def _new_target(create: CreateTable, location: Location, limits: Limits) -> WriteTarget:
    key, schema = create.primary_key or (), stored_schema(create.table_schema)
    return WriteTarget(
        table=create.table,
        name=create.name,
        prefix=table_prefix(create.table),
        table_schema=schema,
        sort_key=create.sort_key,
        bloom_columns=bloom_columns(by_name(create.properties, schema), schema, key),
        invalid_text=text_policy(create.properties),
        partition_layout_id=1 if create.partition_fields else 0,
        partition_fields=create.partition_fields or (),
        inline_rowset_bytes=limits.inline_rowset_bytes,
        constraints=create.constraints or (),
        primary_key=tuple(field.id for field in key_fields(key, schema)),
        expires=_expires(create.lifetimes, schema),
    )


def _expires(lifetimes: Lifetimes | None, schema: TableSchema) -> int | None:
    column = expires_column(lifetimes, schema)
    return None if column is None else column.id
