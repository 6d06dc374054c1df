"""`vacuum`: remove epochs and files that no kept epoch needs."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer
from rich.text import Text

from colonnade.cli.arguments import JsonOption, PathArgument, YesOption
from colonnade.cli.ask import require_yes
from colonnade.cli.output import Output, rows_table
from colonnade.cli.places import open_place
from colonnade.manifests.sizes import size_text

SHOWN_FILES = 50


def vacuum(
    path: PathArgument,
    retention_hours: Annotated[
        float | None,
        typer.Option(
            "--retention-hours", min=0, help="Keep epochs this long; default: properties."
        ),
    ] = None,
    retain_epochs: Annotated[
        int | None, typer.Option("--retain-epochs", min=1, help="Keep at least this many epochs.")
    ] = None,
    trust_clock: Annotated[
        bool,
        typer.Option("--trust-clock", help="Trust this clock even if the store's clock differs."),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only print what it would remove.")
    ] = False,
    yes: YesOption = False,
    json: JsonOption = False,
) -> None:
    """Remove epochs past their retention, and files that only those epochs or failed jobs wrote.

    For a table, the options replace the retention of this table only; the retention of the other
    tables of the database still holds. Tags and pins keep their epochs. The command is safe beside
    readers and writers.
    """
    output, place = Output(json), open_place(path)
    target = place.table if place.is_table else place.database
    run = partial(
        target.vacuum, retention_hours, retain_epochs=retain_epochs, trust_clock=trust_clock
    )
    result = run(dry_run=True)
    if not dry_run:
        if result.files or result.epochs_removed:
            what = f"{len(result.files):,} files ({size_text(result.bytes_removed)})"
            question = (
                f"Remove {what} and {result.epochs_removed:,} epochs of {place.location.url}?"
            )
            require_yes(question, yes)
        result = run(force=True)
    shown = [(each.name, size_text(each.bytes)) for each in result.files[:SHOWN_FILES]]
    files = [rows_table(("file", "size"), shown)] if dry_run and shown else []
    output.show(result.to_json(), *files, Text(str(result)))
