"""The structure as a test: imports point down, and none hides inside a function."""

import ast
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LAYERS = ("manifests", "tableformat", "spark_ext", "colonnade")
ALLOWED_HEAVY = {
    "manifests": {"numpy", "pydantic", "orjson", "fsspec", "google_crc32c", "pyroaring"}
    # The clients of buckets. Only the package of a store loads its client.
    | {"azure", "botocore", "google", "requests", "urllib3"},
    "tableformat": {"numpy", "pydantic", "pyarrow", "pyroaring", "google_crc32c", "sqlglot"}
    | {"typing_extensions", "xxhash"},
    "spark_ext": {"orjson", "pydantic", "pyarrow", "pyspark"},
    # Of the command line alone: `import colonnade` loads none of them but pyarrow.
    "colonnade": {"numpy", "orjson", "pyarrow", "pyspark", "rich", "typer"},
}
STANDARD = frozenset(__import__("sys").stdlib_module_names)


def floors(text: str) -> tuple[tuple[str, ...], ...]:
    """Read floors from the ground up: `a b < c` puts `c` above `a` and `b`."""
    return tuple(tuple(floor.split()) for floor in text.split("<"))


ROOMS = {
    "manifests": floors(
        "public errors later once ids clock sizes durations version engine limits object_names"
        " own_files"
        " < store < model < state < arrays < epochs < checkpoint < reading < commit < log < feed"
        " < compaction < vacuum"
    ),
    "tableformat": floors(
        "location jobs html bars progress < types < predicate < engines < rowset < partition < scan"
        " < write < keys < feed < statements < compaction < verify < repair < table < streams"
    ),
    "spark_ext": floors(
        "settings supported errors jar options types answer_rows history_rows launch_settings"
        " < doctor pyspark_types write_task table_design < write_plan < hadoop"
        " < session session_storage session_author executors"
        " < source < table"
        " < planner"
    ),
    "spark_ext.planner": floors(
        "messages < state < clauses < read < write < catalog < procedures < outdated_requests"
        " < operations < server < __main__"
    ),
}
"""The folders of each package from the ground up; a module that is named here is a folder, too."""

BUILDS = ROOT / "spark_ext" / "java"  # makes the jar and the wheel, and is in neither


BELOW = "colonnade."
"""What every module of the packages has before its name; `colonnade/` links to their folders."""


def modules(layer: str) -> list[Path]:
    folder = ROOT / layer.replace(".", "/")
    return sorted(path for path in folder.rglob("*.py") if BUILDS not in path.parents)


def layer_of(name: str) -> str:
    """The layer that a module is in, or the package of one that is not ours."""
    first, _, rest = name.partition(".")
    second = rest.partition(".")[0]
    return second if first == "colonnade" and second in LAYERS else first


@cache
def imported(path: Path) -> list[tuple[str, int, bool]]:
    """Return every import of a file: module, line, and whether it is at the top level."""
    tree = ast.parse(path.read_text())
    top = {id(statement) for statement in tree.body}
    for statement in tree.body:
        if isinstance(statement, ast.If) and "TYPE_CHECKING" in ast.dump(statement.test):
            top |= {id(child) for child in statement.body}
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(alias.name, node.lineno, id(node) in top) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno} imports relatively"
            found.append((node.module or "", node.lineno, id(node) in top))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("layer", LAYERS)
def test_imports_point_down(layer: str) -> None:
    above = set(LAYERS[LAYERS.index(layer) + 1 :])
    for path in modules(layer):
        for name, line, _ in imported(path):
            assert layer_of(name) not in above, f"{path}:{line} imports {name} from above"


@pytest.mark.parametrize("layer", LAYERS)
def test_a_layer_depends_only_on_the_packages_it_is_meant_to(layer: str) -> None:
    own = set(LAYERS) | ALLOWED_HEAVY[layer]
    for path in modules(layer):
        for name, line, _ in imported(path):
            package = layer_of(name)
            assert package in own or package in STANDARD, f"{path}:{line} imports {name}"


@pytest.mark.parametrize("layer", LAYERS)
def test_no_import_hides_inside_a_function(layer: str) -> None:
    for path in modules(layer):
        for name, line, at_top in imported(path):
            assert at_top, f"{path}:{line} hides the import of {name}"


@pytest.mark.parametrize("layer", LAYERS)
def test_no_modules_import_each_other_in_a_circle(layer: str) -> None:
    edges = {}
    for path in modules(layer):
        parts = path.relative_to(ROOT).with_suffix("").parts
        module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        names = (name.removeprefix(BELOW) for name, _, _ in imported(path))
        edges[module.removeprefix(BELOW)] = {name for name in names if name.startswith(layer)}
    done: set[str] = set()

    def visit(module: str, trail: tuple[str, ...]) -> None:
        assert module not in trail, " -> ".join((*trail, module))
        if module in done or module not in edges:
            return
        for following in edges[module] - {module}:
            visit(following, (*trail, module))
        done.add(module)

    for module in edges:
        visit(module, ())


