"""When rows that have expired are purged: the property of a table about it.

Guide: docs/lifetimes.md#purging
"""

from __future__ import annotations

from collections.abc import Mapping

from colonnade.manifests.errors import InvalidInputError

PURGE_SHARE = "ttl.purge.share"
"""The least share of expired rows for which a RowSet is rewritten without them; from 0 to 1."""

_SHARE = 0.2


def purge_share(properties: Mapping[str, str]) -> float:
    """Return the least share of expired rows for which a RowSet of the table is rewritten.

    Raises InvalidInputError for a value that is not a number from 0 to 1.
    """
    text = properties.get(PURGE_SHARE)
    if text is None:
        return _SHARE
    try:
        share = float(text)
    except ValueError:
        share = -1
    if not 0 <= share <= 1:
        raise InvalidInputError(
            f"Property {PURGE_SHARE!r} must be a number from 0 to 1, not {text!r}."
        )
    return share
