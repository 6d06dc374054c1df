"""Functions of text. Characters are code points, and a NULL argument makes the result NULL."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pyarrow as pa

from colonnade.manifests.model.schema import INTEGERS
from colonnade.tableformat.predicate.like import parse_like
from colonnade.tableformat.predicate.values.casts import cast
from colonnade.tableformat.predicate.values.row_value import (
    RowValue,
    computed,
    exact,
    mapped,
    unsupported,
)
from colonnade.tableformat.types.compute import pc

_TO_END = 2**31 - 1


def require_text(name: str, values: Sequence[RowValue]) -> None:
    """Raise InvalidInputError for a value that is not text."""
    for each in values:
        if each.text not in ("string", "void"):
            raise unsupported(f"{name} of {each.text}")


def _texts(name: str, values: Sequence[RowValue]) -> list[RowValue]:
    require_text(name, values)
    return [cast(each, "string") for each in values]


def cased(name: str, value: RowValue) -> RowValue:
    """Return text in lower or upper case, by the rules of Unicode."""
    ascii_only = pc.ascii_lower if name == "lower" else pc.ascii_upper
    full: Callable[[str], str] = str.lower if name == "lower" else str.upper

    def apply(array: pa.Array) -> pa.Array:
        if pc.all(pc.string_is_ascii(array)).as_py() is not False:
            return ascii_only(array)
        return mapped(array, pa.string(), full)

    return computed("string", _texts(name, [value]), apply)


def trimmed(name: str, values: Sequence[RowValue]) -> RowValue:
    """Return text without some characters at an end: spaces, or those of the second value."""
    functions = {"trim": pc.utf8_trim, "ltrim": pc.utf8_ltrim, "rtrim": pc.utf8_rtrim}
    trim = functions[name]
    text, *others = _texts(name, values)
    if not others:
        return computed("string", [text], lambda array: trim(array, characters=" "))
    characters = others[0].literal
    if characters is None or characters.value is None:
        raise unsupported(f"{name} of characters that are not a literal")
    if characters.value == "":
        return text
    return computed("string", [text], lambda array: trim(array, characters=str(characters.value)))


def length(value: RowValue) -> RowValue:
    """Return the number of characters of text, or of bytes of binary."""
    if value.text == "binary":
        return computed("int", [value], lambda array: pc.binary_length(array).cast(pa.int32()))
    return computed("int", _texts("length", [value]), pc.utf8_length)


def concatenated(values: Sequence[RowValue]) -> RowValue:
    """Return texts one after another. Whole numbers are written as text first."""
    parts = [cast(each, "string") if each.text in INTEGERS else each for each in values]
    parts = _texts("concat", parts)
    return computed(
        "string",
        parts,
        lambda *arrays: exact(pc.binary_join_element_wise, *arrays, ""),
        asks_all=True,
    )


def substring(values: Sequence[RowValue]) -> RowValue:
    """Return characters of a text from a place on, counted from 1, or from the end below 0."""
    text, *rest = [*_texts("substring", values[:1]), *values[1:]]
    for each in rest:
        if each.text not in INTEGERS:
            raise unsupported(f"substring at {each.text}")
    places = [cast(each, "int") for each in rest]
    numbers = [each.literal.value for each in rest if each.literal is not None]
    if len(numbers) == len(rest) and isinstance(numbers[0], int) and numbers[0] >= 0:
        first = max(numbers[0], 1) - 1
        count = int(numbers[1]) if len(numbers) > 1 else _TO_END  # type: ignore[arg-type]
        end = first + max(count, 0)
        return computed(
            "string",
            [text, *places],
            lambda array, *_: pc.utf8_slice_codeunits(array, first, min(end, _TO_END)),
        )
    return computed("string", [text, *places], _substrings)


def _substrings(texts: pa.Array, starts: pa.Array, counts: pa.Array | None = None) -> pa.Array:
    lengths = [_TO_END] * len(texts) if counts is None else counts.to_pylist()
    found = [
        None if None in (text, start, count) else _substring(text, start, count)
        for text, start, count in zip(texts.to_pylist(), starts.to_pylist(), lengths, strict=True)
    ]
    return pa.array(found, pa.string())


def _substring(text: str, start: int, count: int) -> str:
    first = start - 1 if start > 0 else len(text) + start if start < 0 else 0
    return text[max(first, 0) : max(first + count, 0)]


def replaced(values: Sequence[RowValue]) -> RowValue:
    """Return text in which each occurrence of the second text is the third, or nothing."""
    parts = _texts("replace", values)
    literals = [each.literal for each in parts[1:]]
    if all(each is not None and isinstance(each.value, str) for each in literals):
        old, new = ([str(each.value) for each in literals if each is not None] + [""])[:2]
        if not old:
            return computed("string", parts[:1], lambda array: array)
        return computed(
            "string",
            parts[:1],
            lambda array: pc.replace_substring(array, pattern=old, replacement=new),
        )
    return computed("string", parts, _replaced)


def _replaced(texts: pa.Array, olds: pa.Array, news: pa.Array | None = None) -> pa.Array:
    rows = zip(
        texts.to_pylist(),
        olds.to_pylist(),
        [""] * len(texts) if news is None else news.to_pylist(),
        strict=True,
    )
    return pa.array(
        [None if None in row else row[0].replace(row[1], row[2]) if row[1] else row[0]
         for row in rows],
        pa.string(),
    )  # fmt: skip


def found_in(name: str, text: RowValue, part: RowValue) -> RowValue:
    """Return whether a text has another one at its beginning, at its end, or anywhere."""
    text, part = _texts(name, [text, part])
    functions = {
        "startswith": (pc.starts_with, str.startswith),
        "endswith": (pc.ends_with, str.endswith),
        "contains": (pc.match_substring, str.__contains__),
    }
    by_literal, by_row = functions[name]
    if part.literal is not None and part.literal.value is not None:
        pattern = str(part.literal.value)
        return computed("boolean", [text], lambda array: by_literal(array, pattern=pattern))

    def apply(texts: pa.Array, parts: pa.Array) -> pa.Array:
        pairs = zip(texts.to_pylist(), parts.to_pylist(), strict=True)
        return pa.array(
            [None if one is None or other is None else by_row(one, other) for one, other in pairs],
            pa.bool_(),
        )

    return computed("boolean", [text, part], apply)


def like(value: RowValue, pattern: str, escape: str) -> RowValue:
    """Return whether a text matches a pattern of LIKE. Raises InvalidInputError."""
    regex = parse_like(pattern, escape).regex
    return computed(
        "boolean",
        _texts("LIKE", [value]),
        lambda array: pc.match_substring_regex(array, pattern=regex),
    )
