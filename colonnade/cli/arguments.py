"""Arguments and options that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

from colonnade.cli.complete import complete_columns, complete_table, complete_tag
from colonnade.manifests.model.column_names import split_names
from colonnade.manifests.store import StoreAddress

PathArgument = Annotated[
    StoreAddress,
    typer.Argument(
        metavar="PATH",
        help="A database, a table in it, or a lone table.",
        autocompletion=complete_table,
    ),
]
DatabaseArgument = Annotated[StoreAddress, typer.Argument(metavar="DATABASE", help="A database.")]
TableArgument = Annotated[
    StoreAddress,
    typer.Argument(
        metavar="TABLE",
        help="A table: DATABASE/NAME, or a lone table.",
        autocompletion=complete_table,
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
EpochOption = Annotated[
    int | None, typer.Option("--epoch", min=0, help="Use this epoch instead of the newest.")
]
TimestampOption = Annotated[
    str | None,
    typer.Option("--timestamp", help="Use the last epoch up to this time (ISO 8601, UTC)."),
]
TagOption = Annotated[
    str | None,
    typer.Option("--tag", help="Use the epoch that has this tag.", autocompletion=complete_tag),
]
ColumnsOption = Annotated[
    str | None,
    typer.Option(
        "--columns",
        metavar="A,B",
        help="Read only these columns.",
        autocompletion=complete_columns,
    ),
]
WhereOption = Annotated[
    str | None, typer.Option("--where", help="Read only rows for which this predicate is true.")
]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]


def given_names(text: str | None) -> list[str] | None:
    """Split a text such as `a, b` into names of columns; None stays None."""
    return None if text is None else list(split_names(text))
