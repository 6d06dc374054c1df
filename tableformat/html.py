"""What a notebook shows of a value: a title, names with values, and rows. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import NamedTuple

_LONGEST = 200
"""The most characters of a cell that are shown."""


class Rows(NamedTuple):
    """Rows below the names of their columns."""

    columns: Sequence[str]
    rows: Sequence[Sequence[object]]


def html_of(title: str, facts: Iterable[tuple[str, object]] = (), *tables: Rows) -> str:
    """Return HTML that needs nothing else, in which every text is escaped.

    Facts without a value are left out, and tables without rows.
    Whole numbers get thousands separators, so a number that is not an amount is given as text.
    """
    lines = [
        f"<tr><th style='text-align:left'>{escape(name)}</th>{_cell(value)}</tr>"
        for name, value in facts
        if value not in (None, "", (), [])
    ]
    parts = [f"<strong>{escape(title)}</strong>"]
    parts += [f"<table>{''.join(lines)}</table>"] if lines else []
    parts += [_table(each) for each in tables if each.rows]
    return f"<div>{''.join(parts)}</div>"


def _table(table: Rows) -> str:
    head = "".join(f"<th style='text-align:left'>{escape(each)}</th>" for each in table.columns)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in table.rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: object) -> str:
    if value is None:
        return "<td><em>NULL</em></td>"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"<td style='text-align:right'>{value:,}</td>"
    text = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    shown = text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
    return f"<td style='text-align:left'>{escape(shown)}</td>"
