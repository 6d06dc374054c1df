"""Tests mirror the tree: a module of the two lower packages has the test module of its path.

`ELSEWHERE` names the few modules that another test module covers, and why. A new module is not
among them, so it needs tests of its own.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from tests.test_layers import ROOT

PACKAGES = ("manifests", "tableformat")
MODULE = re.compile(r"colonnade(\.[a-z_0-9]+)+")

ELSEWHERE = {
    "errors": (
        "test_errors.py",
        "it finds the errors that all packages define and raise",
    ),
    "later": ("test_first_use.py", "it says what programs load, and when"),
    "public": ("test_first_use.py", "it asks each public name what it says of itself"),
    "types.compute": ("test_first_use.py", "it loads the functions of Arrow when they are used"),
    "store.base": (
        "manifests/store/conformance/test_objects.py",
        "the contract, tried on every kind of store",
    ),
    "store.object_store": (
        "manifests/store/conformance/test_objects.py",
        "what is built on the contract, tried on every kind of store",
    ),
    "model.tombstones": (
        "spec/test_golden_tombstones.py",
        "what makes a RowSet one of tombstones is a rule of the specification",
    ),
    "predicate.grammar.predicates": (
        "tableformat/predicate/test_sql.py",
        "a part of the parser, which is loaded when it is needed",
    ),
    "predicate.bind_literals": (
        "tableformat/predicate/test_bind.py",
        "binding is tried as a whole",
    ),
    "predicate.values.arithmetic": (
        "tableformat/predicate/values/test_functions.py",
        "every function is tried as SQL, by its name in one table",
    ),
    "predicate.values.choices": (
        "tableformat/predicate/values/test_functions.py",
        "every function is tried as SQL, by its name in one table",
    ),
    "predicate.values.moments": (
        "tableformat/predicate/values/test_functions.py",
        "every function is tried as SQL, by its name in one table",
    ),
    "predicate.grammar.trees": (
        "tableformat/predicate/test_sql.py",
        "a part of the parser, which is loaded when it is needed",
    ),
    "rowset.stored.column_segments": (
        "spec/test_golden_rowset.py",
        "its bytes are those of the specification",
    ),
    "rowset.encodings.encoding": (
        "tableformat/rowset/encodings/test_plain.py",
        "a value without behaviour, which every encoding returns",
    ),
    "rowset.stored.filter_pruning": (
        "tableformat/rowset/test_bloom_filter.py",
        "filters are written and asked in one test",
    ),
    "rowset.stored.reader": (
        "tableformat/compaction/test_run.py",
        "a compaction reads what RowSets store, and all else reads it through `RowSetReader`",
    ),
    "rowset.stored.source": (
        "tableformat/scan/test_far_reads.py",
        "what it promises is the number of requests of a scan",
    ),
    "model.columns.statics": (
        "spec/test_golden_static_columns.py",
        "what a table of static values has is a rule of the specification",
    ),
    "state.folds.statics": (
        "spec/test_golden_static_columns.py",
        "the fold refuses what the specification forbids",
    ),
    "statements.commit": (
        "tableformat/statements/test_overwrite.py",
        "every kind of statement is committed by it",
    ),
    "table.report.database_facts": (
        "tableformat/table/report/test_chart_data.py",
        "the report shows these facts, beside commands of the command line",
    ),
    "table.report.charts": (
        "tableformat/table/report/test_chart_data.py",
        "every RowSet of random facts is in each drawing",
    ),
    "table.report.partitions": (
        "tableformat/table/report/test_chart_data.py",
        "they are facts of the report, in a module of their own",
    ),
    "table.alteration.draft": (
        "tableformat/table/alteration/test_columns.py",
        "the state that every alteration edits, and the base of their classes",
    ),
    "table.alteration.widen": (
        "tableformat/table/test_evolution.py",
        "a column widens between statements of every kind",
    ),
    "verify.column_check": (
        "tableformat/verify/test_rowset_check.py",
        "a RowSet is damaged column by column",
    ),
}
"""The test module that covers a module, below `tests/`, and why it does."""


def module_files() -> list[Path]:
    """Return the modules of the lower packages, below the root of the project."""
    files = (path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
    return sorted(path.relative_to(ROOT) for path in files if path.name != "__init__.py")


def own_test(module: Path) -> Path:
    return ROOT / "tests" / module.with_name(f"test_{module.name}")


def name_of(module: Path) -> str:
    """Return the name that imports a module."""
    return "colonnade." + ".".join(module.with_suffix("").parts)


def below_package(module: Path) -> str:
    return ".".join(module.with_suffix("").parts[1:])


def test_every_module_has_a_test_module_of_its_path_or_one_that_is_named_here() -> None:
    missing = [
        str(module)
        for module in module_files()
        if not own_test(module).exists() and below_package(module) not in ELSEWHERE
    ]
    assert not missing, f"no test module for {', '.join(missing)}"


@pytest.mark.parametrize("module", ELSEWHERE)
def test_a_test_module_that_is_named_here_imports_the_module(module: str) -> None:
    """It may instead import the only module that uses this one, which is then a part of it."""
    known = {below_package(path): path for path in module_files()}
    assert module in known, f"{module} does not exist"
    assert not own_test(known[module]).exists(), f"{module} has tests of its own"
    test, reason = ELSEWHERE[module]
    assert reason
    path = ROOT / "tests" / test
    assert path.exists(), f"{test} does not exist"
    name, imported = name_of(known[module]), imported_modules(path)
    users = users_of(name)
    by_its_user = len(users) == 1 and users <= imported
    assert name in imported or by_its_user, f"{test} imports neither {name} nor its only user"


def users_of(name: str) -> set[str]:
    """Return the modules of the lower packages that import a module."""
    return {name_of(path) for path in module_files() if name in imported_modules(ROOT / path)}


@cache
def imported_modules(path: Path) -> frozenset[str]:
    """Return the modules of ours that a file imports itself, also by a name of their package."""
    names = set[str]()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names.update(each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
            for each in node.names:
                names.add(f"{node.module}.{each.name}")
                names.update(home_of(node.module, each.name))
        elif isinstance(node, ast.Constant) and MODULE.fullmatch(str(node.value)):
            names.add(str(node.value))  # loaded by its name, when it is needed
    return frozenset(name for name in names if name.startswith("colonnade."))


def home_of(package: str, name: str) -> set[str]:
    """Return the module that a package of ours takes a name from, if it does."""
    header = ROOT / package.removeprefix("colonnade.").replace(".", "/") / "__init__.py"
    if not package.startswith("colonnade.") or not header.exists():
        return set()
    return {
        node.module
        for node in ast.parse(header.read_text()).body
        if isinstance(node, ast.ImportFrom)
        and node.module
        and name in {each.name for each in node.names}
    }
