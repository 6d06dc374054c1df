"""What a bar draws in a notebook and on a terminal, and where there is none."""

from __future__ import annotations

import io
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from colonnade.tableformat.bars import amount_text, are_seen, open_bar


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """What a test makes standard error; pytest has its own there until the test begins."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    return Terminal()


def use(terminal: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", terminal)


def test_amounts_are_told_with_their_total_and_their_rate() -> None:
    said = "1,500,000 of 2,000,000 rows, 3,000,000/s"
    assert amount_text("rows", 1_500_000, 2_000_000, 0.5) == said
    assert amount_text("bytes", 2**20, None, 2.0) == "1 MiB, 512 KiB/s"
    assert amount_text("RowSets", 0, 7, 3.0) == "0 of 7 RowSets"


def test_a_bar_is_seen_on_a_terminal_alone(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    for stream, seen in ((terminal, True), (io.StringIO(), False), (None, False)):
        monkeypatch.setattr(sys, "stderr", stream)
        assert are_seen() == seen


def test_rich_draws_a_bar_that_is_gone_at_the_end(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(terminal, monkeypatch)
    bar = open_bar("import [red]trips", "rows", 2_000_000)
    assert bar is not None
    bar.move(1_500_000, 2_000_000, 0.5)
    bar.close()
    drawn = terminal.getvalue()
    assert "import [red]trips" in drawn
    assert "1,500,000 of 2,000,000 rows, 3,000,000/s" in drawn
    assert drawn.rstrip().endswith("\x1b[2K")


class Tqdm:
    """Stands for tqdm."""

    made: list[Tqdm] = []

    def __init__(self, **options: Any) -> None:
        self.options, self.total, self.n, self.open = options, options["total"], 0, True
        self.made.append(self)

    def update(self, more: int) -> None:
        self.n += more

    def close(self) -> None:
        self.open = False


def test_tqdm_draws_the_bar_where_rich_is_missing(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(terminal, monkeypatch)
    monkeypatch.setitem(sys.modules, "rich.progress", None)
    monkeypatch.setitem(sys.modules, "tqdm", SimpleNamespace(tqdm=Tqdm))
    bar = open_bar("verify", "bytes", None)
    assert bar is not None
    [drawn] = Tqdm.made
    bar.move(3, 9, 0.5)
    bar.move(7, 9, 0.6)
    assert (drawn.n, drawn.total, drawn.open) == (7, 9, True)
    bar.close()
    assert not drawn.open
    chosen = {key: drawn.options[key] for key in ("desc", "unit", "leave", "file")}
    assert chosen == {"desc": "verify", "unit": "B", "leave": False, "file": terminal}


def test_nothing_is_drawn_where_both_are_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rich.progress", None)
    monkeypatch.setitem(sys.modules, "tqdm", None)
    assert open_bar("verify", "bytes", None) is None


def test_a_notebook_shows_html_in_one_place_which_is_empty_at_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shown: list[dict[str, str]] = []

    def update(bundle: dict[str, str], *, raw: bool) -> None:
        assert raw
        shown.append(bundle)

    def draw(bundle: dict[str, str], *, raw: bool, display_id: bool) -> SimpleNamespace:
        assert display_id
        update(bundle, raw=raw)
        return SimpleNamespace(update=update)

    shell = SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=draw))
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert are_seen()
    bar = open_bar("append <b>", "rows", 9)
    assert bar is not None
    bar.move(3, 9, 1.0)
    bar.move(4, None, 1.0)
    bar.close()
    assert [each["text/plain"] for each in shown] == [
        "",
        "append <b>: 3 of 9 rows, 3/s",
        "append <b>: 4 rows, 4/s",
        "",
    ]
    first, known, unknown, last = (each["text/html"] for each in shown)
    assert known.startswith("<progress value='3' max='9' ")
    assert known.endswith("append &lt;b&gt;: 3 of 9 rows, 3/s")
    assert "value" not in unknown
    assert first == last == ""
    shell.kernel = None  # IPython on a terminal
    assert not are_seen()
