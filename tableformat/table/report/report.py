"""The report that `table.report()` and `database.report()` return."""

from __future__ import annotations

import tempfile
import webbrowser
from dataclasses import dataclass, field
from datetime import datetime, timezone
from html import escape
from os import PathLike
from pathlib import Path

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.log.log import Log
from colonnade.manifests.own_files import replacing
from colonnade.manifests.public import public
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.tableformat.table.report.chart_data import read_report
from colonnade.tableformat.table.report.page import render


@public
@dataclass(frozen=True, slots=True)
class Report:
    """An HTML page about a database or a table at an epoch, which refers to no other file.

    `path` is the database or the table, `tables` the number of tables on the page, and `html` the
    page. A notebook shows it in a frame.
    """

    path: str
    epoch: int
    tables: int
    html: str = field(repr=False)

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the page to a local file, and return its path. An existing file is replaced.

        The file appears only when it is complete. Raises InvalidInputError for a link, which
        another user may have put there, and StoreError that names the file.
        """
        target = Path(path)
        with replacing(target) as file:
            file.write(self.html.encode())
        return target

    def open(self) -> Path:
        """Write the page to a new temporary file, which stays, open it in a browser; return it."""
        with tempfile.NamedTemporaryFile("wb", suffix=".html", delete=False) as file:
            file.write(self.html.encode())
        webbrowser.open(Path(file.name).as_uri())
        return Path(file.name)

    def _repr_html_(self) -> str:
        # A frame keeps the styles of the page away from those of the notebook.
        style = "width:100%;height:40em;border:0"
        return f'<iframe sandbox style="{style}" srcdoc="{escape(self.html)}"></iframe>'


def make_report(log: Log, head: Snapshot, epochs: int, only: TableState | None = None) -> Report:
    """Make the report about a database, or about the table `only`, as of `head`.

    Raises the errors of `read_report` and `render`, and InvalidInputError for no number of epochs.
    """
    if type(epochs) is not int or epochs < 1:
        raise InvalidInputError(
            f"A report shows a whole number of epochs from 1, not {epochs!r:.100}."
        )
    facts = read_report(log, head, epochs, datetime.now(timezone.utc), only)
    path = facts.table or facts.database.path
    return Report(path, facts.database.epoch, len(facts.tables), render(facts))
