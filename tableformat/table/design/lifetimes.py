"""Time to live as properties of a table. Pure.

Users state it by names of columns. The log keeps ids, so a column that is renamed keeps its part.
Guide: docs/lifetimes.md
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from colonnade.manifests.clock import DAY_MS
from colonnade.manifests.compaction.purge import PURGE_SHARE
from colonnade.manifests.durations import duration_text
from colonnade.manifests.errors import InvalidInputError, NotFoundError
from colonnade.manifests.model.columns.generated import generated_fields, sources_of
from colonnade.manifests.model.entries import PartitionField, SortField
from colonnade.manifests.model.lifetimes import (
    ColumnLifetime,
    Lifetimes,
    column_of,
    lifetime_ms,
    problem_of,
)
from colonnade.manifests.model.primary_key import PrimaryKey
from colonnade.manifests.model.schema import TableSchema
from colonnade.manifests.state.snapshot import TableState

TTL = "ttl"
COLUMN = "ttl.column"
EXPIRES = "ttl.expires"
GRACE = "ttl.grace"
PREFIX = "ttl."

GRACE_MS = DAY_MS
"""How long a purge waits if the table does not say it, in ms."""

_NONE = "none"
Parts = Mapping[str | int, int]
"""What properties say: by their name, or by the id of the column whose values expire.

The numbers are times in ms, and ids of columns.
"""


def is_lifetime(name: str) -> bool:
    """Return whether a property says how long something lives, so that it is not kept as text."""
    return name == TTL or (name.startswith(PREFIX) and name != PURGE_SHARE)


def divided(properties: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the properties that a table keeps as text, and those that are about lifetimes."""
    text = {name: value for name, value in properties.items() if not is_lifetime(name)}
    return text, {name: value for name, value in properties.items() if is_lifetime(name)}


def lifetime_properties(table: TableState) -> dict[str, str]:
    """Return the lifetimes of a table as properties, with the present names of its columns."""
    lives, schema = table.lifetimes, table.schema
    if lives is None:
        return {}
    shown = {}
    if lives.rows_ms is not None:
        shown[TTL] = _shown(lives.rows_ms)
    for name, number in ((COLUMN, lives.time_column), (EXPIRES, lives.expires_column)):
        if number is not None:
            shown[name] = column_of(number, schema).name
    for each in lives.columns:
        shown[PREFIX + column_of(each.column, schema).name] = _shown(each.ms)
    if lives.grace_ms != GRACE_MS:
        shown[GRACE] = _shown(lives.grace_ms) if lives.grace_ms else _NONE
    return shown


def parts_of(lives: Lifetimes | None) -> Parts:
    """Return lifetimes as the numbers that their properties stand for."""
    if lives is None:
        return {}
    grace = None if lives.grace_ms == GRACE_MS else lives.grace_ms
    stated: dict[str | int, int | None] = {
        TTL: lives.rows_ms,
        COLUMN: lives.time_column,
        EXPIRES: lives.expires_column,
        GRACE: grace,
        **{each.column: each.ms for each in lives.columns},
    }
    return {part: number for part, number in stated.items() if number is not None}


def edited(
    parts: Parts,
    schema: TableSchema,
    table: str,
    given: Mapping[str, str],
    removed: Iterable[str] = (),
) -> Parts:
    """Return the parts of lifetimes after properties of a table were set and removed.

    Raises InvalidInputError that names the property for a text that is not a time, and for a
    property that is given twice. Raises NotFoundError for a column that the table does not have.
    """
    gone = {_part(name, schema) for name in removed}
    after = {part: number for part, number in parts.items() if part not in gone}
    met = dict[str | int, str]()
    for name, text in given.items():
        part = _part(name, schema)
        if part is None:
            raise NotFoundError(
                f"Table {table!r} has no column {name.removeprefix(PREFIX)!r}, whose values"
                f" property {name!r} lets expire; name one of its columns, whose first are"
                f" {', '.join(schema.names[:5])}."
            )
        if part in met:
            raise InvalidInputError(f"Properties {met[part]!r} and {name!r} are the same one.")
        met[part] = name
        after[part] = _value(name, text, schema, table)
    return after


def lifetimes_of(
    parts: Parts, table: str, current: Lifetimes | None = None, *, now_ms: int
) -> Lifetimes | None:
    """Return the lifetimes of a table that has these parts; None if nothing expires.

    Rows that were written before `now_ms` (ms since 1970 UTC) count as written then, if the
    `current` lifetimes do not count from writes. Raises InvalidInputError that names the property
    for one that has no meaning without another one.
    """
    found = _lifetimes(parts, table)
    if found is None or not found.counts_from_write:
        return found
    known = current is not None and current.counts_from_write
    since = current.since_ms if current is not None and known else now_ms
    return found.model_copy(update={"since_ms": since})


