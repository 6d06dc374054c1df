"""The command `colonnade`, which needs the extra `colonnade[cli]`. Guide: docs/command-line.md."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable

_PACKAGES = ("jinja2", "rich", "typer")

_MISSING, _INTERRUPTED = 10, 130
"""Two values of `ExitCode`, needed before that class can be imported."""


def main() -> None:
    """Run the command that `sys.argv` names and end the process with its exit code."""
    load()(sys.argv[1:])


def load() -> Callable[[list[str]], None]:
    """Import the command line and return the function that runs a command; takes a moment.

    Ends the process if a package of the command line is missing, with one sentence that says what
    to install. Ends the process without a message if the user interrupts the import.
    """
    try:
        run: Callable[[list[str]], None] = importlib.import_module("colonnade.cli.app").run
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in _PACKAGES:
            raise
        sys.stderr.write(f"The command line needs {package}: install colonnade[cli].\n")
        sys.exit(_MISSING)
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)
    return run
