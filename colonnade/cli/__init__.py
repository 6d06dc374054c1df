"""The command `colonnade`; needs the extra `colonnade[cli]`. Documented in docs/command-line.md."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable

_PACKAGES = ("jinja2", "rich", "typer")

_MISSING, _INTERRUPTED = 10, 130
"""Of `ExitCode`, before that can be imported."""


def main() -> None:
    """Run the command that `sys.argv` names and end the process with its exit code."""
    load()(sys.argv[1:])


def load() -> Callable[[list[str]], None]:
    """What runs the command of a line; loading it takes a moment.

    Ends the process where packages of the command line are missing, with one sentence that says
    what to install, and where it is interrupted.
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
