"""What is loaded when: the import of `colonnade` loads nothing, and each use only what it needs."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
import typing
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pyarrow as pa
import pytest

import colonnade
from colonnade.manifests.later import later
from colonnade.manifests.model.schema import Model
from colonnade.manifests.public import public
from colonnade.tableformat.types.compute import pc
from tests.test_mirror import module_files, name_of

ROOT = Path(__file__).parent.parent
PLACES: dict[str, str] = vars(colonnade)["_PLACES"]
CLASSES = [name for name in PLACES if isinstance(getattr(colonnade, name), type)]


def loaded_by(program: str, *options: str) -> set[str]:
    """The modules that a program loads in a Python of its own, beside those of an empty one."""
    begin, end = (
        "import sys\nbefore = set(sys.modules)",
        "print()\nprint(*set(sys.modules) - before)",
    )
    lines = f"{begin}\n{program}\n{end}"
    ran = subprocess.run(
        [sys.executable, "-c", lines, *options],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return set(ran.stdout.splitlines()[-1].split())


SMALL = {
    *("__future__", "collections", "contextlib", "copyreg", "enum", "functools", "importlib"),
    *("itertools", "keyword", "operator", "re", "reprlib", "sre_compile", "sre_constants"),
    *("sre_parse", "types", "typing", "warnings"),
}
"""Modules of Python that nearly every program has loaded."""

UNUSED = (
    *("asyncio", "duckdb", "fsspec", "jinja2", "pyarrow.compute", "pyarrow.dataset"),
    *("pyarrow.parquet", "pyspark", "rich", "sqlglot", "typer"),
    *("colonnade.cli", "colonnade.maintain", "colonnade.spark_ext"),
    *("colonnade.manifests.store.cache", "colonnade.manifests.vacuum.run"),
    *(
        f"colonnade.tableformat.{each}"
        for each in (
            *("compaction.run", "partition.writer", "repair", "scan.ordered"),
            *("statements.delete", "statements.keyed.upsert", "statements.update"),
            *("table.alteration", "table.epochs.restore", "table.transaction", "verify.run"),
        )
    ),
)
"""What a program that creates a table, adds rows and reads them does not need."""

TWO_ROWS = """
class Blocker:  # where pandas is installed, Arrow loads it, and pandas loads much
    def find_spec(self, name, path=None, target=None):
        if name == "pandas":
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Blocker())
import pyarrow as pa
import colonnade
schema = pa.schema([("miles", pa.float64())])
values = pa.Array.from_buffers(pa.float64(), 2, [None, pa.py_buffer(bytes(16))])
trips = colonnade.create(sys.argv[1], schema)
trips.append(pa.table([values], schema=schema))
assert colonnade.open(sys.argv[1]).scan().to_arrow().num_rows == 2
"""


READ = """
import colonnade
trips = colonnade.open(sys.argv[1])
assert trips.scan(["miles"], where=colonnade.col("miles") >= 0).to_arrow().num_rows == 2
"""

UNREAD = (
    *("sqlglot", "colonnade.manifests.checkpoint.writer"),
    *("colonnade.manifests.commit.attempt", "colonnade.manifests.commit.rebase"),
    *("colonnade.manifests.vacuum", "colonnade.tableformat.rowset.writer"),
    *("colonnade.tableformat.statements", "colonnade.tableformat.table.creation"),
    *("colonnade.tableformat.table.design.spec", "colonnade.tableformat.table.epochs.history"),
    *("colonnade.tableformat.table.evolution", "colonnade.tableformat.table.writes"),
    *("colonnade.tableformat.verify", "colonnade.tableformat.write.pipeline"),
)
"""What a program that only reads does not need: how rows are written, and the parser of SQL."""


def test_a_bare_import_loads_itself_and_what_nearly_every_program_has_loaded() -> None:
    loaded = loaded_by("import colonnade")
    assert {name for name in loaded if name.startswith("colonnade")} == {"colonnade"}
    plain = {name for name in loaded if name == "__future__" or not name.startswith("_")}
    assert {name.partition(".")[0] for name in plain} - {"colonnade"} <= SMALL


def test_a_program_loads_only_what_it_uses(tmp_path: Path) -> None:
    loaded = loaded_by(TWO_ROWS, str(tmp_path / "trips"))
    needless = {name for name in loaded for each in UNUSED if f"{name}.".startswith(f"{each}.")}
    assert needless == set()


def test_a_program_that_only_reads_loads_nothing_that_writes(tmp_path: Path) -> None:
    loaded_by(TWO_ROWS, str(tmp_path / "trips"))
    loaded = loaded_by(READ, str(tmp_path / "trips"))
    needless = {name for name in loaded for each in UNREAD if f"{name}.".startswith(f"{each}.")}
    assert needless == set()


IN_ONE_PROCESS = f"""{READ}
from colonnade.manifests.state import view
from colonnade.tableformat.scan import plan
assert [each._json.cache_info().currsize for each in (plan, view)] == [0, 0]
"""


def test_a_scan_in_one_process_prepares_no_json_of_its_plan(tmp_path: Path) -> None:
    loaded_by(TWO_ROWS, str(tmp_path / "trips"))
    loaded_by(IN_ONE_PROCESS, str(tmp_path / "trips"))


@pytest.mark.parametrize("name", [*UNUSED[-11:], *UNREAD])
def test_what_such_a_program_must_not_load_is_there(name: str) -> None:
    assert find_spec(name) is not None


LINE = """
from colonnade.cli import main
sys.argv = ["colonnade", *sys.argv[1:]]
try:
    main()
