"""Read types as people write them: `BIGINT`, `Decimal(9, 2)`, `array<struct<a: int>>`, `int`. Pure.

The log states each type in one way (`schema.py`). Users may also write the other names that SQL has
for it, or the type of Python whose values the column holds.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from functools import lru_cache
from typing import Any, NoReturn

StatedType = str | Mapping[str, Any]
"""A type as the log states it: a text, or the object of a nested type."""

PYTHON_TYPES: dict[object, str] = {
    bool: "boolean",
    bytes: "binary",
    date: "date",
    datetime: "timestamp",
    float: "double",
    int: "long",
    str: "string",
    time: "time(6)",
    timedelta: "interval day to second",
}
"""The types of Python that say what a column holds."""

OTHER_NAMES = {
    "bigint": "long",
    "bool": "boolean",
    "bytes": "binary",
    "character varying": "varchar",
    "dec": "decimal",
    "double precision": "double",
    "integer": "int",
    "numeric": "decimal",
    "real": "float",
    "smallint": "short",
    "text": "string",
    "timestamp with time zone": "timestamp",
    "timestamp without time zone": "timestamp_ntz",
    "timestamp_ltz": "timestamp",
    "tinyint": "byte",
    "varbinary": "binary",
}
"""Names that SQL has for a type, and the name that the log has."""

_DIGITS = {"decimal": "(10,0)", "time": "(6)"}
"""What SQL means by a type without digits."""

_TOKEN = re.compile(r"\s*(`(?:[^`]|``)+`|\w+|[<>(),:])")
_ENDS = frozenset((None, "<", ">", "(", ")", ",", ":"))
"""What follows the words of a type."""

_DEEPEST = 100
"""The deepest nesting that is read. No table allows as much."""


@lru_cache(maxsize=1024)
def stated_type(text: str) -> StatedType:
    """Return a type that a text names, in any case of letters, as the log states it.

    Whether Colonnade has a plain type of that name is not checked. Raises ValueError that shows a
    text in which the parts of a nested type cannot be told.
    """
    return _Parser(text).whole()


class _Parser:
    """Reads one text from left to right; `_at` is the next of its tokens."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = _TOKEN.findall(text)
        self._at = 0
        if _TOKEN.sub("", text).strip():
            self._refuse()

    def whole(self) -> StatedType:
        found = self._type(0)
        if self._next() is not None:
            self._refuse()
        return found

    def _type(self, depth: int) -> StatedType:
        if depth > _DEEPEST:
            self._refuse()
        name = self._word().casefold()
        if self._next() != "<":
            return self._primitive(name)
        self._at += 1
        match name:
            case "array":
                parts: dict[str, Any] = {"element": self._part("element", depth)}
            case "map":
                parts = {"key": {**self._part("key", depth), "nullable": False}}
                self._expect(",")
                parts["value"] = self._part("value", depth)
            case "struct":
                fields = [self._field(depth)]
                while self._next() == ",":
                    self._at += 1
                    fields.append(self._field(depth))
                parts = {"fields": tuple(fields)}
            case _:
                self._refuse()
        self._expect(">")
        return {"type": name, **parts}

    def _field(self, depth: int) -> dict[str, Any]:
        name = self._word()
        if self._next() == ":":
            self._at += 1
        quoted = name.startswith("`")
        return self._part(name[1:-1].replace("``", "`") if quoted else name, depth)

    def _part(self, name: str, depth: int) -> dict[str, Any]:
        data_type, required = self._type(depth + 1), self._is_at_not_null()
        if required:
            self._at += 2
        return {"name": name, "type": data_type, "nullable": not required}

    def _primitive(self, name: str) -> str:
        words = [name]
        while self._next() not in _ENDS and not self._is_at_not_null():
            word = self._word()
            words.append(word if words[-1] == "collate" else word.casefold())
        plain = " ".join(words)
        plain = OTHER_NAMES.get(plain, plain)
        return plain + (self._digits(plain) if self._next() == "(" else _DIGITS.get(plain, ""))

    def _digits(self, name: str) -> str:
        """Read `(9)` or `(9, 2)`; a decimal without a scale has the scale 0."""
        self._expect("(")
        numbers = [self._word()]
        if self._next() == ",":
            self._at += 1
            numbers.append(self._word())
        elif name == "decimal":
            numbers.append("0")
        self._expect(")")
        return f"({','.join(numbers)})"

    def _is_at_not_null(self) -> bool:
        following = self._tokens[self._at : self._at + 2]
        return [each.casefold() for each in following] == ["not", "null"]

    def _word(self) -> str:
        found = self._next()
        if found is None or found in _ENDS:
            self._refuse()
        self._at += 1
        return found

    def _expect(self, token: str) -> None:
        if self._next() != token:
            self._refuse()
        self._at += 1

    def _next(self) -> str | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def _refuse(self) -> NoReturn:
        raise ValueError(
            f"{self._text!r:.200} is not a type; types are written like long, string, decimal(9,2),"
            " array<int> or struct<a:int,b:string>"
        )
