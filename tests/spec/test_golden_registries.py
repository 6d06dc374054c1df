"""Tables of the specification are made from the registries of the code.

A page has a line `<!-- table NAME -->` before such a table. `python -m tests.spec.make_golden
registries` writes the tables, so that a page cannot say anything else than the code.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from colonnade.manifests.commit.conflict_table import CONFLICTS, Kind
from colonnade.manifests.model.partition_transforms import TRANSFORMS
from colonnade.manifests.state.alterations import ALTERATIONS
from colonnade.tableformat.rowset.encodings.registry import ENCODINGS

SPEC = Path(__file__).parents[2] / "docs" / "spec"
_TABLE = re.compile(r"(^<!-- table ([^\n]*) -->\n\n)(?:^\|[^\n]*\n)+", re.MULTILINE)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(
        f"|{'|'.join(line)}|\n"
        if line[0] == "---"
        else f"| {' | '.join(line)} |\n".replace("|  |", "| |")
        for line in lines
    )


def conflicts() -> str:
    """What happens to each kind of change after each."""
    head = ["mine ↓ / theirs →", *(kind.value for kind in Kind)]
    rows = [[mine.value, *(CONFLICTS[mine, each].value for each in Kind)] for mine in Kind]
    return table(head, rows)


def alterations() -> str:
    """The alterations of tables, each with those that it conflicts with."""
    rows = [
        [f"`{operation.model_fields['op'].default}`", alteration.clash.value]
        for operation, alteration in ALTERATIONS.items()
    ]
    return table(["operation", "conflicts with"], rows)


def transforms() -> str:
    """The transforms of partition layouts."""
    rows = [
        ["" if at else f"`{each.name}`", types, value]
        for each in TRANSFORMS.values()
        for at, (types, value) in enumerate(each.rules)
    ]
    return table(["transform", "types", "value"], rows)


def wider_partitions() -> str:
    """Which transforms keep their values in a wider type."""
    of_days = ", ".join(f"`{each.name}`" for each in TRANSFORMS.values() if each.of_days)
    rows = [
        ["`identity`", "integers", "a longer integer, a decimal of scale 0"],
        ["all others", "integers", "a longer integer"],
        ["all", "`decimal`", "a decimal of the same scale"],
        ["all", "`char`, `varchar`", "a longer `varchar`, `string`"],
        [of_days, "`date`", "`timestamp_ntz`"],
    ]
    return table(["transform", "from", "to"], rows)


def encodings() -> str:
    """The encodings of blocks; the last one that a writer tries is the first to explain."""
    rows = [
        [f'<a id="{each.name}"></a>`{each.name}`', each.stream, each.value]
        for each in reversed(list(ENCODINGS.values()))
    ]
    return table(["encoding", "stream", "value of row i"], rows)


TABLES = {
    "conflicts": conflicts,
    "alterations": alterations,
    "transforms": transforms,
    "wider partitions": wider_partitions,
    "encodings": encodings,
}


def fill(page: str) -> str:
    """A page with its tables made anew."""
    return _TABLE.sub(lambda found: f"{found[1]}{TABLES[found[2]]()}", page)


def pages() -> list[Path]:
    """The pages that have such tables."""
    return [page for page in sorted(SPEC.glob("*.md")) if _TABLE.search(page.read_text("utf-8"))]


def make() -> None:
    """Write the tables into the pages."""
    for page in pages():
        page.write_text(fill(page.read_text("utf-8")), "utf-8")


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_a_page_says_what_the_registries_say(page: Path) -> None:
    text = page.read_text("utf-8")
    assert text == fill(text), "make it anew by python -m tests.spec.make_golden registries"


def test_every_registry_has_a_table_on_a_page() -> None:
    found = [each[1] for page in pages() for each in _TABLE.findall(page.read_text("utf-8"))]
    assert sorted(found) == sorted(TABLES)