except SystemExit as ended:
    assert ended.code == 0
"""


def test_the_list_of_commands_is_printed_without_the_engine() -> None:
    engine = {"colonnade.tableformat", "jinja2", "numpy", "pyarrow", "pydantic"}
    assert not engine & loaded_by(LINE, "--help")


def test_names_are_completed_without_arrow(tmp_path: Path) -> None:
    colonnade.create_database(tmp_path / "lake").create_table("trips", pa.schema([("a", "int8")]))
    words = f"colonnade count {tmp_path / 'lake' / 'tr'}"
    asked = {"_COLONNADE_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": "2"}
    lines = f"import os\nos.environ.update({asked})\n{LINE}"
    assert not {"pyarrow", "rich", "colonnade.cli.inspect"} & loaded_by(lines)


def test_a_module_for_later_is_loaded_when_it_is_used() -> None:
    program = f"""
from {later.__module__} import later
calendar = later("calendar")
assert "calendar" not in sys.modules
assert calendar.MONDAY == 0
assert sys.modules["calendar"].__file__ == calendar.__file__
try:
    later("calendars").MONDAY
except ModuleNotFoundError as error:
    assert error.name == "calendars"
else:
    raise AssertionError
"""
    assert "calendar" in loaded_by(program)


def stubbed() -> tuple[dict[str, str], list[str]]:
    """The names of the stub with their places, as the table writes them, and its `__all__`."""
    places: dict[str, str] = {}
    listed: list[str] = []
    for each in ast.parse((ROOT / "colonnade" / "__init__.pyi").read_text()).body:
        match each:
            case ast.ImportFrom(
                module=str(module), names=[ast.alias(name=name, asname=str(given))]
            ):
                places[given] = module if given == name else f"{module}:{name}"
            case ast.Assign(targets=[ast.Name(id="__all__")], value=ast.List(elts=elements)):
                listed = [ast.literal_eval(element) for element in elements]
            case ast.Assign(targets=[ast.Name(id=given)], value=value):
                owner, _, method = ast.unparse(value).partition(".")
                places[given] = f"{places[owner]}:{owner}.{method}"
    return places, listed


def test_the_stub_says_of_each_name_what_the_table_says() -> None:
    assert stubbed() == (PLACES, colonnade.__all__)


def test_completion_shows_every_public_name_and_no_other() -> None:
    assert dir(colonnade) == sorted(PLACES)
    assert list(PLACES) == sorted(PLACES)


def test_a_name_that_does_not_exist_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match="module 'colonnade' has no attribute 'tabel'"):
        getattr(colonnade, "tabel")  # noqa: B009


@pytest.mark.slow
def test_a_class_is_marked_as_public_before_the_package_is_asked_for_it() -> None:
    lines = [
        f"from {PLACES[name]} import {name}\nassert {name}.__module__ == 'colonnade', {name}"
        for name in CLASSES
    ]
    loaded_by("\n".join(lines))


@pytest.mark.parametrize("name", CLASSES)
def test_the_types_of_a_public_class_and_its_methods_can_be_read(name: str) -> None:
    found = getattr(colonnade, name)
    typing.get_type_hints(found)
    for _, method in inspect.getmembers(found, inspect.isfunction):
        if (method.__module__ or "").startswith("colonnade"):
            typing.get_type_hints(method)


def test_the_code_of_a_public_method_can_be_shown() -> None:
    assert inspect.getsource(colonnade.ArrowTable.append).lstrip().startswith("def append(")


class Part:
    """A class whose name `colonnade` does not have."""


@public
class Whole:
    """A class that is marked as public."""

    part: Part


def test_a_marked_class_is_of_the_package_and_its_types_are_those_of_its_own_module() -> None:
    assert Whole.__module__ == "colonnade"
    assert typing.get_type_hints(Whole) == {"part": Part}


@public
class Lined:
    """A class that says in which line it begins, as Python 3.13 does of every class."""

    __firstlineno__ = 1


def test_the_lines_of_another_file_are_not_shown_as_those_of_a_marked_class() -> None:
    marked = [Lined, *(getattr(colonnade, name) for name in CLASSES)]
    assert [each for each in marked if "__firstlineno__" in vars(each)] == []


def test_the_functions_of_arrow_are_its_own() -> None:
    assert pc.add(pa.scalar(1), pa.scalar(2)).as_py() == 3


def every_model() -> Iterator[type[Model]]:
    """The models of the two lower packages."""
    for module in module_files():
        import_module(name_of(module))
    waiting = [Model]
    while waiting:
        waiting += (kinds := waiting.pop().__subclasses__())
        yield from kinds


def test_every_model_can_be_built_when_it_is_first_used() -> None:
    models = [each for each in every_model() if each.__module__.startswith("colonnade")]
    assert len(models) > 50
    for each in models:
        each.model_rebuild()
    assert [each for each in models if not each.__pydantic_complete__] == []
