"""Parse LIKE patterns."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile

from colonnade.manifests.errors import InvalidInputError

_WILDCARDS = {"%": ".*", "_": "."}


@dataclass(frozen=True, slots=True)
class LikePattern:
    """The parts of a pattern: its literal prefix, and a regular expression for the whole.

    `rest` is what follows the prefix, in the original spelling: "" for nothing, "%" for any text.
    """

    prefix: str
    rest: str
    regex: str


def parse_like(pattern: str, escape: str) -> LikePattern:
    """Parse a LIKE pattern; `escape` makes `%`, `_` and itself literal.

    Raises InvalidInputError where Spark does: for an escape before another character, or at the
    end.
    """
    if len(escape) != 1 or escape in _WILDCARDS:
        raise InvalidInputError(f"The escape of LIKE must be one character, not {escape!r}.")
    tokens = list(_tokens(pattern, escape))
    prefix = "".join(text for text, _ in takewhile(lambda token: not token[1], tokens))
    rest = "".join(text for text, _ in tokens[len(prefix) :])
    regex = "".join(_WILDCARDS[text] if wild else re.escape(text) for text, wild in tokens)
    return LikePattern(prefix, rest, rf"\A(?s:{regex})\z")


def _tokens(pattern: str, escape: str) -> Iterator[tuple[str, bool]]:
    """Yield the characters of a pattern, each with whether it is a wildcard."""
    characters = iter(pattern)
    for character in characters:
        if character != escape:
            yield character, character in _WILDCARDS
            continue
        escaped = next(characters, "")
        if escaped not in (*_WILDCARDS, escape):
            raise InvalidInputError(
                f"LIKE pattern {pattern!r} has {escape!r} before a character other than %, _ and"
                " itself; write it twice to mean it literally."
            )
        yield escaped, False
