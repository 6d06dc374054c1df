"""Every command: where its function is, and what the list of commands says of it.

The list is printed without loading any command, because commands load what they work with.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple


class Listed(NamedTuple):
    """A command in the list of commands."""

    panel: str
    place: str
    """The module in this package, and the function in it."""
    sentence: str
    """The first paragraph of its docstring."""

    def load(self) -> Any:
        """Return the function of the command; loads its module."""
        module, _, function = self.place.partition(":")
        return getattr(import_module(f"{__package__}.{module}"), function)


COMMANDS = {
    "ls": Listed("Inspect", "inspect:ls", "List the tables of a database."),
    "show": Listed("Inspect", "inspect:show", "Describe a database or a table."),
    "schema": Listed("Inspect", "inspect:schema", "List the columns of a table."),
    "history": Listed(
        "Inspect",
        "inspect:history",
        "List the epochs of a database, or the epochs that changed a table, newest first.",
    ),
    "rowsets": Listed(
        "Inspect",
        "inspect:rowsets",
        "List the RowSets of a table: their rows, bytes, deleted share and bounds.",
    ),
    "create": Listed(
        "Rows",
        "rows.create:create",
        "Create an empty database; `import` then creates tables in it.",
    ),
    "head": Listed("Rows", "rows.read_rows:head", "Print the first rows of a table."),
    "count": Listed(
        "Rows",
        "rows.read_rows:count",
        "Count the rows of a table, from the log alone where it tells their number.",
    ),
    "sql": Listed(
        "Rows",
        "rows.sql:sql",
        "Query the tables of a database as of one epoch, in the SQL of DuckDB.",
    ),
    "changes": Listed(
        "Rows",
        "rows.changes:changes",
        "Print which rows of a table were inserted, deleted and updated, as JSON lines.",
    ),
    "import": Listed(
        "Rows",
        "rows.import_rows:import_",
        "Import Parquet or CSV files, or the rows of a query, as one epoch.",
    ),
    "export": Listed(
        "Rows",
        "rows.export_rows:export",
        "Export rows to a Parquet, CSV or JSON Lines file, or by Spark to a folder of such files.",
    ),
    "drop": Listed(
        "Rows",
        "rows.names:drop",
        "Drop a table of a database; its earlier epochs stay readable until a vacuum.",
    ),
    "rename": Listed("Rows", "rows.names:rename", "Rename a table of a database; moves no file."),
    "tag": Listed(
        "Epochs",
        "epochs:tag",
        "Tag an epoch, which is then kept until the tag is removed; without NAME list the tags.",
    ),
    "restore": Listed(
        "Epochs",
        "epochs:restore",
        "Restore a table, or all tables of a database, to an earlier epoch; moves no file.",
    ),
    "compact": Listed(
        "Care",
        "care.compact:compact",
        "Merge small and overlapping RowSets and drop deleted rows, as the table's policy asks.",
    ),
    "erase": Listed(
        "Care",
        "care.erase:erase",
        "Delete rows, and remove every file and epoch that still holds them.",
    ),
    "vacuum": Listed(
        "Care",
        "care.vacuum:vacuum",
        "Remove epochs past their retention, and files that only those epochs or failed jobs"
        " wrote.",
    ),
    "verify": Listed(
        "Care",
        "care.verify:verify",
        "Look for damage in a database or a table: files, columns, blocks and rows. Changes"
        " nothing.",
    ),
    "repair": Listed(
        "Care",
        "care.repair:repair",
        "Rebuild checkpoint and hint from the log, or drop damaged rows from a table.",
    ),
    "maintain": Listed(
        "Care",
        "care.maintain:maintain",
        "Compact the tables by their policies, vacuum, and write a checkpoint.",
    ),
    "report": Listed(
        "Care",
        "care.write_report:report",
        "Write one HTML page: sizes, ages, deletions, overlap, epochs, what compaction would do.",
    ),
    "doctor": Listed(
        "Care",
        "care.doctor:doctor",
        "Check Python, Java, pyspark, the jar, and what the store of a database can do.",
    ),
}
"""The commands by their names, in the order of the list."""
