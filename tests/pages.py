"""Runs the code of a page, block by block, as a reader would who types all of it.

Blocks of `python`, `sql` and `console` run; other blocks, such as `bash`, do not. What a page takes
as given, a comment in the page makes, which browsers do not show: `<!-- run`, Python, `-->`.
"""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```(python|sql|console)\n(.*?)^```$|^<!-- run\n(.*?)^-->$", re.M | re.S)
STATEMENT_END = re.compile(r";[ ]*(?:--.*)?$", re.M)
BY_THE_SHELL = {"cp", "mkdir", "mv"}
ELSEWHERE = {"bash", "pip", "python3", "spark-sql", "spark-submit", "jar=$(python"}
"""What other tests run, because it makes environments, clusters or Sparks of its own."""


@dataclass(frozen=True)
class CodeBlock:
    """Some code of a page; `line` is where its text begins, from 1."""

    language: str
    text: str
    line: int


def code_pages() -> list[Path]:
    """Every page for people that has code."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    return [page for page in pages if list(blocks(page))]


def needs_spark(page: Path) -> bool:
    """Whether some code of the page is for Spark."""
    return any(b.language == "sql" or re.search(r"\bspark\b", b.text) for b in blocks(page))


def blocks(page: Path) -> Iterator[CodeBlock]:
    """The code of a page from top to bottom."""
    text = page.read_text("utf-8")
    for found in BLOCK.finditer(text):
        line = text.count("\n", 0, found.start()) + 2
        yield CodeBlock(found[1] or "python", found[2] or found[3] or "", line)


def run_page(page: Path, names: dict[str, Any]) -> None:
    """Run the code of a page in the present folder; `names` are those that it may use."""
    for block in blocks(page):
        try:
            if block.language == "python":
                # Empty lines before it, so that a traceback names the line of the page.
                exec(compile("\n" * (block.line - 1) + block.text, page, "exec"), names)
            elif block.language == "sql":
                for statement in filter(str.strip, STATEMENT_END.split(block.text)):
                    names["spark"].sql(statement).collect()
            else:
                run_console(block.text)
        except BaseException as error:
            raise AssertionError(f"{page.name}, code at line {block.line}: {error}") from error


def run_console(text: str) -> None:
    """Run the lines that begin with a prompt; other lines are what commands print."""
    from tests.cli.runner import run_command

    lines = re.findall(r"^\$ ((?:.*\\\n)*.*)$", text, re.M)
    for line in (each.replace("\\\n", " ") for each in lines):
        name, *arguments = shlex.split(line, comments=True)
        if name in BY_THE_SHELL:
            subprocess.run(line, shell=True, check=True)
        elif name == "colonnade":
            if "--every" in arguments:  # would not end
                arguments = arguments[: arguments.index("--every")]
            ran = run_command(*arguments, answer="y\n")
            assert ran.code == 0, f"{line}: {ran.err or ran.out}"
        else:
            assert name in ELSEWHERE, f"no test runs {line!r}"
