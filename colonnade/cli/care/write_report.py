"""`report`: write one HTML page about a database or a table."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from colonnade.cli.arguments import JsonOption, PathArgument
from colonnade.cli.output import Output, facts_table
from colonnade.cli.places import open_place
from colonnade.manifests.sizes import size_text


@dataclass(frozen=True, slots=True)
class ReportDone:
    """The page that was written."""

    path: str
    epoch: int
    target: str
    tables: int
    bytes: int
    seconds: float


def report(
    path: PathArgument,
    target: Annotated[
        Path,
        typer.Option("--output", "-o", help="The file to write; an existing file is replaced."),
    ] = Path("report.html"),
    epochs: Annotated[int, typer.Option("--epochs", min=1, help="Show at most this many.")] = 200,
    json: JsonOption = False,
) -> None:
    """Write one HTML page: sizes, ages, deletions, overlap, epochs, what compaction would do.

    The page refers to no other file, so it can be mailed or archived. Only the log is read.
    """
    started = time.perf_counter()
    place = open_place(path)
    page = (place.table if place.is_table else place.database).report(epochs)
    page.save(target)
    done = ReportDone(
        path=page.path,
        epoch=page.epoch,
        target=str(target),
        tables=page.tables,
        bytes=len(page.html.encode()),
        seconds=round(time.perf_counter() - started, 3),
    )
    view = (("report", done.target), ("epoch", done.epoch), ("size", size_text(done.bytes)))
    Output(json).show(done, facts_table(view))
