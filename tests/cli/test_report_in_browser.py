"""The page of `report` in a headless browser: it fits, loads nothing, and shows in the dark."""

from __future__ import annotations

import json
import re
import subprocess
from html import unescape
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from colonnade.tableformat.table.database import ArrowDatabase
from tests.cli.runner import run_command

WIDTH = 500
"""The narrowest window that Chromium opens."""

PROBE = """<script>
addEventListener("load", () => {
  const out = document.createElement("output");
  out.textContent = "SEEN" + JSON.stringify({
    width: document.documentElement.scrollWidth,
    loaded: performance.getEntriesByType("resource").map(each => each.name),
    colour: getComputedStyle(document.body).backgroundColor,
    drawn: [...document.querySelectorAll("svg")].filter(svg => svg.clientHeight > 20).length,
    name: Math.max(...[...document.querySelectorAll("td.name")].map(td => td.clientWidth)),
    hidden: [...document.querySelectorAll("td")].filter(td => td.clientWidth === 0).length,
  }) + "NEES";
  document.body.append(out);
});
</script>"""

pytestmark = pytest.mark.long  # `bash tests/run --long` installs the browser


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a database with a long name in it, and with what asks the browser."""
    folder = tmp_path_factory.mktemp("report")
    database = ArrowDatabase.create(folder / "shop")
    schema = pa.schema([("id", pa.int64()), ("name", pa.string())])
    table = database.create_table("orders_of_" + "all_" * 20 + "shops", schema, sort_key=["id"])
    for start in range(0, 200, 20):
        ids = range(start, start + 30)
        table.append(pa.table({"id": ids, "name": ["n"] * len(ids)}, schema))
    table.delete("id < 25")
    assert run_command("report", folder / "shop", "-o", folder / "report.html").code == 0
    page = folder / "probed.html"
    html = (folder / "report.html").read_text()
    assert "</body>" in html
    page.write_text(html.replace("</body>", PROBE + "</body>"))
    return page


def browse(page: Path, *options: str) -> str:
    profile = page.parent / f"profile-{len(list(page.parent.iterdir()))}"
    quiet = ["--no-first-run", "--disable-background-networking", "--disable-component-update"]
    done = subprocess.run(
        ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-sync", *quiet,
         f"--user-data-dir={profile}", f"--window-size={WIDTH},900", *options, page.as_uri()],
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def seen(page: Path, *options: str) -> dict[str, Any]:
    found = re.search("SEEN({.*?})NEES", browse(page, "--dump-dom", *options))
    assert found is not None
    facts: dict[str, Any] = json.loads(unescape(found[1]))
    return facts


def test_a_narrow_page_scrolls_in_no_direction_but_down(page: Path) -> None:
    found = seen(page)
    assert found["width"] <= WIDTH
    assert found["loaded"] == []
    assert found["drawn"] >= 5
    assert found["hidden"] == 0
    assert found["name"] < WIDTH / 2  # long names do not push the numbers away


def test_the_page_is_dark_where_the_reader_wants_it(page: Path) -> None:
    light, dark = (
        sum(map(int, re.findall(r"\d+", found["colour"])[:3]))
        for found in (seen(page), seen(page, "--blink-settings=preferredColorScheme=0"))
    )
    assert light > 600
    assert dark < 150


def test_a_picture_can_be_taken_of_it(page: Path, tmp_path: Path) -> None:
    picture = tmp_path / "report.png"
    browse(page, f"--screenshot={picture}")
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert picture.stat().st_size > 10_000, "an empty page is smaller"
