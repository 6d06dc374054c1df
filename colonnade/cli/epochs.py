"""`tag` and `restore`: name an epoch, and return to one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from colonnade.cli.arguments import (
    DatabaseArgument,
    EpochOption,
    JsonOption,
    PathArgument,
    TagOption,
    TimestampOption,
    YesOption,
)
from colonnade.cli.ask import require_yes
from colonnade.cli.complete import complete_tag
from colonnade.cli.output import Output, facts_table, rows_table
from colonnade.cli.places import open_database, open_place
from colonnade.manifests.errors import InvalidInputError
from colonnade.tableformat.table.epochs.time_travel import snapshot_at


@dataclass(frozen=True, slots=True)
class TagFacts:
    """A tag and the epoch that it names."""

    name: str
    epoch: int


@dataclass(frozen=True, slots=True)
class RestoreFacts:
    """A restore to epoch `restored`, which the new `epoch` committed."""

    path: str
    restored: int
    epoch: int


def tag(
    database: DatabaseArgument,
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", help="The name of the tag.", autocompletion=complete_tag),
    ] = None,
    epoch: EpochOption = None,
    remove: Annotated[bool, typer.Option("--remove", help="Remove the tag.")] = False,
    yes: YesOption = False,
    json: JsonOption = False,
) -> None:
    """Tag an epoch, which is then kept until the tag is removed; without NAME list the tags."""
    found, output = open_database(database).database, Output(json)
    if name is None:
        if remove or epoch is not None:
            raise InvalidInputError("--epoch and --remove need the NAME of a tag.")
    elif remove:
        if epoch is not None:
            raise InvalidInputError("A tag is removed by its name; leave out --epoch.")
        require_yes(f"Remove tag {name}? Vacuum may then remove its epoch.", yes)
        found.untag(name)
    else:
        found.tag(name, epoch)
    tags = [TagFacts(each, number) for each, number in found.tags().items()]
    output.show(tags, rows_table(("tag", "epoch"), [(each.name, each.epoch) for each in tags]))


def restore(
    path: PathArgument,
    epoch: EpochOption = None,
    timestamp: TimestampOption = None,
    tag: TagOption = None,
    yes: YesOption = False,
    json: JsonOption = False,
) -> None:
    """Restore a table, or all tables of a database, to an earlier epoch; moves no file.

    The restore is a new epoch, so the epochs since then stay readable.
    """
    if epoch is None and timestamp is None and tag is None:
        raise InvalidInputError("Choose the epoch to restore by --epoch, --timestamp or --tag.")
    place, output = open_place(path), Output(json)
    then = snapshot_at(place.log, place.head, epoch, timestamp, tag).epoch
    question = f"Restore {place.location.url} to epoch {then}?"
    require_yes(f"{question} It is at epoch {place.head.epoch}.", yes)
    target = place.table if place.is_table else place.database
    facts = RestoreFacts(place.location.url, then, target.restore(epoch=then))
    output.show(
        facts,
        facts_table((("path", facts.path), ("as at epoch", then), ("by epoch", facts.epoch))),
    )
