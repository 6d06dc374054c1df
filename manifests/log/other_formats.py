"""Tables of other formats, told by the names in their logs.

Their data files are Parquet files like any other. Only the log says which of these files, and
which rows of them, are live.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import NamedTuple

from colonnade.manifests.errors import StoreError


class OtherFormat(NamedTuple):
    """A format of tables whose log is in `folder` of each table.

    Other programs may have a folder of that name, too. Then `inside` matches the names that only
    this format gives to files in it. `reading` reads the live rows of the table `{table}`.
    """

    name: str
    folder: str
    inside: re.Pattern[str] | None
    reading: str


_OTHER_FORMATS = (
    OtherFormat(
        "Delta Lake", "_delta_log", None, "--query \"SELECT * FROM delta_scan('{table}')\""
    ),
    OtherFormat(
        "Iceberg",
        "metadata",
        re.compile(r".+\.metadata\.json(?:\.gz)?|version-hint\.text"),
        "--query \"SELECT * FROM iceberg_scan('{table}')\"",
    ),
    OtherFormat("Hudi", ".hoodie", None, 'Spark: spark.read.format("hudi").load("{table}")'),
    OtherFormat(
        "Paimon",
        "snapshot",
        re.compile(r"snapshot-\d+|LATEST|EARLIEST"),
        'Spark: spark.read.format("paimon").load("{table}")',
    ),
)


def log_part(name: str) -> str | None:
    """Return the part of a name below a folder that is a log of another format, or None."""
    top, _, rest = name.partition("/")
    for each in _OTHER_FORMATS:
        if top.lower() == each.folder and (each.inside is None or each.inside.fullmatch(rest)):
            return top if each.inside is None else name
    return None


def format_of(folder: str) -> OtherFormat | None:
    """Return the format of the table in a local folder, or None.

    Cost: two listings. Raises StoreError if a log cannot be listed.
    """
    for each in _OTHER_FORMATS:
        log = os.path.join(folder, each.folder)
        if each.inside is None and os.path.isdir(log):
            return each
        if each.inside is not None and any(map(each.inside.fullmatch, names_in(log))):
            return each
    return None


def names_near(folder: str) -> Iterator[str]:
    """Yield the names directly in a local folder, and in its folders that may be a log."""
    yield from names_in(folder)
    for each in _OTHER_FORMATS:
        if each.inside is not None:
            inside = names_in(os.path.join(folder, each.folder))
            yield from (f"{each.folder}/{name}" for name in inside)


def names_in(folder: str) -> list[str]:
    """Return the names in a local folder, in order; none if it is missing. Raises StoreError."""
    try:
        return sorted(os.listdir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise StoreError(f"{folder} could not be listed: {error.strerror}.") from error
