"""What the history of a table shows of a statement. The log keeps it, so it has a limit."""

from __future__ import annotations

from collections.abc import Mapping

LONGEST = 2000
"""The most characters of a condition, or of another text of a statement, in the log."""


def shortened(text: str, limit: int = LONGEST) -> str:
    """Return a text of at most `limit` characters; one that was longer ends with an ellipsis."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def shown(parameters: Mapping[str, str]) -> dict[str, str]:
    """Return the parameters of a statement as the log keeps them."""
    return {name: shortened(text) for name, text in parameters.items()}