def check_lifetimes(
    lives: Lifetimes | None,
    table: str,
    schema: TableSchema,
    key: PrimaryKey = (),
    sort_key: Sequence[SortField] = (),
    layout: Sequence[PartitionField] = (),
) -> None:
    """Raise InvalidInputError if a table with these columns cannot have these lifetimes."""
    if lives is None:
        return
    problem = problem_of(lives, schema, key, tuple(sort_key), tuple(layout))
    if problem is None:
        expiring = {each.column for each in lives.columns}
        for number in sorted(expiring):
            name = column_of(number, schema).name
            if PREFIX + name in (COLUMN, EXPIRES, GRACE, PURGE_SHARE):
                problem = (
                    f"values of a column that is named {name!r} cannot expire, because property"
                    f" {PREFIX + name!r} says something else"
                )
        for column in generated_fields(schema):
            for each in (column, *sources_of(column, schema)):
                if each.id in expiring:
                    problem = (
                        f"values of column {each.name!r} cannot expire, because the generated"
                        f" column {column.name!r} is computed"
                        + ("" if each is column else " from it")
                    )
    if problem is not None:
        raise InvalidInputError(f"Table {table!r} cannot have this time to live: {problem}.")


def check_kept(lives: Lifetimes | None, table: TableState, schema: TableSchema, done: str) -> None:
    """Refuse other columns for a table if a column is missing that its lifetimes name.

    `done` says what was to happen to the column, such as "dropped". Raises InvalidInputError.
    """
    left = {field.id for field in schema.fields}
    for number in sorted(lives.named if lives is not None else ()):
        if number not in left and lives is not None:
            column = column_of(number, table.schema).name
            named = {lives.time_column: COLUMN, lives.expires_column: EXPIRES}
            name = named.get(number, PREFIX + column)
            raise InvalidInputError(
                f"Column {column!r} of table {table.name!r} cannot be {done}, because property"
                f" {name!r} needs it; unset that property first."
            )


def check_restored(last: TableState, then: TableState) -> None:
    """Refuse to restore columns of a table that its lifetimes cannot do without.

    Raises InvalidInputError that names the column.
    """
    check_kept(last.lifetimes, last, then.schema, "left out by a restore")
    key, order, layout = then.primary_key, then.sort_key, then.partition_fields
    check_lifetimes(last.lifetimes, last.name, then.schema, key, order, layout)


def _part(name: str, schema: TableSchema) -> str | int | None:
    """Return what a property is about; None if the table does not have the column."""
    if name in (TTL, COLUMN, EXPIRES, GRACE):
        return name
    try:
        return schema.field(name.removeprefix(PREFIX)).id
    except NotFoundError:
        return None


def _value(name: str, text: str, schema: TableSchema, table: str) -> int:
    if name in (COLUMN, EXPIRES):
        try:
            return schema.named(text).id
        except NotFoundError as error:
            raise NotFoundError(
                f"Property {name!r} of table {table!r} must name one of its columns: "
                f"{error.message[0].lower()}{error.message[1:]}"
            ) from error
    if name == GRACE and text.strip().casefold() == _NONE:
        return 0
    return lifetime_ms(text, f"Property {name!r}", ", or none" if name == GRACE else "")


def _lifetimes(parts: Parts, table: str) -> Lifetimes | None:
    columns = {part: ms for part, ms in parts.items() if isinstance(part, int)}
    counts = TTL in parts or bool(columns)
    if COLUMN in parts and not counts:
        raise InvalidInputError(
            f"Table {table!r} has property {COLUMN!r} and no time that is counted from that column;"
            f" set {TTL!r}, or unset {COLUMN!r}."
        )
    if not counts and EXPIRES not in parts:
        if GRACE in parts:
            raise InvalidInputError(
                f"Table {table!r} has property {GRACE!r} and nothing that expires; set {TTL!r} or"
                f" {EXPIRES!r}, or unset {GRACE!r}."
            )
        return None
    return Lifetimes(
        rows_ms=parts.get(TTL),
        time_column=parts.get(COLUMN),
        expires_column=parts.get(EXPIRES),
        columns=tuple(ColumnLifetime(column=n, ms=ms) for n, ms in sorted(columns.items())),
        grace_ms=parts.get(GRACE, GRACE_MS),
    )


def _shown(ms: int) -> str:
    return duration_text(-(-ms // 1000))
