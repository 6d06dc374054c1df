"""The structure as a test: imports point down, and none hides inside a function."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LAYERS = ("manifests", "tableformat", "spark_ext", "colonnade")
ALLOWED_HEAVY = {
    "manifests": {"numpy", "pydantic", "orjson", "fsspec", "google_crc32c", "pyroaring"},
    "tableformat": {"numpy", "pydantic", "pyarrow", "pyroaring", "google_crc32c", "sqlglot"}
    | {"xxhash"},
    "spark_ext": {"orjson", "pyarrow", "pyspark"},
    # Of the command line alone: `import colonnade` loads none of them but pyarrow.
    "colonnade": {"numpy", "orjson", "pyarrow", "pyspark", "rich", "typer", "jinja2"},
}
STANDARD = frozenset(__import__("sys").stdlib_module_names)


BUILDS = ROOT / "spark_ext" / "java"  # makes the jar and the wheel, and is in neither


BELOW = "colonnade."
"""What every module of the packages has before its name; `colonnade/` links to their folders."""


def modules(layer: str) -> list[Path]:
    return sorted(path for path in (ROOT / layer).rglob("*.py") if BUILDS not in path.parents)


def layer_of(name: str) -> str:
    """The layer that a module is in, or the package of one that is not ours."""
    first, _, rest = name.partition(".")
    second = rest.partition(".")[0]
    return second if first == "colonnade" and second in LAYERS else first


def imported(path: Path) -> list[tuple[str, int, bool]]:
    """Every import of a file: module, line, and whether it stands at the top level."""
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


def test_no_file_is_called_a_ragbag() -> None:
    names = {path.stem for layer in LAYERS for path in modules(layer)}
    assert not names & {"util", "utils", "common", "helpers", "misc"}


@pytest.mark.parametrize("layer", LAYERS)
def test_a_header_that_lists_the_modules_of_a_package_leaves_none_out(layer: str) -> None:
    for path in modules(layer):
        header = ast.get_docstring(ast.parse(path.read_text()), clean=False) or ""
        listed = "\n".join(re.findall(r"^ {4}.*$", header, re.MULTILINE))
        if path.name != "__init__.py" or not (".py" in listed or path.parent.name in LAYERS[:3]):
            continue
        there = {each.stem for each in path.parent.glob("*.py")} - {"__init__"}
        there |= {each.parent.name for each in path.parent.glob("*/__init__.py")}
        missing = there - set(re.findall(r"\w+", listed))
        assert not missing, f"{path} leaves out {', '.join(sorted(missing))}"
