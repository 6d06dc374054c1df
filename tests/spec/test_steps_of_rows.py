"""Rows take the steps of the specification before they are stored, in Python and in the jar."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from colonnade.tableformat.write.pipeline import STEPS

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs/spec/operations.md").read_text()
JAVA = (ROOT / "spark_ext/java/src/colonnade/write/RowStep.java").read_text()


def stated() -> dict[str, set[str]]:
    """The steps of the page in their order, and those that each of them follows."""
    [section] = re.findall(r"## Added rows\n(.+?)\n## ", PAGE, re.DOTALL)
    rows = re.findall(r"^\| `(\w+)` \|.+\|([^|]*)\|$", section, re.MULTILINE)
    return {name: set(re.findall(r"`(\w+)`", after)) for name, after in rows}


def listed(name: str) -> list[str]:
    """A list of steps in the jar."""
    [names] = re.findall(rf"List<RowStep> {name} = List\.of\(([\w, ]+)\);", JAVA)
    return [each.strip().lower() for each in names.split(",")]


def keeps_order(done: list[str]) -> bool:
    """Whether steps that are done in this order keep the rule below the table of the page."""

    def end(name: str) -> int:
        return max(at for at, each in enumerate(done) if each == name)

    after = stated()
    begun = all(done.index(other) < end(name) for name in after for other in after[name])
    return begun and all(end(other) < end("check") for other in after["check"])


def test_python_does_the_steps_of_the_page_in_their_order() -> None:
    assert tuple(stated()) == STEPS
    assert keeps_order(list(STEPS))


def test_the_jar_does_the_steps_of_the_page_in_parts() -> None:
    [names] = re.findall(r"enum RowStep \{\s+([\w,\s]+);", JAVA)
    assert [each.strip().lower() for each in names.split(",")] == list(stated())
    done = [*listed("PLAN"), *listed("TASK")]
    assert set(done) == set(stated())
    assert keeps_order(done)
    assert not {"expire", "generate"} & set(listed("TASK"))  # a task has no code for these


@pytest.mark.parametrize(
    "done",
    [
        ["divide", "expire", "conform", "generate", "check", "identify"],
        ["divide", "generate", "conform", "expire", "identify", "check"],
        ["divide", "expire", "generate", "conform", "identify", "check"],
        ["conform", "expire", "generate", "check", "identify", "check", "conform", "divide"],
    ],
)
def test_an_order_that_changes_a_result_is_found(done: list[str]) -> None:
    assert not keeps_order(done)
