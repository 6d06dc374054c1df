"""Storage options written as text, as in settings of Spark and on command lines. Pure.

`key=AKIA…` is text, `anon=true` a boolean, `client_kwargs={"region_name": "eu-central-1"}` JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from colonnade.manifests.errors import InvalidInputError

_NUMBER = re.compile(r"0|[1-9]\d{0,8}", re.ASCII)
_JSON_BEGINS = ("{", "[", '"')


def option_value(name: str, text: str) -> Any:
    """Return the value that the text of a storage option means.

    `true`, `false`, whole numbers of at most nine digits, and text that begins with `{`, `[` or a
    double quote are JSON. Any other text stays text. So `"123"`, in quotes, is the text 123.

    Raises: InvalidInputError that names the option, and not its value, for text that begins like
    JSON and is not JSON.
    """
    if text in ("true", "false") or _NUMBER.fullmatch(text) or text.startswith(_JSON_BEGINS):
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            # Without a cause, because the cause would show the value.
            raise InvalidInputError(f"Storage option {name} is not valid JSON.") from None
    return text


def option_values(texts: Mapping[str, str]) -> dict[str, Any]:
    """Return the values of storage options by name. Raises as `option_value`."""
    return {name: option_value(name, text) for name, text in texts.items()}


def option_texts(options: Mapping[str, Any]) -> dict[str, str]:
    """Return the texts of storage options by name. `option_values` reads the values from them.

    Raises InvalidInputError for a value without such a text: None, a fraction, a number of ten
    digits or more, or a value that JSON cannot hold. The message names the option, and not its
    value.
    """
    return {name: _text_of(name, value) for name, value in options.items()}


def _text_of(name: str, value: Any) -> str:
    for text in (value, _json(value)):
        if isinstance(text, str):
            with suppress(InvalidInputError):
                again = option_value(name, text)
                if again == value and type(again) is type(value):
                    return text
    raise InvalidInputError(
        f"Storage option {name} has a value that cannot be written as text, which Spark needs."
    )


def _json(value: Any) -> str | None:
    try:
        return json.dumps(value)
    except (TypeError, ValueError):
        return None
