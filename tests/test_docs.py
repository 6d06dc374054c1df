"""The pages for people lead where they say, and what they show runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import colonnade
from tests.pages import code_pages, needs_spark, run_page

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
CODE = ("manifests", "tableformat", "spark_ext", "colonnade")
LINK = re.compile(r"\[[^\]]*\]\((?!https?:)([^)]*)\)")
MENTION = re.compile(r"`([a-z./-]+\.md(?:#[a-z-]+)?)`")
FROM_CODE = re.compile(r"docs/[a-z/-]+\.md(?:#[a-z_-]+)?")
PLACE = re.compile(r"`((?:manifests|tableformat|spark_ext|colonnade|tests|benchmarks)/[\w./-]*)`")


def anchors(page: Path) -> set[str]:
    """What a link into a page may name: its headings, and what it marks."""
    text = page.read_text("utf-8")
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    named = {re.sub(r"[^\w -]", "", each.lower()).replace(" ", "-") for each in headings}
    return named | set(re.findall(r'<a id="([^"]+)"', text))


def is_there(target: str, *folders: Path) -> bool:
    """Whether a path that may end in an anchor leads somewhere from one of some folders."""
    name, _, anchor = target.partition("#")
    found = [folder / name for folder in folders if (folder / name).exists()]
    return bool(found) and (not anchor or anchor in anchors(found[0]))


def references(page: Path) -> Iterator[tuple[str, bool]]:
    """Where a page leads, by links and by names of other pages."""
    text = page.read_text("utf-8")
    for target in LINK.findall(text):
        own = page.name if target.startswith("#") else ""
        yield target, is_there(own + target, page.parent)
    for target in MENTION.findall(text):
        yield target, is_there(target, page.parent, ROOT, ROOT / "docs")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    assert [target for target, there in references(page) if not there] == []


def test_every_page_that_the_code_names_is_there() -> None:
    files = [
        file
        for folder in CODE
        for end in ("py", "java")
        for file in (ROOT / folder).rglob(f"*.{end}")
    ]
    named = {
        (file, target) for file in files for target in FROM_CODE.findall(file.read_text("utf-8"))
    }
    assert len(named) > 50
    assert [(str(file), target) for file, target in named if not is_there(target, ROOT)] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_file_and_folder_that_a_page_names_is_there(page: Path) -> None:
    named = PLACE.findall(page.read_text("utf-8"))
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_every_test_that_a_page_names_is_there() -> None:
    pages = "".join(page.read_text("utf-8") for page in PAGES)
    named = {*re.findall(r"`(test_\w+)(?:\.py)?`", pages)}
    modules = [*(ROOT / "tests").rglob("test_*.py")]
    there = {module.stem for module in modules}
    for module in modules:
        there.update(re.findall(r"^def (test_\w+)\(", module.read_text("utf-8"), re.MULTILINE))
    assert named
    assert named - there == set()


def test_the_readme_stays_one_page() -> None:
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= 130


def test_every_page_can_be_reached_from_the_readme() -> None:
    seen: set[Path] = set()
    waiting = [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        seen.add(page)
        targets = [target.partition("#")[0] for target in LINK.findall(page.read_text("utf-8"))]
        found = {(page.parent / target).resolve() for target in targets if target.endswith(".md")}
        waiting += found - seen
    assert set(PAGES) - seen == set()


@pytest.mark.parametrize(
    "page", [each for each in code_pages() if not needs_spark(each)], ids=lambda page: page.stem
)
def test_the_code_of_every_page_without_spark_runs_unchanged(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run_page(page, {"colonnade": colonnade})


REFERENCE = (ROOT / "docs" / "reference.md").read_text("utf-8")
LISTED = re.findall(r"^::: colonnade\.(\w+)$", REFERENCE, re.MULTILINE)


def test_the_reference_has_every_public_name_and_no_other() -> None:
    assert len(LISTED) == len(set(LISTED))
    assert set(LISTED) == {*dir(colonnade)} - {"__version__"}


def test_the_reference_lists_the_methods_of_the_handles_that_completion_shows() -> None:
    """A list is in the order of use. Without one, the page shows all names."""
    blocks = re.split(r"^::: colonnade\.", REFERENCE, flags=re.MULTILINE)[1:]
    members = {each.split()[0]: re.findall(r"^ +- (\w+)$", each, re.MULTILINE) for each in blocks}
    stated = {name: listed for name, listed in members.items() if listed}
    assert {"ArrowTable", "ArrowDatabase", "Scan", "Table", "Database"} <= set(stated)
    for name, listed in stated.items():
        shown = {each for each in dir(getattr(colonnade, name)) if not each.startswith("_")}
        assert set(listed) == shown, name
        assert len(listed) == len(shown), name


def test_the_reference_begins_with_what_people_call_and_ends_with_results_and_errors() -> None:
    assert LISTED[:8] == [
        *("create", "open", "create_database", "open_database", "ArrowTable", "Scan"),
        *("Changes", "ArrowDatabase"),
    ]
    sections = re.findall(r"^## (.*)$", REFERENCE, re.MULTILINE)
    assert sections[-2:] == ["Results", "Errors"]
    errors = [name for name in LISTED if name.endswith("Error")]
    assert LISTED[-len(errors) :] == errors
    table = REFERENCE.split("::: colonnade.ArrowTable\n")[1].split(":::")[0]
    assert re.findall(r"- (\w+)", table)[:5] == ["create", "open", "append", "upsert", "scan"]


def test_the_list_of_decisions_has_each_page_of_them() -> None:
    listed = re.findall(
        r"\]\((decisions/[\w-]+\.md)\)", (ROOT / "docs" / "decisions.md").read_text()
    )
    pages = sorted((ROOT / "docs" / "decisions").glob("*.md"))
    assert sorted(listed) == [f"decisions/{page.name}" for page in pages]


@pytest.mark.parametrize("name", ["ArrowTable", "ArrowDatabase"])
def test_the_page_about_python_names_existing_methods(name: str) -> None:
    text = (ROOT / "docs" / "python.md").read_text("utf-8")
    section = text.split(f"`{name}`\n")[1].split("\n## ")[0]
    cells = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    named = re.findall(r"`(\w+)", " ".join(cells))
    assert len(named) > 10
    assert [each for each in named if not hasattr(getattr(colonnade, name), each)] == []
