"""Completion of tables, columns and tags, from the log alone.

A shell waits for it, so it loads neither Arrow nor the command, and looks at local paths alone. A
name that cannot be completed is not an error: the shell then completes files.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

import typer

from colonnade.manifests.errors import ColonnadeError
from colonnade.manifests.later import later
from colonnade.manifests.model.column_names import begun_name, quoted_name
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
    names = sorted(found[1].own_names().values())
    return _begun(incomplete, (f"{database}{slash}{name}" for name in names))


def complete_columns(context: typer.Context, incomplete: str) -> list[str]:
    """Return the columns of the named table that may follow the last comma of a text."""
    found = _open(_path(context))
    before, _ = begun_name(incomplete)
    with suppress(ColonnadeError):
        names = () if found is None else found[0].require(found[1]).schema.names
        return _begun(incomplete, (before + quoted_name(name) for name in names))
    return []


def complete_tag(context: typer.Context, incomplete: str) -> list[str]:
    """Return the tags of the named database, or of the table's, that begin with a text."""
    found = _open(_path(context))
    return _begun(incomplete, () if found is None else sorted(found[1].tags))


def _begun(incomplete: str, texts: Iterable[str]) -> list[str]:
    """Return the texts that begin with a text, as words of the shell that asks."""
    shell = os.environ.get("_COLONNADE_COMPLETE", "").removeprefix("complete_")
    begun = [each for each in texts if each.startswith(incomplete)]
    if shell == "bash":
        return [_BashWord(each) for each in begun]
    # Typer gives zsh other names in place of those with quotes.
    return begun if shell != "zsh" else [each for each in begun if not {*each} & {"'", '"'}]


class _BashWord(str):
    """A text that is printed as a word of bash; zsh and fish quote what they insert themselves."""

    __slots__ = ()

    def __format__(self, _: str) -> str:
        words, at = os.environ["COMP_WORDS"].split("\n"), int(os.environ["COMP_CWORD"])
        begun = words[at] if at < len(words) else ""
        if begun.startswith("'"):
            return self.replace("'", "'\\''")
        if begun.startswith('"'):
            return re.sub(r'([\\"$`])', r"\\\1", self)
        return re.sub(r"([^\w@%+=:,./~-])", r"\\\1", self)


def _path(context: typer.Context) -> str:
    """Return the path that the line names before; an option without its value ends the parsing."""
    given = (context.params.get(name) for name in ("table", "path", "database"))
    return next((str(each) for each in (*given, *context.args) if each), "")


def _open(path: str) -> tuple[locations.Location, Snapshot] | None:
    """Return where a path leads, and the newest state there; None if nothing can be read."""
    if path and not is_url(path):
        with suppress(ColonnadeError, OSError):
            place = locations.locate_existing(os.path.expanduser(path))
            return place, log.Log(place.store).reader.read_head(opening=place.opening)
    return None
