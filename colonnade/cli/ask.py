"""Ask for confirmation before something is lost."""

from __future__ import annotations

import typer

from colonnade.cli.exit_codes import DeclinedError


def require_yes(question: str, yes: bool) -> None:
    """Ask unless `yes`. Raises DeclinedError without a yes."""
    if yes:
        return
    try:
        agreed = typer.confirm(question, err=True)
    except typer.Abort as error:
        raise DeclinedError(
            "No answer was given, so nothing was changed; --yes continues without asking."
        ) from error
    if not agreed:
        raise DeclinedError("Nothing was changed.")
