"""What a table does with text that is not valid UTF-8, as a property of it says.

Spec: docs/spec/types.md#invalid-text
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

from colonnade.manifests.errors import InvalidInputError

PROPERTY = "invalid-text"

TextPolicy = Literal["refuse", "replace"]
"""Whether such text is refused, or U+FFFD takes the place of the bytes at fault."""


def text_policy(properties: Mapping[str, str]) -> TextPolicy:
    """What a table's properties say. A value that somebody else has set unchecked refuses."""
    return "replace" if properties.get(PROPERTY) == "replace" else "refuse"


def check_text_policy(properties: Mapping[str, str]) -> None:
    """Refuse a value that the property cannot have. Raises InvalidInputError."""
    value = properties.get(PROPERTY)
    if value is not None and value not in (known := get_args(TextPolicy)):
        raise InvalidInputError(f"Property {PROPERTY!r} is one of {known}, not {value!r}.")
