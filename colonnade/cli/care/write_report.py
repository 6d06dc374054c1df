"""`report`: write one HTML page about a database."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Annotated

import typer

from colonnade.cli.arguments import DatabaseArgument, JsonOption
from colonnade.cli.output import Output, facts_table
from colonnade.cli.places import open_database
from colonnade.cli.report.facts import read_report
from colonnade.cli.report.page import render
from colonnade.cli.rows.export_files import replacing
from colonnade.manifests.sizes import size_text


@dataclass(frozen=True, slots=True)
class ReportDone:
    """The page that was written."""

    database: str
    epoch: int
    target: str
    tables: int
    bytes: int
    seconds: float


def report(
    database: DatabaseArgument,
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
    facts = read_report(open_database(database), epochs, datetime.now(timezone.utc))
    page = render(facts).encode()
    with replacing(target) as file:
        file.write(page)
    done = ReportDone(
        database=facts.database.path,
        epoch=facts.database.epoch,
        target=str(target),
        tables=len(facts.tables),
        bytes=len(page),
        seconds=round(time.perf_counter() - started, 3),
    )
    view = (("report", done.target), ("epoch", done.epoch), ("size", size_text(done.bytes)))
    Output(json).show(done, facts_table(view))
