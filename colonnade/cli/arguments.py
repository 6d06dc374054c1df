"""Arguments and options that several commands have."""

from __future__ import annotations

from typing import Annotated

import typer

PathArgument = Annotated[
    str, typer.Argument(metavar="PATH", help="A database, a table in it, or a lone table.")
]
DatabaseArgument = Annotated[str, typer.Argument(metavar="DATABASE", help="A database.")]
TableArgument = Annotated[
    str, typer.Argument(metavar="TABLE", help="A table: DATABASE/NAME, or a lone one.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
EpochOption = Annotated[
    int | None, typer.Option("--epoch", min=0, help="As of this epoch instead of the newest.")
]
TimestampOption = Annotated[
    str | None,
    typer.Option("--timestamp", help="As of the last epoch not after this time (ISO 8601, UTC)."),
]
TagOption = Annotated[str | None, typer.Option("--tag", help="As of the epoch that has this name.")]
ColumnsOption = Annotated[
    str | None, typer.Option("--columns", metavar="A,B", help="Only these columns.")
]
WhereOption = Annotated[
    str | None, typer.Option("--where", help="Only rows for which this predicate is true.")
]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


def split_names(text: str | None) -> list[str] | None:
    """The names in a text such as `a, b`; None for none given."""
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]
