"""Names of columns in texts that people write, such as `day, amount desc` in an option.

Blanks around a name are not part of it. A name that has blanks at either end, or a comma, is
written between backquotes, as in SQL.
"""

from __future__ import annotations

import re

_PART = re.compile(r"(?:`(?:[^`]|``)*`|\([^()]*\)|[^,])+")
"""A part of a list: no comma, except between backquotes and in parentheses."""

_SIGN = re.compile(r"[`(),]")
"""What means something else than itself in a list."""


def split_list(text: str) -> tuple[str, ...]:
    """Split a list at its commas, such as `days(ts), bucket(16, id)`. Parts keep backquotes."""
    parts = (part.strip() for part in _PART.findall(text))
    return tuple(part for part in parts if part)


def split_names(text: str) -> tuple[str, ...]:
    """Split a list of names of columns, such as ``a, ` b` ``, into the names."""
    return tuple(map(unquoted, split_list(text)))


def begun_name(text: str) -> tuple[str, str]:
    """Divide a list that is being written into what is complete, and its last part."""
    begin, within = 0, False
    for at, sign in enumerate(text, start=1):
        within ^= sign == "`"
        if sign == "," and not within:
            begin = at
    return text[:begin], text[begin:]


def quoted_name(name: str) -> str:
    """Write a name of a column as `split_names` reads it in a list."""
    plain = name == name.strip() and not _SIGN.search(name)
    return name if plain else f"`{name.replace('`', '``')}`"


def unquoted(text: str) -> str:
    """Return the name that a text means: without blanks around it, and without backquotes."""
    name = text.strip()
    quoted = len(name) > 1 and name[0] == name[-1] == "`"
    return name[1:-1].replace("``", "`") if quoted else name


def quoted(name: str) -> str:
    """Return a name as texts have it: between backquotes where it would mean another name."""
    plain = unquoted(name) == name and "," not in name
    return name if plain else "`" + name.replace("`", "``") + "`"
