"""The search of pages of the site that a headless browser opens as files, without a network."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.cli.test_report_in_browser import browse

WORKER = "addEventListener('message', ({ data }) => postMessage(data.map(each => each * 2)));"

PAGE = """<html><head><script src="iframe-worker.js"></script></head><body><script>
  const worker = new Worker("worker.js");
  worker.addEventListener("message", ({ data }) => document.body.append(`SEEN${data.join()}`));
  worker.postMessage([1, 2]);
  worker.postMessage([3]);
</script></body></html>"""


@pytest.mark.long  # `bash tests/run --long` installs the browser
def test_a_page_that_is_opened_as_a_file_gets_what_a_worker_answers(tmp_path: Path) -> None:
    """Without the script, browsers refuse to start the worker of the search."""
    site = Path(__file__).parent.parent / "docs" / "site"
    shutil.copy(site / "iframe-worker.js", tmp_path)
    (tmp_path / "worker.js").write_text(WORKER)
    (tmp_path / "page.html").write_text(PAGE)
    shown = browse(tmp_path / "page.html", "--dump-dom", "--virtual-time-budget=10000")
    assert "SEEN2,4SEEN6" in shown
