"""The options of a write."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.column_names import split_list, split_names
from colonnade.manifests.model.lifetimes import lifetime_ms
from colonnade.spark_ext.options.names import EVOLVING, WRITING
from colonnade.spark_ext.options.user_options import TableOptions, UserOptions
from colonnade.tableformat.keys.policy import parse_on_duplicate
from colonnade.tableformat.write.settings import CommitSettings, WriteSettings


@dataclass(frozen=True, slots=True)
class SparkWriteOptions(TableOptions):
    """The options of a write.

    `maxRecordsPerFile` limits the rows of a RowSet, and `targetFileSize` (bytes, or text such as
    `64m`) its stored size. `userMetadata` is a note that `history()` shows with the epoch.
    `sortKey` (`a, b desc`), `primaryKey` (`a, b`) and `partitionBy` (`days(ts), bucket(16, id)`)
    are for a table that the write creates. `onDuplicate` says what happens to rows whose primary
    key is there.

    `replaceWhere` is a predicate in SQL text: an overwrite then replaces only the rows that it
    selects. With `partitionOverwriteMode` `dynamic` an overwrite replaces only the partitions that
    get new rows. With `overwriteSchema` it also replaces the columns of the table.

    With `mergeSchema` the table gets the columns that it lacks, and wider types. With
    `ignoreUnknownColumns` the write leaves out the columns that the table lacks. `EVOLVING` says
    who carries them out.

    `txnAppId` and `txnVersion` name a batch, which is committed at most once. With `expectEpoch`
    the write fails unless the database is at that epoch. `leaseHours` is how long vacuum keeps the
    files that the write needs. `ttl` says when the rows expire that do not state it themselves.
    """

    settings: WriteSettings = field(default_factory=WriteSettings)
    commit: CommitSettings = field(default_factory=CommitSettings)
    sort_key: tuple[str, ...] = ()
    replace_where: str | None = None
    partition_by: tuple[str, ...] = ()
    partition_overwrite_mode: str | None = None
    overwrite_schema: bool = False
    merge_schema: bool = False
    ignore_unknown_columns: bool = False
    primary_key: tuple[str, ...] = ()


def parse_write_options(options: Mapping[str, str]) -> SparkWriteOptions:
    """Parse the options of a write. Raises InvalidInputError that names the wrong option."""
    stated = UserOptions.among(options, WRITING, "writing")
    return SparkWriteOptions(
        stated.path,
        _settings(stated),
        _commit_settings(stated),
        split_list(stated.text("sortKey") or ""),
        stated.text("replaceWhere"),
        split_list(stated.text("partitionBy") or ""),
        _overwrite_mode(stated.text("partitionOverwriteMode")),
        stated.truth("overwriteSchema", False),
        *_evolving(stated),
        split_names(stated.text("primaryKey") or ""),
        storage=stated.storage,
    )


def _settings(stated: UserOptions) -> WriteSettings:
    settings = WriteSettings()
    if (size := stated.byte_size("targetFileSize")) is not None:
        settings = settings.model_copy(update={"target_bytes": size})
    if (chosen := stated.text("onDuplicate")) is not None:
        settings = settings.model_copy(update={"on_duplicate": parse_on_duplicate(chosen)})
    if (ttl := stated.text("ttl")) is not None:
        lifetime_ms(ttl, "Option ttl")
        settings = settings.model_copy(update={"ttl": ttl})
    records, lease = stated.integer("maxRecordsPerFile", 1), _lease(stated.text("leaseHours"))
    return settings.model_copy(update={"max_records": records, "lease_hours": lease})


def _evolving(stated: UserOptions) -> tuple[bool, bool]:
    """Return `mergeSchema` and `ignoreUnknownColumns`. Refuse options that exclude each other."""
    merges, ignores = (stated.truth(name, False) for name in EVOLVING)
    if merges and ignores:
        raise InvalidInputError(
            "Options mergeSchema and ignoreUnknownColumns exclude each other: new columns are"
            " either added or left out."
        )
    for name, chosen in zip(EVOLVING, (merges, ignores), strict=True):
        if chosen and stated.truth("overwriteSchema", False):
            raise InvalidInputError(
                f"Options {name} and overwriteSchema exclude each other: the table gets the columns"
                " of the rows."
            )
    return merges, ignores


def refuse_evolving(options: SparkWriteOptions) -> None:
    """Refuse the options that only the jar carries out. Raises InvalidInputError."""
    for name, chosen in zip(
        EVOLVING, (options.merge_schema, options.ignore_unknown_columns), strict=True
    ):
        if chosen:
            raise InvalidInputError(
                f"Option {name} needs the jar and its extension, which colonnade.configure(builder)"
                " adds to a session."
            )


def _overwrite_mode(text: str | None) -> str | None:
    mode = None if text is None else text.strip().lower()
    if mode not in (None, "static", "dynamic"):
        raise InvalidInputError(
            f"Option partitionOverwriteMode must be static or dynamic, not {text!r}."
        )
    return mode


def _lease(text: str | None) -> float | None:
    try:
        hours = None if text is None else float(text)
        return WriteSettings(lease_hours=hours).lease_hours
    except ValueError as error:
        raise InvalidInputError(
            f"Option leaseHours must be a number of hours above 0 and up to 8760, not {text!r}."
        ) from error


def _commit_settings(stated: UserOptions) -> CommitSettings:
    app, version = stated.text("txnAppId"), stated.integer("txnVersion", 0)
    if (app is None) != (version is None):
        raise InvalidInputError("Options txnAppId and txnVersion name a batch together; give both.")
    return CommitSettings(
        batch=None if app is None or version is None else (app, version),
        expect_epoch=stated.integer("expectEpoch", 0),
        metadata=stated.text("userMetadata"),
    )
