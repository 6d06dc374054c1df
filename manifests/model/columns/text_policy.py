"""The table property that decides what happens to text that is not valid UTF-8.

Spec: docs/spec/types.md#invalid-text
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

from colonnade.manifests.errors import InvalidInputError

PROPERTY = "invalid-text"

TextPolicy = Literal["refuse", "replace"]
"""Whether invalid text is refused, or U+FFFD replaces its invalid bytes."""


def text_policy(properties: Mapping[str, str]) -> TextPolicy:
    """Return the policy of a table. Any value but `replace` means `refuse`."""
    return "replace" if properties.get(PROPERTY) == "replace" else "refuse"


def check_text_policy(properties: Mapping[str, str]) -> None:
    """Refuse an invalid value of the property. Raises InvalidInputError."""
    value = properties.get(PROPERTY)
    if value is not None and value not in (known := get_args(TextPolicy)):
        raise InvalidInputError(
            f"Property {PROPERTY!r} must be {' or '.join(map(repr, known))}, not {value!r}."
        )
