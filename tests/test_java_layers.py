"""The structure of the Java half as a test: imports point down, quirks of Spark stay together."""

import re
from functools import cache
from pathlib import Path

import pytest

from tests.spark_rules import listed

ROOT = Path(__file__).parent.parent / "spark_ext" / "java" / "src" / "colonnade"
LAYERS = (
    "store",
    "store.hadoop",
    "store.cache",
    "format",
    "format.arrow",
    "format.rowset",
    "read.vector",
    "write.refusals",
    "write.staged",
    "encodings",
    "read.block",
    "read.plan",
    "read",
    "read.aggregates",
    "read.feed",
    "write.job",
    "write.rowset",
    "write",
    "write.columns",
    "planner.messages",
    "planner",
    "spark.table",
    "spark.scan",
    "spark.quirks.session",
    "spark.quirks.statement",
    "spark.streams",
    "spark.feed",
    "spark.quirks.expressions",
    "spark.quirks.tables",
    "spark.quirks.reads",
    "spark.quirks.writes",
    "spark.quirks.changes",
    "spark.quirks.rules",
    "spark.quirks",
    "spark.sink",
    "spark.catalog.design",
    "spark.catalog",
    "spark.words",
    "catalog",
    "source",
)
"""Every package of the jar; each may import those before it."""

QUIRKS = [package for package in LAYERS if package.startswith("spark.quirks.")]
MOST_QUIRKS = 20
"""How many files a folder of quirks may have. They stand in folders by what they mend."""

PRIVATE = re.compile(
    r"org\.apache\.spark\.sql\.(execution\.(?!datasources\.v2\.python\.)|classic\.|connect\."
    r"|catalyst\.(plans|optimizer|analysis\.Resolve))"
)
"""Classes that Spark does not promise to keep: plans, rules, strategies and servers.

The connector API and `connector.*` are public. The class that carries commit messages is in
`datasources.v2.python`; docs/decisions/spark-jar.md says why it is used.
"""

PRIVATE_ELSEWHERE = {
    "planner/HadoopSettings.java": "asks the session for its settings of Hadoop",
    "spark/catalog/NamedTable.java": "asks the session catalog for the table that a text names",
    "spark/catalog/SessionCommands.java": "a strategy that answers commands from our catalog",
    "spark/scan/ColonnadeScan.java": "asks whether Spark generates code that reads columns",
}
"""Files outside `spark.quirks` that depend on them, each with its reason."""

CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.DOTALL)
OURS = re.compile(r"\bcolonnade\.((?:[a-z]\w*\.)*[a-z]\w*)\.[A-Z]")


@cache
def code_of(path: Path) -> str:
    """The text of a file without comments and strings."""
    return CODE.sub("", path.read_text())


def package_of(path: Path) -> str:
    return ".".join(path.parent.relative_to(ROOT).parts)


def sources(package: str) -> list[Path]:
    return sorted((ROOT / package.replace(".", "/")).glob("*.java"))


def packages_that(path: Path) -> set[str]:
    """The packages of ours that a file names, in imports or in full."""
    return {match for match in OURS.findall(code_of(path)) if match != package_of(path)}


def test_every_package_has_its_layer() -> None:
    assert {package_of(path) for path in ROOT.rglob("*.java")} == set(LAYERS)


@pytest.mark.parametrize("package", LAYERS)
def test_a_file_says_the_package_of_its_folder(package: str) -> None:
    for path in sources(package):
        assert f"package colonnade.{package};" in code_of(path), path


@pytest.mark.parametrize("package", LAYERS)
def test_imports_point_down_so_packages_form_no_circle(package: str) -> None:
    below = set(LAYERS[: LAYERS.index(package)])
    for path in sources(package):
        assert packages_that(path) <= below, f"{path} imports {packages_that(path) - below}"


def test_files_beside_the_planner_and_spark_know_neither() -> None:
    for package in LAYERS[: LAYERS.index("planner")]:
        for path in sources(package):
            found = re.search(r"org\.apache\.spark\.sql\.connector\.catalog", code_of(path))
            assert not found, f"{path} knows of catalogs, which is the business of colonnade.spark"


def test_private_classes_of_spark_are_named_in_quirks_alone() -> None:
    elsewhere = {
        path.relative_to(ROOT).as_posix()
        for path in ROOT.rglob("*.java")
        if package_of(path) not in QUIRKS and PRIVATE.search(code_of(path))
    }
    assert elsewhere == set(PRIVATE_ELSEWHERE)


@cache
def quirks() -> list[Path]:
    paths = [path for package in QUIRKS for path in sources(package)]
    return [path for path in paths if path.stem != "package-info"]


def test_each_quirk_says_on_which_versions_of_spark_it_was_seen() -> None:
    for path in quirks():
        assert re.search(r"Seen on Spark \d\.\d", path.read_text()), path


@pytest.mark.parametrize("package", QUIRKS)
def test_a_folder_of_quirks_is_small_and_says_what_it_mends(package: str) -> None:
    paths = sources(package)
    assert len(paths) <= MOST_QUIRKS
    assert "package-info" in {path.stem for path in paths}


def test_the_page_about_sessions_lists_each_rule_for_spark() -> None:
    page = (Path(__file__).parent.parent / "docs" / "spark-sessions.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \| (.*) \| ([\d., ]+) \|$", page, re.MULTILINE)
    rules = listed().values()
    listed_rows = [(each.name, each.mends.lower(), each.without, each.versions) for each in rules]
    assert sorted(rows) == sorted(listed_rows)


def test_every_rule_and_strategy_is_listed() -> None:
    kinds = re.compile(r"class (\w+) extends (?:Rule<LogicalPlan>|SparkStrategy|SparkSqlParser)")
    found = {
        name[0].lower() + name[1:]
        for path in ROOT.rglob("*.java")
        for name in kinds.findall(path.read_text())
        if not name.startswith("Switched")
    }
    assert found == listed().keys()


def test_no_type_exists_twice() -> None:
    public = {"catalog", "source"}  # the names that users write, over the classes that do the work
    stems = [path.stem for path in ROOT.rglob("*.java") if package_of(path) not in public]
    twice = {stem for stem in stems if stems.count(stem) > 1} - {"package-info"}
    assert not twice
