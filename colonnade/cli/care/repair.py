"""`repair`: rebuild what can be rebuilt, and drop what cannot be read only when told to."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from colonnade.cli.arguments import JsonOption, PathArgument, YesOption
from colonnade.cli.ask import require_yes
from colonnade.cli.output import Output
from colonnade.cli.places import open_place
from colonnade.cli.progress import with_progress
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.column_names import split_list
from colonnade.manifests.store import StoreAddress
from colonnade.tableformat.location import locate_existing
from colonnade.tableformat.repair.caches import rebuild_caches


@with_progress
def repair(
    path: PathArgument,
    rowsets: Annotated[
        str | None,
        typer.Option("--rowsets", metavar="1,2", help="Drop the unreadable rows of these RowSets."),
    ] = None,
    rescue: Annotated[
        Path | None,
        typer.Option("--rescue", metavar="FILE", help="A new Parquet file for rescued values."),
    ] = None,
    give_up_lost_epochs: Annotated[
        bool,
        typer.Option(
            "--give-up-lost-epochs",
            help="End the log at its last readable file, or begin it at a later checkpoint.",
        ),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only print what it would do.")
    ] = False,
    yes: YesOption = False,
    json: JsonOption = False,
) -> None:
    """Rebuild checkpoint and hint from the log, or drop damaged rows from a table.

    --rowsets names damaged RowSets by the ids that `verify` reports. Rows stay if all of their
    columns can be read. The command says exactly which rows are lost, and --rescue keeps what can
    be read of them. No file is removed.
    """
    output = Output(json)
    if rowsets is None:
        if rescue is not None:
            raise InvalidInputError("--rescue needs --rowsets.")
        _repair_log(path, give_up_lost_epochs, dry_run, yes, output)
        return
    if rescue is None or give_up_lost_epochs:
        raise InvalidInputError(
            "--rowsets needs a new file as --rescue, and excludes --give-up-lost-epochs."
        )
    table, ids = open_place(path).table, _ids(rowsets)
    result = table.repair(ids, rescue=rescue, dry_run=True)
    if not dry_run:
        if result.rows_lost:
            if not yes:
                output.notes.print(Text(str(result)))
            require_yes(f"Drop {result.rows_lost:,} rows of {table.path}?", yes)
        result = table.repair(ids, rescue=rescue)
    output.show(result.to_json(), Text(str(result)))


def _repair_log(
    path: StoreAddress, give_up: bool, dry_run: bool, yes: bool, output: Output
) -> None:
    """Rebuild checkpoint and hint without opening the database: its head may be unreadable."""
    store = locate_existing(path).store
    if give_up and not dry_run:
        require_yes(f"Give up the lost epochs of {store.url}?", yes)
    result = rebuild_caches(Log(store), give_up_lost_epochs=give_up, dry_run=dry_run)
    output.show(result.to_json(), Text(str(result)))


def _ids(text: str) -> list[int]:
    names = split_list(text)
    if not names or not all(name.isascii() and name.isdigit() for name in names):
        raise InvalidInputError(
            f"--rowsets {text!r} is not a list of RowSet ids; write it like 1,2."
        )
    return [int(name) for name in names]
