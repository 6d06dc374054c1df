"""The report is one whole page, for any database and any table."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pyarrow as pa

import colonnade
from tests.cli.runner import make_shop

VOID = {"meta", "br", "link", "img"}


class Balanced(HTMLParser):
    """Raises for a tag that is not closed, and collects what is fetched from elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.fetched: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.fetched += [value or "" for name, value in attrs if name in ("src", "srcset")]
        if tag in ("script", "link", "iframe", "img"):
            self.fetched.append(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_is_whole_and_needs_nothing_from_elsewhere(
    tmp_path: Path,
) -> None:
    page = page_of(make_shop(tmp_path))
    parser = Balanced()
    parser.feed(page)
    assert parser.open == []
    assert parser.fetched == []
    assert not re.search(r"https?://|url\(|@import", page)
    assert "prefers-color-scheme: dark" in page
    assert 'name="viewport"' in page
    assert page.count("<svg") == 5  # the line of epochs, and four drawings of the table with rows


def test_names_that_users_give_are_shown_as_text_and_never_as_markup(tmp_path: Path) -> None:
    database = colonnade.create_database(tmp_path / "db")
    table = database.create_table("a<b>&c", pa.schema([("n", pa.int64())]), comment="<script>")
    table.append(pa.table({"n": [1]}))
    page = page_of(tmp_path / "db")
    assert "<script>" not in page
    assert "a&lt;b&gt;&amp;c" in page
    assert "<b>&c" not in page


def test_a_database_without_tables_has_a_page(tmp_path: Path) -> None:
    colonnade.create_database(tmp_path / "db")
    assert "No tables yet." in page_of(tmp_path / "db")


def test_the_page_says_what_compaction_would_do_next(tmp_path: Path) -> None:
    shop = make_shop(tmp_path)
    orders = colonnade.open(shop / "orders")
    page = page_of(shop)
    assert "20.0% of the rows are deleted" in page
    assert "RowSets that may hold one key" in page
    orders.overwrite(orders.scan().to_arrow())
    assert "Nothing: the table is as its policy wants it." in page_of(shop)


def test_the_page_of_a_table_names_it_and_no_other_table(tmp_path: Path) -> None:
    shop = make_shop(tmp_path)
    page = colonnade.open(shop / "users").report().html
    assert f"<h1>{shop}/users</h1>" in page
    assert "orders" not in page
    assert "1 of the last 7 epochs of the database changed the table" in page


def page_of(database: Path) -> str:
    return colonnade.open_database(database).report().html
