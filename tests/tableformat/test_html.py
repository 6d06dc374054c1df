"""What notebooks show: facts of a value in small tables, whatever text users have given it."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from colonnade.tableformat.html import Rows, html_of


class Reader(HTMLParser):
    """The texts of a page, and the tags that it opens and does not close."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.open: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def shown(value: Any) -> list[str]:
    """The texts that a notebook shows of a value."""
    read = Reader(value._repr_html_())
    assert read.open == []
    return read.texts


TEXTS = st.text(st.characters(blacklist_categories=("Cs", "Cc")), min_size=1, max_size=30)


@given(TEXTS, st.lists(st.tuples(TEXTS, TEXTS), max_size=3))
def test_any_text_is_shown_as_text(title: str, facts: list[tuple[str, str]]) -> None:
    read = Reader(html_of(title, facts, Rows([title], [[text] for _, text in facts])))
    assert read.open == []
    rows = [title, *(text for _, text in facts)] if facts else []
    assert read.texts == [title, *(text for fact in facts for text in fact), *rows]


def test_long_texts_are_cut_and_numbers_are_grouped() -> None:
    read = Reader(html_of("t", [("long", "x" * 1000), ("many", 1234567), ("none", None)]))
    assert read.texts == ["t", "long", "x" * 199 + "…", "many", "1,234,567"]
