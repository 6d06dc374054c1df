"""Storage options that stores in buckets have in common. Pure.

Spec: docs/spec/store.md#buckets
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from colonnade.manifests.errors import InvalidInputError

PATIENCE_S = 25.0
CONNECT_TIMEOUT_S = 5.0
READ_TIMEOUT_S = 15.0


def number(options: Mapping[str, Any], name: str, default: float, url: str) -> float:
    """Return a storage option that is a number from 1 to 3600, or `default` if it is not given.

    Raises: InvalidInputError, which names the option and `url`, and never shows the value.
    """
    value = options.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 1 <= value <= 3600:
        raise InvalidInputError(
            f"The storage option {name} of {url} must be a number from 1 to 3600."
        )
    return value
