"""Parse the options of the data source, once on the driver, and refuse unknown ones.

Spark passes options with lower-case keys and text values. All options except `path` are
Colonnade's, so a misspelt option is refused instead of ignored.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.column_names import split_list, split_names
from colonnade.manifests.model.lifetimes import lifetime_ms
from colonnade.manifests.sizes import parse_size
from colonnade.manifests.store import StoreAddress, is_url
from colonnade.manifests.store.option_text import option_texts, option_values
from colonnade.tableformat.keys.policy import on_duplicate
from colonnade.tableformat.table.design.other_formats import without_peer_words
from colonnade.tableformat.table.epochs.history import moment
from colonnade.tableformat.table.epochs.tags_and_pins import is_tag
from colonnade.tableformat.table.epochs.time_travel import NOW, timestamp_ms
from colonnade.tableformat.write.settings import CommitSettings, WriteSettings

if TYPE_CHECKING:
    from colonnade.tableformat.table.epochs.epoch_range import Inclusive

_READING = ("versionAsOf", "epoch", "timestampAsOf", "schemaEpoch", "seenAt", "where")
_WRITING = (
    "maxRecordsPerFile",
    "targetFileSize",
    "userMetadata",
    "sortKey",
    "primaryKey",
    "onDuplicate",
    "partitionBy",
    "partitionOverwriteMode",
    "replaceWhere",
    "overwriteSchema",
    "mergeSchema",
    "ignoreUnknownColumns",
    "txnAppId",
    "txnVersion",
    "expectEpoch",
    "leaseHours",
    "ttl",
)
EVOLVING = ("mergeSchema", "ignoreUnknownColumns")
"""Options that a rule of the jar carries out before Spark compares columns."""
_FEED = "readChangeFeed"
_CHANGES = (
    _FEED,
    "startingVersion",
    "endingVersion",
    "startingTimestamp",
    "endingTimestamp",
    "startingBoundInclusive",
    "endingBoundInclusive",
    "deduplicationMode",
    "computeUpdates",
    "also",
    "allowFuture",
    "schemaEpoch",
    "consumer",
)
"""Options of a read of changes, by the names of Delta and Spark where they have one."""
_OF_CONSUMER = (
    "startingVersion",
    "endingVersion",
    "startingTimestamp",
    "endingTimestamp",
    "startingBoundInclusive",
    "endingBoundInclusive",
    "allowFuture",
)
"""Those that say which epochs are read. A consumer and its transaction say it without them."""
_IGNORING = ("ignoreDeletes", "ignoreChanges", "skipChangeCommits")
_STREAM = (
    _FEED,
    "startingVersion",
    "startingTimestamp",
    "computeUpdates",
    "maxFilesPerTrigger",
    "maxBytesPerTrigger",
    "maxRowsPerTrigger",
    *_IGNORING,
    "failOnDataLoss",
    "failOnNewColumns",
)
"""Options of a stream that reads a table, by the names of Delta where it has one."""
_FILES_OF_A_TRIGGER = 1000
"""A trigger takes at most this many RowSets if no limit is given."""
_OF_CATALOG = "owner"
"""An option that Spark's own catalog adds; the jar removes it, so here the jar is missing."""
_NEEDS_JAR = "needs the jar, which colonnade.enable(spark) adds to a session."
_STORAGE = "storage."
"""The prefix of options for the store: `storage.key` is the storage option `key`."""
_SPELLING = {name.lower(): name for name in (*_READING, *_WRITING, *_CHANGES, *_STREAM)}


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """The options of a read.

    At most one of `epoch`, `tag` and `timestamp` selects the state to read; the default is the
    newest. The option `versionAsOf`, Delta's name, gives an epoch if it is a whole number, and
    otherwise a tag. The option `timestampAsOf` is ISO 8601, as Spark prints it. Without an offset
    it is UTC, because a Python data source does not learn the session's time zone. `where` is a
    predicate in SQL text; the read returns the rows where it is true.
    `schema_epoch` is the epoch whose columns the read has, if it is not the one that is read.
    `seen_at` is the time that the state is seen at, which says what has expired: "now", or a time
    like `timestampAsOf`. `storage.<name>` is an option of the store, as its fsspec library names
    it.
    """

    path: str
    epoch: int | None = None
    tag: str | None = None
    timestamp: str | None = None
    schema_epoch: int | None = None
    where: str | None = None
    storage: Mapping[str, Any] = field(default_factory=dict, repr=False)
    seen_at: str | None = None

    @property
    def address(self) -> StoreAddress:
        """The path with its storage options. Raises InvalidInputError."""
        return StoreAddress.of(self.path, self.storage)


