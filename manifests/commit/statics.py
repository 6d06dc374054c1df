"""What a change of a table also does to the table of its static values. Pure.

A statement plans the operations on its own table alone. The matching operations on the table of
static values are added here, so that no statement can forget them.
Spec: docs/spec/static-columns.md
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, replace
from typing import get_args

from colonnade.manifests.commit.change import Change
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.ids import TableId
from colonnade.manifests.model.columns.statics import (
    SUFFIX,
    followed_properties,
    problem_of,
    static_fields,
    statics_id,
    statics_schema,
)
from colonnade.manifests.model.entries import SortField
from colonnade.manifests.model.lifetimes import Lifetimes
from colonnade.manifests.model.operations import (
    AddCheck,
    AlterSchema,
    CreateTable,
    DropTable,
    Operation,
    RenameTable,
    Restore,
    SetLifetimes,
    SetPartitionLayout,
    SetPrimaryKey,
    SetProperties,
    SetSortOrder,
)
from colonnade.manifests.model.primary_key import PrimaryKey, key_fields
from colonnade.manifests.model.schema import TableSchema
from colonnade.manifests.state.snapshot import Snapshot


def with_static_values(change: Change, base: Snapshot) -> Change:
    """Return a change that was planned on a state, with its operations on static values.

    Operations on static values that the change already has are not changed. Raises
    InvalidInputError that says why a table cannot have its new columns.
    """
    designs = [op for op in change.ops if isinstance(op, _DESIGNS)]
    if not designs:
        return change
    there = {op.table for op in designs}
    _refuse_single(designs, base, there)
    tables = _Tables(base)
    ops: list[Operation] = []
    for operation in change.ops:
        ops.append(operation)
        further = tables.followed(operation) if isinstance(operation, _DESIGNS) else None
        if further is not None and further.table not in there:
            # Right after its cause, because later operations may add rows to a new table.
            ops.append(further)
    for operation in designs:
        tables.check_uses(operation)
    return replace(change, ops=tuple(ops)) if len(ops) > len(change.ops) else change


_Rule = SetPrimaryKey | SetLifetimes | SetPartitionLayout | SetSortOrder | AddCheck
_Design = CreateTable | DropTable | RenameTable | AlterSchema | Restore | SetProperties | _Rule
_DESIGNS = get_args(_Design)


@dataclass(frozen=True, slots=True)
class _Owner:
    """A table while a change designs it: its name, keys, columns, and the static values."""

    name: str
    schema: TableSchema
    properties: Mapping[str, str]
    primary_key: PrimaryKey
    partition_key: PrimaryKey = ()
    statics: TableSchema | None = None
    schema_id: int = 0


def check_uses(operation: Operation, table: str, schema: TableSchema) -> None:
    """Refuse an operation on a table that gives a static column a part that only rows can have.

    Raises InvalidInputError that names the table and the column.
    """
    static = static_fields(schema)
    for number, part in _uses(operation):
        for column in static:
            if number == column.id:
                raise InvalidInputError(
                    f"Column {column.name!r} of table {table!r} is static, so that it cannot be a"
                    f" part of {part}; name another column."
                )


class _Tables:
    """The tables of a state, as a change has designed them so far."""

    def __init__(self, base: Snapshot) -> None:
        self._base = base
        self._owners: dict[TableId, _Owner] = {}

    def check_uses(self, operation: Operation) -> None:
        owner = self._owner(TableId(getattr(operation, "table", "")))
        if owner is not None:
            check_uses(operation, owner.name, owner.schema)

    def followed(self, operation: _Design) -> _Design | None:
        """Return what a design does to the table of static values, if it does anything."""
        table = TableId(operation.table)
        if isinstance(operation, CreateTable):
            schema, key = operation.table_schema, operation.partition_key or ()
            primary_key = operation.primary_key or ()
            properties = operation.properties
            self._owners[table] = _Owner(operation.name, schema, properties, primary_key, key)
            return self._designed(table, operation.table_schema, operation.next_column_id)
        owner = self._owner(table)
        if owner is None:
            return None
        match operation:
            case DropTable():
                return DropTable(table=statics_id(table)) if owner.partition_key else None
            case RenameTable(name=name):
                self._owners[table] = replace(owner, name=name)
                if not owner.partition_key:
                    return None
                return RenameTable(table=statics_id(table), name=name + SUFFIX)
            case SetProperties(set=given, remove=removed) if owner.statics is not None:
                followed = followed_properties(given)
                gone = tuple(followed_properties(dict.fromkeys(removed, "")))
                if not (followed or gone):
                    return None
                return SetProperties(table=statics_id(table), set=followed, remove=gone)
            case AlterSchema(table_schema=schema, next_column_id=next_id):
                return self._designed(table, schema, next_id)
            case Restore(table_schema=TableSchema() as schema):
                return self._designed(table, schema, self._base.tables[table].next_column_id)
        return None

    def _owner(self, table: TableId) -> _Owner | None:
        if table not in self._owners and (known := self._base.tables.get(table)) is not None:
            statics = known.statics
            self._owners[table] = _Owner(
                known.name,
                known.schema,
                known.stored_properties,
                known.primary_key,
                known.partition_key,
                None if statics is None else statics.schema,
                0 if statics is None else statics.schema_id,
            )
        return self._owners.get(table)

    def _designed(self, table: TableId, schema: TableSchema, next_id: int) -> _Design | None:
        """Return the operation after which the static values have the columns of a table."""
        owner = self._owners[table] = replace(self._owners[table], schema=schema)
        if not owner.partition_key and not static_fields(schema):
            return None
        key = owner.partition_key or owner.primary_key[:1]
        check_static_columns(owner.name, schema, key)
        statics = statics_schema(schema, key)
        if statics == owner.statics:
            return None
        number = 0 if owner.statics is None else owner.schema_id + 1
        self._owners[table] = replace(owner, partition_key=key, statics=statics, schema_id=number)
        if owner.statics is not None:
            return AlterSchema(
                table=statics_id(table),
                table_schema=statics,
                schema_id=number,
                next_column_id=next_id,
            )
        return CreateTable(
            table=statics_id(table),
            name=owner.name + SUFFIX,
            table_schema=statics,
            next_column_id=next_id,
            properties=followed_properties(owner.properties),
            primary_key=key,
            sort_key=tuple(SortField(column=field.id) for field in key_fields(key, statics)),
            statics_of=table,
        )


def check_static_columns(table: str, schema: TableSchema, key: PrimaryKey) -> None:
    """Refuse static columns or a partition key that a table cannot have.

    Raises InvalidInputError that names the table and the column.
    """
    problem = problem_of(schema, key)
    if problem is not None:
        raise InvalidInputError(
            f"Table {table!r} cannot have these columns: {problem}; static columns belong to a"
            " partition key of NOT NULL columns, which a primary key or partition_key gives."
        )


def _uses(operation: Operation) -> Iterator[tuple[int, str]]:
    """Yield columns by their ids, each with what an operation makes it a part of."""
    match operation:
        case CreateTable():
            yield from ((each, "the primary key") for each in operation.primary_key or ())
            yield from ((each.column, "the sort key") for each in operation.sort_key)
            fields = operation.partition_fields or ()
            yield from ((each.column, "the partitioning") for each in fields)
            for constraint in operation.constraints or ():
                yield from ((each, f"{constraint.name} CHECK") for each in constraint.columns)
            yield from _lifetime_uses(operation.lifetimes)
            yield from _generated_uses(operation.table_schema)
        case AlterSchema():
            yield from _generated_uses(operation.table_schema)
        case SetPrimaryKey():
            yield from ((each, "the primary key") for each in operation.columns)
        case SetSortOrder():
            yield from ((each.column, "the sort key") for each in operation.fields)
        case SetPartitionLayout():
            yield from ((each.column, "the partitioning") for each in operation.fields)
        case AddCheck(constraint=constraint):
            yield from ((each, f"{constraint.name} CHECK") for each in constraint.columns)
        case SetLifetimes():
            yield from _lifetime_uses(operation.lifetimes)


def _lifetime_uses(lifetimes: Lifetimes | None) -> Iterator[tuple[int, str]]:
    if lifetimes is not None:
        yield from ((each, "a time to live") for each in sorted(lifetimes.named))


def _generated_uses(schema: TableSchema) -> Iterator[tuple[int, str]]:
    for column in schema.fields:
        if column.generated is not None:
            part = f"the expression of generated column {column.name!r}"
            yield from ((each, part) for each in column.generated.columns)


def _refuse_single(designs: Iterable[_Design], base: Snapshot, designed: Set[str]) -> None:
    """Refuse to design a table of static values without the table that it belongs to."""
    for operation in designs:
        restored = isinstance(operation, Restore) and operation.table_schema is None
        table = base.tables.get(TableId(operation.table))
        if restored or isinstance(operation, SetProperties) or table is None:
            continue
        if table.statics_of is not None and table.statics_of not in designed:
            owner = table.name.removesuffix(SUFFIX)
            raise InvalidInputError(
                f"Table {table.name!r} has the static values of table {owner!r}, which decides"
                f" its name, columns and rules; change {owner!r} instead."
            )
