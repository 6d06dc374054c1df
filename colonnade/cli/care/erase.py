"""`erase`: remove rows for good, from the newest epoch and from history."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.text import Text

from colonnade.cli.arguments import JsonOption, TableArgument, YesOption
from colonnade.cli.ask import require_yes
from colonnade.cli.exit_codes import ExitCode
from colonnade.cli.output import Output
from colonnade.cli.places import open_place
from colonnade.cli.progress import with_progress
from colonnade.tableformat.table.epochs.erase import erase as erase_rows


@with_progress
def erase(
    table: TableArgument,
    where: Annotated[
        str, typer.Option("--where", help="Erase the rows for which this predicate is true.")
    ],
    all_tables: Annotated[
        bool,
        typer.Option("--all-tables", help="Also remove history that other tables ask to keep."),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only print what it would erase.")
    ] = False,
    yes: YesOption = False,
    json: JsonOption = False,
) -> None:
    """Delete rows, and remove every file and epoch that still holds them.

    Earlier epochs are removed unless a tag, pin, lease or consumer keeps them. The command then
    looks for such rows in every readable epoch, and exits with code 1 if something keeps such an
    epoch.
    """
    output, place = Output(json), open_place(table)
    history = "the history of its database" if all_tables else "its history"
    if not dry_run:
        require_yes(f"Erase the rows of {place.location.url} with {where}, and {history}?", yes)
    report = erase_rows(place.table, where, all_tables=all_tables, dry_run=dry_run)
    output.show(report.to_json(), Text(str(report)))
    if report.held_by and not dry_run:
        raise typer.Exit(int(ExitCode.ERROR))
