"""Commands that show their progress: as a bar on a terminal, and not at all elsewhere."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer

from colonnade.cli.added_option import with_option
from colonnade.tableformat.progress import progress

_OPTION = Annotated[bool, typer.Option("--no-progress", help="Show no bar while it works.")]


def with_progress(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command with `--no-progress`, which shows how far it is on standard error."""

    @functools.wraps(command)
    def run(*, no_progress: bool = False, **arguments: Any) -> None:
        with progress(not no_progress):
            command(**arguments)

    own = inspect.signature(command, eval_str=True).parameters.values()
    return with_option(run, own, "no_progress", _OPTION, False)
