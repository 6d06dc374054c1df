"""`report` writes the page to a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.runner import Run
from tests.manifests.store.local.test_store import file_size_limit


def test_the_command_writes_the_page_of_a_database_or_of_a_table(
    run: Run, shop: Path, tmp_path: Path
) -> None:
    target = tmp_path / "report.html"
    for path, tables in ((shop, 2), (shop / "users", 1)):
        done = run("report", path, "--output", target, "--json").json
        assert (done["path"], done["epoch"], done["tables"]) == (str(path), 6, tables)
        page = target.read_bytes()
        assert done["bytes"] == len(page)
        assert f"<h1>{path}</h1>" in page.decode()


@pytest.mark.parametrize("target", ["page.html", "rows.csv", "rows.parquet"])
def test_a_full_disk_keeps_the_file_that_was_to_be_replaced(
    target: str, run: Run, shop: Path, tmp_path: Path
) -> None:
    path = tmp_path / "out" / target
    path.parent.mkdir()
    path.write_text("old")
    line = ("export", shop / "orders", path, "--yes")
    with file_size_limit(100):
        ran = run("report", shop, "-o", path) if target == "page.html" else run(*line)
    assert ran.code == 9
    assert f"{path} could not be written: File too large." in "".join(ran.err.splitlines())
    assert [each.read_text() for each in path.parent.iterdir()] == ["old"]


def test_a_report_may_go_to_a_device(run: Run, shop: Path) -> None:
    assert run("report", shop, "-o", "/dev/null").code == 0