@dataclass(frozen=True, slots=True)
class SparkWriteOptions:
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
    `storage.<name>` is an option of the store.
    """

    path: str
    settings: WriteSettings = field(default_factory=WriteSettings)
    commit: CommitSettings = field(default_factory=CommitSettings)
    sort_key: tuple[str, ...] = ()
    replace_where: str | None = None
    partition_by: tuple[str, ...] = ()
    partition_overwrite_mode: str | None = None
    overwrite_schema: bool = False
    merge_schema: bool = False
    ignore_unknown_columns: bool = False
    storage: Mapping[str, Any] = field(default_factory=dict, repr=False)
    primary_key: tuple[str, ...] = ()

    @property
    def address(self) -> StoreAddress:
        """The path with its storage options. Raises InvalidInputError."""
        return StoreAddress.of(self.path, self.storage)


def parse_read_options(options: Mapping[str, str]) -> ReadOptions:
    """Parse the options of a read. Raises InvalidInputError that names the wrong option."""
    path, given, storage = _path_and_options(options, (*_READING, _FEED), "reading")
    if truth(f"Option {_FEED}", given.get(_FEED.lower(), "false")):
        raise InvalidInputError(f"Option {_FEED} {_NEEDS_JAR}")
    if "versionasof" in given and "epoch" in given:
        raise InvalidInputError("Options versionAsOf and epoch mean the same; give only one.")
    epoch_option = "versionAsOf" if "versionasof" in given else "epoch"
    version = given.get(epoch_option.lower())
    named = epoch_option == "versionAsOf" and version is not None and is_tag(version)
    tag = version if named else None
    epoch = _integer(epoch_option, version, 0) if tag is None else None
    timestamp = given.get("timestampasof")
    if version is not None and timestamp is not None:
        raise InvalidInputError(
            f"Options {epoch_option} and timestampAsOf exclude each other; give only one."
        )
    if timestamp is not None:
        timestamp_ms(timestamp)
    schema_epoch = _integer("schemaEpoch", given.get("schemaepoch"), 0)
    seen_at = given.get("seenat")
    if seen_at is not None and seen_at.strip().casefold() == NOW:
        seen_at = NOW
    elif seen_at is not None:
        timestamp_ms(seen_at)
    where = given.get("where")
    return ReadOptions(path, epoch, tag, timestamp, schema_epoch, where, storage, seen_at)


@dataclass(frozen=True, slots=True)
class ChangeOptions:
    """The options of a read of changes.

    `startingVersion` and `endingVersion` are an epoch or a tag, `startingTimestamp` and
    `endingTimestamp` a time like `timestampAsOf`. `startingBoundInclusive` and
    `endingBoundInclusive` say whether a bound belongs to the range. With the `deduplicationMode`
    `netChanges`, the range is one change. `also` lists what else counts as a change. An update is
    a row before it and a row after it, or without `computeUpdates` a deleted and an inserted row.
    A `consumer` reads what it has not read, and has no other range.
    """

    path: str
    start: str | datetime | None
    end: str | datetime | None
    inclusive: Inclusive
    net: bool
    updates: bool
    also: tuple[str, ...]
    allow_future: bool
    schema_epoch: int | None
    consumer: str | None = None
    storage: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def address(self) -> StoreAddress:
        """The path with its storage options. Raises InvalidInputError."""
        return StoreAddress.of(self.path, self.storage)


_INCLUSIVE: dict[tuple[bool, bool], Inclusive] = {
    (True, True): "both",
    (True, False): "start",
    (False, True): "end",
    (False, False): "neither",
}


def parse_change_options(options: Mapping[str, str]) -> ChangeOptions:
    """Parse the options of a read of changes. Raises InvalidInputError that names a wrong one."""
    path, given, storage = _path_and_options(options, _CHANGES, "reading changes")

    def chosen(name: str, default: str) -> bool:
        return truth(f"Option {name}", given.get(name.lower(), default))

    if not chosen(_FEED, "true"):
        raise InvalidInputError(f"Option {_FEED} must be true for a read of changes.")
    consumer = given.get("consumer")
    for name in _OF_CONSUMER:
        if consumer is not None and name.lower() in given:
            raise InvalidInputError(
                f"Options consumer and {name} exclude each other: a consumer reads all that it has"
                " not read."
            )
    inclusive = chosen("startingBoundInclusive", "true"), chosen("endingBoundInclusive", "true")
    return ChangeOptions(
        path,
        _bound(given, "starting"),
        _bound(given, "ending"),
        _INCLUSIVE[inclusive],
        _net(given.get("deduplicationmode", "dropCarryovers")),
        chosen("computeUpdates", "true"),
        split_list(given.get("also", "")),
        chosen("allowFuture", "false"),
        _integer("schemaEpoch", given.get("schemaepoch"), 0),
        consumer,
        storage,
    )


def _net(mode: str) -> bool:
    """Return whether a mode asks for net changes. No row of a feed is one that did not change."""
    words = {"none": False, "dropcarryovers": False, "netchanges": True}
    if mode.strip().lower() not in words:
        raise InvalidInputError(
            f"Option deduplicationMode must be none, dropCarryovers or netChanges, not {mode!r}."
        )
    return words[mode.strip().lower()]


def _bound(given: Mapping[str, str], which: str) -> str | datetime | None:
    """Return one bound of a range of epochs; a time is in UTC unless it has an offset."""
    version, time = given.get(f"{which}version"), given.get(f"{which}timestamp")
    if version is not None and time is not None:
        raise InvalidInputError(
            f"Options {which}Version and {which}Timestamp exclude each other; give only one."
        )
    if time is None:
        return None if version is None else version.strip()
    return moment(timestamp_ms(time))


@dataclass(frozen=True, slots=True)
class StreamOptions:
    """The options of a stream that reads a table.

    `start` is the `startingVersion` (an epoch, a tag or `latest`) or the `startingTimestamp`. The
    limits of a trigger are `maxFilesPerTrigger` (RowSets), `maxBytesPerTrigger` (bytes, or text
    such as `10g`) and `maxRowsPerTrigger`. With `readChangeFeed`, the stream has the changes of the
    table, as `ChangeOptions` says. Without it, `ignoreDeletes`, `ignoreChanges` and
    `skipChangeCommits` say what becomes of epochs that delete or update rows. `failOnDataLoss` and
    `failOnNewColumns` say what stops the stream.
    """

    path: str
    start: str | datetime | None
    changes: bool
    updates: bool
    ignore_deletes: bool
    ignore_changes: bool
    skip_changes: bool
    fail_on_loss: bool
    fail_on_new_columns: bool
    files: int | None
    bytes: int | None
    rows: int | None
    storage: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def address(self) -> StoreAddress:
        """The path with its storage options. Raises InvalidInputError."""
        return StoreAddress.of(self.path, self.storage)


def parse_stream_options(options: Mapping[str, str]) -> StreamOptions:
    """Parse the options of a stream. Raises InvalidInputError that names a wrong one."""
    path, given, storage = _path_and_options(options, _STREAM, "reading a stream")

    def chosen(name: str, default: str) -> bool:
        return truth(f"Option {name}", given.get(name.lower(), default))

    changes = chosen(_FEED, "false")
    ignored = [chosen(name, "false") for name in _IGNORING]
    deletes, updates, skips = ignored
    for name, asked in zip(_IGNORING, ignored, strict=True):
        if changes and asked:
            raise InvalidInputError(
                f"Options {_FEED} and {name} exclude each other: a stream of changes shows all of"
                " them."
            )
    if not changes and "computeupdates" in given:
        raise InvalidInputError(
            f"Option computeUpdates needs {_FEED}, because only it has updates."
        )
    files, rows = (
        _integer(name, given.get(name.lower()), 1)
        for name in ("maxFilesPerTrigger", "maxRowsPerTrigger")
    )
    size = given.get("maxbytespertrigger")
    most = None if size is None else _byte_size("maxBytesPerTrigger", size)
    if files is None and rows is None and most is None:
        files = _FILES_OF_A_TRIGGER
    return StreamOptions(
        path,
        _bound(given, "starting"),
        changes,
        chosen("computeUpdates", "true"),
        deletes,
        updates,
        skips,
        chosen("failOnDataLoss", "true"),
        chosen("failOnNewColumns", "true"),
        files,
        most,
        rows,
        storage,
    )


def parse_write_options(options: Mapping[str, str]) -> SparkWriteOptions:
    """Parse the options of a write. Raises InvalidInputError that names the wrong option."""
    path, given, storage = _path_and_options(options, _WRITING, "writing")
    settings = WriteSettings()
    if (size := given.get("targetfilesize")) is not None:
        settings = settings.model_copy(update={"target_bytes": _byte_size("targetFileSize", size)})
    if (chosen := given.get("onduplicate")) is not None:
        settings = settings.model_copy(update={"on_duplicate": on_duplicate(chosen)})
    if (ttl := given.get("ttl")) is not None:
        lifetime_ms(ttl, "Option ttl")
        settings = settings.model_copy(update={"ttl": ttl})
    records = _integer("maxRecordsPerFile", given.get("maxrecordsperfile"), 1)
    return SparkWriteOptions(
        path,
        settings.model_copy(update={"max_records": records, "lease_hours": _lease(given)}),
        _commit_settings(given),
        split_list(given.get("sortkey", "")),
        given.get("replacewhere"),
        split_list(given.get("partitionby", "")),
        _overwrite_mode(given.get("partitionoverwritemode")),
        truth("Option overwriteSchema", given.get("overwriteschema", "false")),
        *_evolving(given),
        storage,
        split_names(given.get("primarykey", "")),
    )


def _evolving(given: Mapping[str, str]) -> tuple[bool, bool]:
    """Return `mergeSchema` and `ignoreUnknownColumns`. Refuse options that exclude each other."""
    merges, ignores = (
        truth(f"Option {name}", given.get(name.lower(), "false")) for name in EVOLVING
    )
    if merges and ignores:
        raise InvalidInputError(
            "Options mergeSchema and ignoreUnknownColumns exclude each other: new columns are"
            " either added or left out."
        )
    for name, chosen in zip(EVOLVING, (merges, ignores), strict=True):
        if chosen and truth("Option overwriteSchema", given.get("overwriteschema", "false")):
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


def storage_of(options: Mapping[str, str]) -> dict[str, Any]:
    """Return the options of the store among those of a read or write, without their prefix.

    Raises InvalidInputError that names the option whose text is not valid.
    """
    return option_values(
        {
            key[len(_STORAGE) :]: value
            for key, value in options.items()
            if key.lower().startswith(_STORAGE)
        }
    )


def storage_texts(address: StoreAddress) -> dict[str, str]:
    """Return the options of a store as those of a read or write, for `storage_of`.

    They may hold secrets. Raises InvalidInputError that names an option without a text.
    """
    texts = option_texts(address.storage_options)
    return {f"{_STORAGE}{name}": text for name, text in texts.items()}


def epoch_or_tag(version: int | str) -> tuple[int | None, str | None]:
    """Return a version as (epoch, None) or (None, tag), by the rule of `versionAsOf`."""
    if isinstance(version, str) and is_tag(version):
        return None, version
    return int(version) if isinstance(version, str) else version, None


def truth(what: str, text: str) -> bool:
    """Return whether a text says true.

    Raises InvalidInputError that names `what` for a text that says neither true nor false.
    """
    if text.strip().lower() not in ("true", "false"):
        raise InvalidInputError(f"{what} must be true or false, not {text!r}.")
    return text.strip().lower() == "true"


def _overwrite_mode(text: str | None) -> str | None:
    mode = None if text is None else text.strip().lower()
    if mode not in (None, "static", "dynamic"):
        raise InvalidInputError(
            f"Option partitionOverwriteMode must be static or dynamic, not {text!r}."
        )
    return mode


def _lease(given: Mapping[str, str]) -> float | None:
    text = given.get("leasehours")
    try:
        hours = None if text is None else float(text)
        return WriteSettings(lease_hours=hours).lease_hours
    except ValueError as error:
        raise InvalidInputError(
            f"Option leaseHours must be a number of hours above 0 and up to 8760, not {text!r}."
        ) from error


def _commit_settings(given: Mapping[str, str]) -> CommitSettings:
    app, version = given.get("txnappid"), _integer("txnVersion", given.get("txnversion"), 0)
    if (app is None) != (version is None):
        raise InvalidInputError("Options txnAppId and txnVersion name a batch together; give both.")
    return CommitSettings(
        batch=None if app is None or version is None else (app, version),
        expect_epoch=_integer("expectEpoch", given.get("expectepoch"), 0),
        metadata=given.get("usermetadata"),
    )


def _path_and_options(
    options: Mapping[str, str], allowed: tuple[str, ...], purpose: str
) -> tuple[str, dict[str, str], dict[str, Any]]:
    """Return the path, the options by lower-case name, and the options of the store."""
    given = {
        key.lower(): value for key, value in options.items() if not key.lower().startswith(_STORAGE)
    }
    if "paths" in given:
        raise InvalidInputError("Colonnade reads one table at a time; load each path by itself.")
    if _OF_CATALOG in given:
        raise InvalidInputError(f"A Colonnade table in a catalog {_NEEDS_JAR}")
    path = given.pop("path", "")
    if not path:
        raise InvalidInputError(
            "No path was given: name the table, as in .load(path). A table in a catalog"
            f" {_NEEDS_JAR}"
        )
    _refuse_lost_folder(path)
    known = {name.lower() for name in allowed}
    others = without_peer_words(
        {name: value for name, value in given.items() if name not in known}, "Option"
    )
    given = {name: value for name, value in given.items() if name in known or name in others}
    for key in given:
        if key not in known:
            raise InvalidInputError(_refusal(key, allowed, purpose))
    return path, given, storage_of(options)


def _refuse_lost_folder(path: str) -> None:
    """Refuse a relative path on Spark Connect.

    Its server runs Python in a temporary folder of the session, named by the session's id. Files
    written there are deleted with the session.
    """
    session = os.environ.get("SPARK_JOB_ARTIFACT_UUID")
    relative = not path.startswith(("/", "~")) and not is_url(path)
    if relative and session is not None and session in os.getcwd():
        raise InvalidInputError(
            f"{path!r} is a relative path, which a Spark Connect server cannot resolve; give an"
            " absolute path."
        )


def _refusal(key: str, allowed: tuple[str, ...], purpose: str) -> str:
    known = ", ".join(allowed)
    if key in _SPELLING:
        return f"Option {_SPELLING[key]} is not for {purpose}; its options are {known}."
    near = get_close_matches(key, [name.lower() for name in allowed], n=1)
    hint = f"did you mean {_SPELLING[near[0]]}? The" if near else "the"
    return f"Option {key!r} is unknown; {hint} options for {purpose} are {known}."


def _integer(name: str, text: str | None, least: int) -> int | None:
    if text is None:
        return None
    if not re.fullmatch(r"\s*\d{1,18}\s*", text, re.ASCII) or int(text) < least:
        raise InvalidInputError(f"Option {name} must be a whole number from {least}, not {text!r}.")
    return int(text)


def _byte_size(name: str, text: str) -> int:
    try:
        size = parse_size(text)
    except ValueError:
        size = 0
    if size < 1:
        raise InvalidInputError(
            f"Option {name} must be a number of bytes, or like 64m or 1g, not {text!r}."
        )
    return size
