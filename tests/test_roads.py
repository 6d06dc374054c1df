"""The page about a commit names the modules that a call goes through, in tables."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pyarrow as pa
import pytest

import colonnade
from tests.test_layers import ROOT

PAGE = (ROOT / "docs" / "a-commit.md").read_text()
MODULE = re.compile(r"`((?:manifests|tableformat)/[a-z_/]+\.py)`")
SCHEMA = pa.schema([pa.field("id", pa.int64(), nullable=False), ("item", pa.string())])


def named(beginning: str) -> set[str]:
    """The modules in the first table after some words of the page."""
    table = re.search(r"(?:^\|.*\n)+", PAGE[PAGE.index(beginning) :], re.MULTILINE)
    assert table is not None
    return set(MODULE.findall(table[0]))


def visited(call: Callable[[], object]) -> set[str]:
    """The modules of the project whose functions a call runs."""
    found: set[str] = set()

    def note(frame: FrameType, event: str, argument: Any) -> None:
        if event == "call":
            found.add(frame.f_code.co_filename.rpartition("/colonnade/")[2])

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return found


def rows(*ids: int) -> pa.Table:
    return pa.table({"id": [*ids], "item": [f"item {each}" for each in ids]}, SCHEMA)


APPEND = named("### Its modules")
WRITES = re.compile(r"statements/append|write/pipeline|/rowset/")
COMMIT = {each for each in APPEND if not WRITES.search(each)}


@pytest.mark.parametrize(
    ("modules", "call"),
    [
        (APPEND, lambda table: table.append(rows(20))),
        (
            named("### The modules of a DELETE") | COMMIT,
            lambda table: table.delete("item = 'item 3'"),
        ),
        (named("`orders.scan("), lambda table: table.scan(["item"], "id > 1").to_arrow()),
        (
            named("`orders.upsert(") | APPEND - {"tableformat/statements/append.py"},
            lambda table: table.upsert(rows(1, 20)),
        ),
    ],
)
def test_a_call_goes_through_each_module_that_the_page_names(
    tmp_path: Path, modules: set[str], call: Callable[[colonnade.ArrowTable], object]
) -> None:
    table = colonnade.create(tmp_path / "t", SCHEMA, primary_key=["id"])
    table.append(rows(*range(10)))
    assert len(modules) > 5
    assert modules <= visited(lambda: call(table))


def test_the_page_names_classes_of_the_jar_and_modules_that_exist() -> None:
    classes = re.findall(r"`((?:spark|read|write)\.[a-z.]*[A-Z]\w+)`", PAGE)
    modules = re.findall(r"`((?:manifests|tableformat|spark_ext)/[a-z_/]+\.py)`", PAGE)
    java = ROOT / "spark_ext" / "java" / "src" / "colonnade"
    files = [java / f"{each.replace('.', '/')}.java" for each in classes]
    files += [ROOT / each for each in modules]
    assert len(classes) > 10
    assert len(modules) > 30
    assert [each for each in files if not each.exists()] == []
