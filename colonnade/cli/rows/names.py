"""`drop` and `rename`: remove a table from its database, or give it another name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from colonnade.cli.arguments import JsonOption, TableArgument, YesOption
from colonnade.cli.ask import require_yes
from colonnade.cli.output import Output, facts_table
from colonnade.cli.places import DatabasePlace, open_place
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.store import StoreAddress


@dataclass(frozen=True, slots=True)
class DropFacts:
    """A table that `epoch` has dropped."""

    table: str
    epoch: int


@dataclass(frozen=True, slots=True)
class RenameFacts:
    """A table, and the name that `epoch` has given it."""

    table: str
    name: str
    epoch: int


def drop(table: TableArgument, yes: YesOption = False, json: JsonOption = False) -> None:
    """Drop a table of a database; its earlier epochs stay readable until a vacuum.

    A lone table is its own database; remove its folder instead.
    """
    output, place = Output(json), _in_database(table, "dropped; remove its folder")
    name = place.state.name
    require_yes(f"Drop {place.location.url}?", yes)
    facts = DropFacts(place.location.url, place.database.drop_table(name))
    output.show(facts, facts_table((("table", facts.table), ("by epoch", facts.epoch))))


def rename(
    table: TableArgument,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The new name.")],
    json: JsonOption = False,
) -> None:
    """Rename a table of a database; moves no file."""
    output, place = Output(json), _in_database(table, "renamed; move its folder")
    epoch = place.database.rename_table(place.state.name, name)
    facts = RenameFacts(place.location.url, name, epoch)
    view = (("table", facts.table), ("new name", facts.name), ("by epoch", facts.epoch))
    output.show(facts, facts_table(view))


def _in_database(path: StoreAddress, what: str) -> DatabasePlace:
    """Open a table that is not lone. Raises InvalidInputError, and the errors of `open_place`."""
    place = open_place(path)
    if place.head.lone_table:
        raise InvalidInputError(
            f"{place.location.url} is a lone table and its own database, which cannot be {what}"
            " instead."
        )
    return place
