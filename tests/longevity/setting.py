"""Where processes work: a new database on disk or in a bucket, and a place for what they note."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import colonnade
from colonnade.manifests.store import StoreAddress
from tests.longevity.record import read_lines
from tests.longevity.roles import Role
from tests.setup.minio import Minio

RETENTION_S = 4.0
"""Longer than most writes take on a disk, and short, so that vacuum has work."""

FAR_RETENTION_S = 15.0
"""The retention in a bucket, where a write takes longer. Its log is trusted for ten seconds."""


@dataclass(frozen=True)
class Setting:
    """A database, the folder of all records, and the properties of its tables."""

    place: StoreAddress
    records: Path
    properties: Mapping[str, str]


@dataclass(frozen=True)
class Play:
    """Who works at the same time on which tables, how that is told, and what was wrong with it.

    `begin` makes the tables, for a seed. `loaded` names a module to load before all.
    """

    seats: Mapping[str, Role]
    begin: Callable[[Setting, int], None]
    tell: Callable[[Path], str]
    judge: Callable[[StoreAddress, Path], Iterator[str]]
    loaded: str


def settle(folder: Path, server: Minio | None = None) -> Setting:
    """Make a new database in a folder or on a server."""
    records, retention_s = folder / "records", RETENTION_S
    place = StoreAddress.of(folder / "db")
    if server is not None:
        place = StoreAddress.of(f"s3://{server.new_bucket()}/db", server.options())
        retention_s = FAR_RETENTION_S
    records.mkdir()
    colonnade.create_database(place)
    properties = {"retention.hours": str(retention_s / 3600), "compaction.min-rowsets": "4"}
    return Setting(place, records, properties)


def tell_rounds(records: Path) -> str:
    """What schedulers and readers did."""
    rounds = list(read_lines(records, "scheduler"))
    return (
        f"{len(rounds)} rounds with {sum(r['groups'] for r in rounds)} groups compacted,"
        f" {sum(r['conflicts'] for r in rounds)} dropped and"
        f" {sum(r['removed'] for r in rounds)} files removed;"
        f" {sum(1 for _ in read_lines(records, 'reader'))} reads"
    )
