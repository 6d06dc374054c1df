"""What pages print of a golden database: the objects of `test_golden_example.py`, for people.

A page has a line `<!-- shows NAME -->`, and below it a block of code. `fill` writes into the block
what NAME has, so that no page shows other bytes than a database has.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "docs" / "a-commit.md",
    ROOT / "docs" / "spec" / "reading.md",
    ROOT / "docs" / "spec" / "epoch-log.md",
]
_BLOCK = re.compile(r"(^<!-- shows ([^\n]*) -->\n```\w*\n).*?(^```$)", re.MULTILINE | re.DOTALL)
_WIDTH = 96
_LONGEST = 64


def fill(page: str, parts: Mapping[str, str]) -> str:
    """Return a page whose blocks show these parts. Raises KeyError for another name."""
    return _BLOCK.sub(lambda found: f"{found[1]}{parts[found[2]]}{found[3]}", page)


def names_in(page: str) -> list[str]:
    """Return what a page shows."""
    return [found[1] for found in _BLOCK.findall(page)]


def sealed(data: bytes) -> str:
    """Return a sealed object with line breaks in its body. Long texts are cut."""
    whole = json.loads(data)
    return f'{{"crc32c":"{whole["crc32c"]}","body":\n{_pretty(whole["body"], "")}}}\n'


def dump(data: bytes) -> str:
    """Return bytes as hexadecimal digits, sixteen bytes to a line."""
    lines = (data[at : at + 16].hex(" ") for at in range(0, len(data), 16))
    return "".join(f"{16 * at:03x}  {line}\n" for at, line in enumerate(lines))


def _pretty(value: Any, indent: str, before: int = 0) -> str:
    short = _text(value)
    inner = indent + " "
    if len(indent) + before + len(short) <= _WIDTH or not isinstance(value, (dict, list)):
        return short
    if isinstance(value, dict):
        keys = (json.dumps(key, ensure_ascii=False) + ":" for key in value)
        parts = [
            key + _pretty(each, inner, len(key))
            for key, each in zip(keys, value.values(), strict=True)
        ]
        ends = "{}"
    else:
        parts, ends = [_pretty(each, inner) for each in value], "[]"
    return f"{ends[0]}{_filled(parts, inner, before)}{ends[1]}"


def _filled(parts: list[str], indent: str, before: int) -> str:
    """Put short parts beside each other, and each long one on lines of its own."""
    lines = [""]
    for at, part in enumerate(parts):
        piece = part + ("," if at < len(parts) - 1 else "")
        last = lines[-1]
        fits = len(indent) + before + len(last) + len(piece) <= _WIDTH
        if last and (not fits or "\n" in last or "\n" in piece):
            lines.append(piece)
            before = 0
        else:
            lines[-1] += piece
    return f"\n{indent}".join(lines)


def _text(value: Any) -> str:
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    return re.sub(
        rf'"([A-Za-z0-9+/=]{{24}})[A-Za-z0-9+/=]{{{_LONGEST - 24},}}"',
        lambda found: f'"{found[1]}…"',
        text,
    )
