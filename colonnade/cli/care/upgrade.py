"""`upgrade`: enable what bounds the log of a database that an earlier version created."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer
from rich.text import Text

from colonnade.cli.arguments import DatabaseArgument, JsonOption, YesOption
from colonnade.cli.ask import require_yes
from colonnade.cli.output import Output
from colonnade.cli.places import open_database


def upgrade(
    database: DatabaseArgument,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only print what it would change.")
    ] = False,
    yes: YesOption = False,
    json: JsonOption = False,
) -> None:
    """Let a database of an earlier version free old epochs and share new ones.

    It commits one epoch and rewrites nothing. Earlier versions of Colonnade refuse the database
    from then on, and the upgrade cannot be undone. Safe beside readers and writers of this version.
    """
    found, output = open_database(database).database, Output(json)
    result = found.upgrade(dry_run=True)
    if result.features and not dry_run:
        require_yes(f"{result} Upgrade {found.path}?", yes)
        result = found.upgrade()
    output.show(asdict(result), Text(str(result)))
