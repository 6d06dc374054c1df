"""`repair`: put right what can be, and part with what cannot, only when told to."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from colonnade.cli.arguments import JsonOption, PathArgument, YesOption, split_names
from colonnade.cli.ask import require_yes
from colonnade.cli.output import Output
from colonnade.cli.places import open_place
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.log.log import Log
from colonnade.tableformat.location import locate_existing
from colonnade.tableformat.repair.caches import rebuild_caches


def repair(
    path: PathArgument,
    rowsets: Annotated[
        str | None,
        typer.Option("--rowsets", metavar="1,2", help="Take out of these what cannot be read."),
    ] = None,
    rescue: Annotated[
        Path | None,
        typer.Option("--rescue", metavar="FILE", help="A new Parquet file for what can be saved."),
    ] = None,
    give_up_lost_epochs: Annotated[
        bool, typer.Option("--give-up-lost-epochs", help="End the log where its files do.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what it would do.")] = False,
    yes: YesOption = False,
    json: JsonOption = False,
) -> None:
    """Make checkpoint and hint anew from the log, or take damaged RowSets out of a table.

    With --rowsets, ids that `verify` reports, rows stay where all of their columns can be read; it
    says exactly which are lost, and --rescue has what can be read of them. No file is removed.
    """
    output = Output(json)
    if rowsets is None:
        if rescue is not None or dry_run:
            raise InvalidInputError("--rescue and --dry-run go with --rowsets.")
        _repair_caches(path, give_up_lost_epochs, yes, output)
        return
    if rescue is None or give_up_lost_epochs:
        raise InvalidInputError("With --rowsets name a new file by --rescue, and nothing else.")
    table, ids = open_place(path).table, _ids(rowsets)
    result = table.repair(ids, rescue=rescue, dry_run=True)
    if not dry_run:
        if result.rows_lost:
            if not yes:
                output.notes.print(Text(str(result)))
            require_yes(f"Part with {result.rows_lost:,} rows of {table.path}?", yes)
        result = table.repair(ids, rescue=rescue)
    output.show(result.to_json(), Text(str(result)))


def _repair_caches(path: str, give_up_lost_epochs: bool, yes: bool, output: Output) -> None:
    """Not by way of an open database: its head may be what cannot be read."""
    store = locate_existing(path).store
    if give_up_lost_epochs:
        require_yes(f"Part with the epochs of {store.url} that were lost?", yes)
    made = rebuild_caches(Log(store), give_up_lost_epochs=give_up_lost_epochs)
    epoch = made.state.epoch
    said = [f"Checkpoint and hint of {store.url} are made anew, as of epoch {epoch}."]
    said += [f"{name} is restored from its other copy." for name in made.restored]
    shown = {"database": store.url, "epoch": epoch, "restored": list(made.restored)}
    output.show(shown, Text("\n".join(said)))


def _ids(text: str) -> list[int]:
    names = split_names(text) or []
    if not names or not all(name.isascii() and name.isdigit() for name in names):
        raise InvalidInputError(f"{text!r} are no ids of RowSets; write them like 1,2.")
    return [int(name) for name in names]
