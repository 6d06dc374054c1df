"""The options of a read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from colonnade.manifests.errors import InvalidInputError
from colonnade.spark_ext.options.names import FEED, READING
from colonnade.spark_ext.options.user_options import NEEDS_JAR, TableOptions, UserOptions
from colonnade.tableformat.table.epochs.tags_and_pins import is_tag
from colonnade.tableformat.table.epochs.time_travel import NOW, timestamp_ms


@dataclass(frozen=True, slots=True)
class ReadOptions(TableOptions):
    """The options of a read.

    At most one of `epoch`, `tag` and `timestamp` selects the state to read; the default is the
    newest. The option `versionAsOf`, Delta's name, gives an epoch if it is a whole number, and
    otherwise a tag. The option `timestampAsOf` is ISO 8601, as Spark prints it. Without an offset
    it is UTC, because a Python data source does not learn the session's time zone. `where` is a
    predicate in SQL text; the read returns the rows where it is true.
    `schema_epoch` is the epoch whose columns the read has, if it is not the one that is read.
    `seen_at` is the time that the state is seen at, which says what has expired: "now", or a time
    like `timestampAsOf`.
    """

    epoch: int | None = None
    tag: str | None = None
    timestamp: str | None = None
    schema_epoch: int | None = None
    where: str | None = None
    seen_at: str | None = None


def parse_read_options(options: Mapping[str, str]) -> ReadOptions:
    """Parse the options of a read. Raises InvalidInputError that names the wrong option."""
    stated = UserOptions.among(options, (*READING, FEED), "reading")
    if stated.truth(FEED, False):
        raise InvalidInputError(f"Option {FEED} {NEEDS_JAR}")
    if "versionAsOf" in stated and "epoch" in stated:
        raise InvalidInputError("Options versionAsOf and epoch mean the same; give only one.")
    name = "versionAsOf" if "versionAsOf" in stated else "epoch"
    version, timestamp = stated.text(name), stated.text("timestampAsOf")
    tag = version if name == "versionAsOf" and version is not None and is_tag(version) else None
    epoch = stated.integer(name, 0) if tag is None else None
    if version is not None and timestamp is not None:
        raise InvalidInputError(
            f"Options {name} and timestampAsOf exclude each other; give only one."
        )
    if timestamp is not None:
        timestamp_ms(timestamp)
    return ReadOptions(
        stated.path,
        epoch,
        tag,
        timestamp,
        stated.integer("schemaEpoch", 0),
        stated.text("where"),
        _seen_at(stated.text("seenAt")),
        storage=stated.storage,
    )


def _seen_at(text: str | None) -> str | None:
    if text is None:
        return None
    if text.strip().casefold() == NOW:
        return NOW
    timestamp_ms(text)
    return text


def epoch_or_tag(version: int | str) -> tuple[int | None, str | None]:
    """Return a version as (epoch, None) or (None, tag), by the rule of `versionAsOf`."""
    if isinstance(version, str) and is_tag(version):
        return None, version
    return int(version) if isinstance(version, str) else version, None
