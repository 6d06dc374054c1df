"""Asking before something is lost."""

from __future__ import annotations

import typer

from colonnade.cli.exit_codes import DeclinedError


def require_yes(question: str, yes: bool) -> None:
    """Ask unless `yes`. Raises DeclinedError for a no, and where nobody answers."""
    if yes:
        return
    try:
        agreed = typer.confirm(question, err=True)
    except typer.Abort as error:
        raise DeclinedError(
            "Nobody answered, so nothing was changed; --yes goes on without asking."
        ) from error
    if not agreed:
        raise DeclinedError("Nothing was changed.")
