"""Tests mirror the tree: a module of the two lower packages has the test module of its path.

`ELSEWHERE` names the modules that another test module covers. A new module is not among them, so it
needs tests of its own.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from tests.test_layers import BELOW, ROOT

PACKAGES = ("manifests", "tableformat")
MODULE = re.compile(r"colonnade(\.[a-z_0-9]+)+")

ELSEWHERE = {
    "manifests/log/test_budgets.py": ("reading.following",),
    "manifests/state/test_features.py": ("state.refusal",),
    "manifests/store/hdfs/test_store.py": (
        "store.hdfs.client",
        "store.hdfs.failures",
        "store.hdfs.files",
        "store.hdfs.requests",
        "store.hdfs.upload",
    ),
    "manifests/store/test_conformance.py": ("store.base", "store.memory"),
    "spark_ext/test_wheel.py": ("version",),
    "spec/test_partition_vectors.py": ("partition.transforms",),
    "tableformat/compaction/test_run.py": ("compaction.inputs", "compaction.job"),
    "tableformat/predicate/test_json_form.py": ("predicate.expressions",),
    "tableformat/predicate/test_sql.py": ("predicate.sql_grammar",),
    "tableformat/repair/test_anchors.py": ("vacuum.copies", "vacuum.later_floor"),
    "tableformat/repair/test_marks.py": ("vacuum.damaged_marks",),
    "tableformat/repair/test_rowsets.py": ("repair.reading",),
    "tableformat/rowset/test_block.py": ("rowset.encodings.encoded", "rowset.stored_block"),
    "tableformat/rowset/test_bloom_filter.py": ("rowset.filter_pruning", "rowset.sparse_index"),
    "tableformat/rowset/test_rowset.py": ("rowset.column_segments", "rowset.source"),
    "tableformat/statements/test_statements.py": ("statements.commit",),
    "tableformat/table/test_bad_input.py": ("types.conversion",),
    "tableformat/table/test_restore.py": ("table.kept_epochs",),
    "tableformat/table/test_transaction.py": ("table.work",),
    "tableformat/test_addresses.py": ("statements.update_job",),
    "tableformat/types/test_conform.py": ("types.arrow_input",),
    "tableformat/verify/test_verify.py": ("verify.job",),
    "test_errors.py": ("errors",),
}
"""Modules, below their package, by the test module that covers them."""


def module_files() -> list[Path]:
    """Return the modules of the lower packages, below the root of the project."""
    files = (path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
    return sorted(path.relative_to(ROOT) for path in files if path.name != "__init__.py")


def own_test(module: Path) -> Path:
    return ROOT / "tests" / module.with_name(f"test_{module.name}")


def below_package(module: Path) -> str:
    return ".".join(module.with_suffix("").parts[1:])


def test_every_module_has_a_test_module_of_its_path_or_one_that_is_named_here() -> None:
    covered = {name for names in ELSEWHERE.values() for name in names}
    missing = [
        str(module)
        for module in module_files()
        if not own_test(module).exists() and below_package(module) not in covered
    ]
    assert not missing, f"no test module for {', '.join(missing)}"


@pytest.mark.parametrize("test", ELSEWHERE)
def test_a_test_module_that_is_named_here_exists_and_reaches_each_module_once(test: str) -> None:
    known = {below_package(module): module for module in module_files()}
    path = ROOT / "tests" / test
    assert path.exists(), f"{test} does not exist"
    reached = reachable(path)
    for name in ELSEWHERE[test]:
        assert name in known, f"{name} does not exist"
        assert not own_test(known[name]).exists(), f"{name} has tests of its own"
        users = [each for each, names in ELSEWHERE.items() if name in names]
        assert users == [test], f"{name} is named for {', '.join(users)}"
        module = ".".join(known[name].with_suffix("").parts)
        assert module in reached, f"{test} does not reach {module}"


def reachable(path: Path) -> set[str]:
    """Return the modules that a file imports, and those that these import; packages too."""
    found, waiting = set[str](), [path]
    while waiting:
        for name in imported_names(waiting.pop()) - found:
            found.add(name)
            place = ROOT / name.replace(".", "/")
            files = (place.with_suffix(".py"), place / "__init__.py")
            waiting += [each for each in files if each.exists()]
    return {name.removeprefix(BELOW) for name in found}


@cache
def imported_names(path: Path) -> set[str]:
    """Return every name that a file imports, if it may be a module of ours, with its packages."""
    names = set[str]()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names.update(each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.update((node.module, *(f"{node.module}.{each.name}" for each in node.names)))
        elif isinstance(node, ast.Constant) and MODULE.fullmatch(str(node.value)):
            names.add(str(node.value))  # loaded by its name, when it is needed
    ours = {name for name in names if name.partition(".")[0] in ("colonnade", "tests")}
    parts = [name.split(".") for name in ours]
    return {".".join(each[:end]) for each in parts for end in range(1, len(each) + 1)}
