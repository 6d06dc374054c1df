"""What users get from `report()`: a page that is shown, saved and opened."""

from __future__ import annotations

import re
import sys
import tempfile
import webbrowser
from html import unescape
from pathlib import Path
from typing import Any

import pytest

import colonnade
from colonnade import InvalidInputError
from colonnade.tableformat.table.report.report import Report
from tests.cli.runner import make_shop


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return make_shop(tmp_path)


def test_a_notebook_shows_the_page_in_a_frame_that_runs_no_script(shop: Path) -> None:
    page = colonnade.open(shop / "orders").report()
    assert repr(page) == f"Report(path='{shop}/orders', epoch=6, tables=1)"
    frame = re.fullmatch(
        r'<iframe sandbox style="[^"]*" srcdoc="([^"]*)"></iframe>', page._repr_html_()
    )
    assert frame is not None
    assert unescape(frame[1]) == page.html
    assert page.html.startswith("<!doctype html>")


def test_a_report_is_of_the_newest_state_and_of_the_last_epochs(shop: Path) -> None:
    database, orders = colonnade.open_database(shop), colonnade.open(shop / "orders")
    colonnade.open(shop / "users").append([{"name": "Ada"}])
    assert [(each.epoch, each.tables) for each in (database.report(), orders.report())] == [
        (7, 2),
        (7, 1),
    ]
    assert "The last 3 epochs;" in database.report(3).html
    assert "1 of the last 3 epochs of the database" in orders.report(epochs=3).html


def test_a_lone_table_has_a_page_like_any_table(tmp_path: Path) -> None:
    table = colonnade.create(tmp_path / "lone", {"id": "bigint"}, data=[{"id": 1}])
    assert table.report().path == str(tmp_path / "lone")
    assert colonnade.open_database(tmp_path / "lone").report().path == str(tmp_path / "lone")


@pytest.mark.parametrize("wrong", [0, -1, 2.0, True, None])
def test_a_number_of_epochs_that_is_none_is_refused(shop: Path, wrong: Any) -> None:
    with pytest.raises(InvalidInputError, match="whole number of epochs from 1"):
        colonnade.open_database(shop).report(wrong)


def test_a_report_is_saved_in_place_of_another_and_opened_in_a_browser(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = colonnade.open_database(shop).report()
    target = tmp_path / "report.html"
    for _ in range(2):
        assert page.save(str(target)) == target
        assert target.read_text("utf-8") == page.html
    link = tmp_path / "link.html"
    link.symlink_to(target)
    with pytest.raises(InvalidInputError, match="is a link"):
        page.save(link)
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    file = page.open()
    assert opened == [file.as_uri()]
    assert file.read_text("utf-8") == page.html


def test_a_report_without_jinja2_says_what_to_install(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ImportError, match="A report needs jinja2: install jinja2, or colonnade"):
        colonnade.open_database(shop).report()


def test_a_report_is_of_a_public_class(shop: Path) -> None:
    assert type(colonnade.open(shop / "orders").report()) is Report is colonnade.Report
