"""The specification of the log can be read in one sitting, and so can the code of its features."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
SPEC = ROOT / "docs" / "spec"
NOUNS, WORDS, FEATURE_LINES = 14, 5_500, 80


def test_the_log_has_few_nouns_and_each_is_defined_once() -> None:
    table = (SPEC / "epoch-log.md").read_text().partition("| noun | meaning |")[2]
    nouns = re.findall(r"^\| \*([^*]+)\* \|", table.partition("\n## ")[0], re.MULTILINE)
    assert "epoch" in nouns
    assert len(nouns) == len(set(nouns)) <= NOUNS


def test_the_pages_of_the_log_and_of_its_store_are_short() -> None:
    pages = [(SPEC / name).read_text() for name in ("epoch-log.md", "store.md")]
    assert sum(len(page.split()) for page in pages) <= WORDS


def test_the_mechanism_of_features_is_short() -> None:
    module = ROOT / "manifests" / "state" / "features.py"
    assert len(module.read_text().splitlines()) <= FEATURE_LINES
