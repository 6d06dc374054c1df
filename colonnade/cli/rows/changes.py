"""`changes`: print which rows of a table changed, as JSON lines."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from colonnade.cli.arguments import (
    ColumnsOption,
    JsonOption,
    TableArgument,
    WhereOption,
    given_names,
)
from colonnade.cli.output import Output
from colonnade.cli.places import open_place
from colonnade.cli.rows.export_files import write_rows
from colonnade.cli.rows.python_rows import python_rows
from colonnade.manifests.errors import InvalidInputError
from colonnade.tableformat.table.epochs.epoch_range import Bound
from colonnade.tableformat.table.epochs.tags_and_pins import is_tag

_BOUND = "An epoch, a time (ISO 8601, UTC), or a tag"


def changes(
    table: TableArgument,
    start: Annotated[
        str, typer.Option("--from", help=f"{_BOUND}; 0 is the epoch that created the table.")
    ],
    end: Annotated[
        str | None, typer.Option("--to", help=f"{_BOUND}; without it, the newest epoch.")
    ] = None,
    net: Annotated[
        bool, typer.Option("--net", help="Print what changed over the whole range.")
    ] = False,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Wait for later epochs, without an end.")
    ] = False,
    columns: ColumnsOption = None,
    where: WhereOption = None,
    json: JsonOption = False,
) -> None:
    """Print which rows of a table were inserted, deleted and updated, as JSON lines."""
    if json and follow:
        raise InvalidInputError(
            "A feed that follows its table has no end, and --json prints all of it; leave --json"
            " out to print JSON lines."
        )
    found = open_place(table).table.changes(
        _bound(start),
        None if end is None else _bound(end),
        columns=given_names(columns),
        where=where,
        net=net,
        follow=follow,
    )
    if json:
        rows = [row for batch in found.to_arrow().to_batches() for row in python_rows(batch)]
        Output(as_json=True).show(rows)
        return
    out = sys.stdout.buffer
    for batch in found.to_batches():
        write_rows(out, "jsonl", found.schema, (batch,))
        out.flush()


def _bound(text: str) -> Bound:
    return text if is_tag(text) else int(text)
