"""`create`: create an empty database."""

from __future__ import annotations

from rich.text import Text

from colonnade.cli.arguments import DatabaseArgument, JsonOption
from colonnade.cli.output import Output
from colonnade.tableformat.table.database import ArrowDatabase
from colonnade.tableformat.table.report.database_facts import database_facts


def create(database: DatabaseArgument, json: JsonOption = False) -> None:
    """Create an empty database; `import` then creates tables in it.

    Without a database, `import` creates a lone table, which is its own database.
    """
    made = ArrowDatabase.create(database)
    Output(json).show(
        database_facts(made._log, made._snapshot, ()),
        Text(f"Created the database {made.path}."),
    )