def room_of(module: str, layer: str) -> int:
    """The floor of a module in its package, by `ROOMS`."""
    inner = module.removeprefix(f"{layer}.")
    for names in (inner, inner.partition(".")[0]):
        for floor, rooms in enumerate(ROOMS[layer]):
            if names in rooms:
                return floor
    raise AssertionError(f"{module} is in no folder that ROOMS names")


@pytest.mark.parametrize("layer", ROOMS)
def test_folders_import_only_folders_below_them(layer: str) -> None:
    for path in modules(layer):
        importer = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        if importer == f"{layer}.__init__":
            continue
        for module in imported_modules(path):
            if module.startswith(f"{layer}."):
                below = room_of(module, layer) <= room_of(importer, layer)
                assert below, f"{path} imports {module} from a folder above"


def imported_modules(path: Path) -> set[str]:
    """The modules of ours that a file imports, also those that it names after `import`."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(BELOW):
            module = (node.module or "").removeprefix(BELOW)
            inner = {f"{module}.{each.name}" for each in node.names}
            files = {each for each in inner if is_module(each)}
            found |= files or {module}
    return found


def is_module(name: str) -> bool:
    place = ROOT / name.replace(".", "/")
    return place.with_suffix(".py").exists() or (place / "__init__.py").exists()


@pytest.mark.parametrize("layer", LAYERS)
def test_no_function_is_longer_than_60_lines(layer: str) -> None:
    long = [
        f"{path}:{node.lineno} {node.name}"
        for path in modules(layer)
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or 0) - node.lineno >= 60
    ]
    assert not long, "divide " + ", ".join(long)


def test_a_long_file_is_named_with_the_reason_why_it_is_not_divided() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text()
    files = {path.relative_to(ROOT).as_posix(): path for each in LAYERS for path in modules(each)}
    java = BUILDS / "src" / "colonnade"
    for path in java.rglob("*.java"):
        files[".".join(path.relative_to(java).with_suffix("").parts)] = path
    long = [name for name, path in files.items() if len(path.read_text().splitlines()) > 370]
    unexplained = [name for name in long if f"`{name}`" not in page]
    assert not unexplained, f"divide {unexplained}, or say in docs/architecture.md why not"


def test_no_file_is_called_a_ragbag() -> None:
    names = {path.stem for layer in LAYERS for path in modules(layer)}
    assert not names & {"util", "utils", "common", "helpers", "misc"}


@pytest.mark.parametrize("layer", LAYERS)
def test_no_folder_has_more_than_20_files(layer: str) -> None:
    counts = Counter(path.parent.relative_to(ROOT) for path in modules(layer))
    large = [f"{folder} has {count}" for folder, count in counts.items() if count > 20]
    assert not large, f"divide by subject: {large}"


@pytest.mark.parametrize("layer", LAYERS)
def test_a_header_that_lists_modules_lists_exactly_those_of_its_folder(layer: str) -> None:
    """A list is the lines that begin with a module or a folder, indented or not."""
    for path in modules(layer):
        header = ast.get_docstring(ast.parse(path.read_text())) or ""
        lines = re.findall(r"^ *\w+(?:\.py|/)(?: .*)?$", header, re.MULTILINE)
        if path.name != "__init__.py" or not lines:
            continue
        there = {f"{each.stem}.py" for each in path.parent.glob("*.py")} - {"__init__.py"}
        there |= {f"{each.parent.name}/" for each in path.parent.glob("*/__init__.py")}
        listed = {each for line in lines for each in re.findall(r"\b\w+(?:\.py|/)(?= |$)", line)}
        assert listed == there, f"{path} differs in {', '.join(sorted(listed ^ there))}"


@pytest.mark.parametrize("layer", LAYERS[:3])
def test_the_header_of_a_layer_leaves_no_module_and_no_folder_out(layer: str) -> None:
    folder = ROOT / layer
    header = ast.get_docstring(ast.parse((folder / "__init__.py").read_text()), clean=False) or ""
    listed = "\n".join(re.findall(r"^ {4}.*$", header, re.MULTILINE))
    there = {each.stem for each in folder.glob("*.py")} - {"__init__"}
    there |= {each.parent.name for each in folder.glob("*/__init__.py")}
    assert there - set(re.findall(r"\w+", listed)) == set()


def test_one_module_imports_the_compute_functions_of_arrow() -> None:
    """They take longer to load than a small table to read, so that module loads them later."""
    named = [
        path.relative_to(ROOT).as_posix()
        for path in modules("tableformat")
        if "pyarrow.compute" in {name for name, _, _ in imported(path)}
    ]
    assert named == ["tableformat/types/compute.py"]


@pytest.mark.parametrize("layer", LAYERS)
def test_a_module_for_later_is_also_imported_for_type_checkers(layer: str) -> None:
    """So the tests of this module see it."""
    for path in modules(layer):
        text = path.read_text()
        for name in re.findall(r'^    \w+ = later\("([\w.]+)"\)', text, re.MULTILINE):
            assert name in {each for each, _, _ in imported(path)} | imported_from(path), path


def imported_from(path: Path) -> set[str]:
    """Every name that a file takes from a module, after the name of the module."""
    return {
        f"{node.module}.{each.name}"
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom)
        for each in node.names
    }
