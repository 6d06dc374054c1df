"""Completion of tables, columns and tags, from the log alone.

A shell waits for it, so it loads neither Arrow nor the command, and looks at local paths alone. A
name that cannot be completed is no error: the shell then completes files.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import typer

from colonnade.manifests.errors import ColonnadeError
from colonnade.manifests.later import later
from colonnade.manifests.store import is_url

if TYPE_CHECKING:
    from colonnade.manifests.log import log
    from colonnade.manifests.state.snapshot import Snapshot
    from colonnade.tableformat import location as locations
else:
    log = later("colonnade.manifests.log.log")
    locations = later("colonnade.tableformat.location")


def complete_table(incomplete: str) -> list[str]:
    """Return the tables of the database before the last slash whose paths begin with a text."""
    database, slash, _ = incomplete.rpartition("/")
    found = _open(database)
    if found is None or found[0].table is not None or found[1].lone_table:
        return []
    paths = [f"{database}{slash}{name}" for name in sorted(found[1].own_names().values())]
    return [each for each in paths if each.startswith(incomplete)]


def complete_columns(context: typer.Context, incomplete: str) -> list[str]:
    """Return the columns of the named table that may follow the last comma of a text."""
    found = _open(_path(context))
    before, comma, last = incomplete.rpartition(",")
    with suppress(ColonnadeError):
        names = () if found is None else found[0].require(found[1]).schema.names
        return [before + comma + each for each in names if each.startswith(last)]
    return []


def complete_tag(context: typer.Context, incomplete: str) -> list[str]:
    """Return the tags of the named database, or of the table's, that begin with a text."""
    found = _open(_path(context))
    tags = () if found is None else sorted(found[1].tags)
    return [each for each in tags if each.startswith(incomplete)]


def _path(context: typer.Context) -> str:
    """Return the path that the line names before; an option without its value ends the parsing."""
    given = (context.params.get(name) for name in ("table", "path", "database"))
    return next((str(each) for each in (*given, *context.args) if each), "")


def _open(path: str) -> tuple[locations.Location, Snapshot] | None:
    """Return where a path leads, and the newest state there; None if nothing can be read."""
    if path and not is_url(path):
        with suppress(ColonnadeError, OSError):
            place = locations.locate_existing(path)
            return place, log.Log(place.store).read_head(look=place.look)
    return None
