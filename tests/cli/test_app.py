"""What holds for every command: exit codes, one sentence, colour, documentation."""

from __future__ import annotations

import dataclasses
import os
import re
import signal
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import orjson
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import colonnade
import colonnade.manifests.errors as errors
import colonnade_command
from colonnade.cli import epochs, main
from colonnade.cli.app import app, guarded, loaded
from colonnade.cli.care import doctor, write_report
from colonnade.cli.commands import COMMANDS
from colonnade.cli.exit_codes import ExitCode, explain
from colonnade.cli.output import fitted_widths
from colonnade.cli.rows import export_rows, import_rows, names, read_rows
from colonnade.maintain.round import Round
from colonnade.manifests.compaction.plan import CompactionPlan
from colonnade.manifests.model.column_names import split_names
from colonnade.manifests.vacuum.result import VacuumResult
from colonnade.tableformat.compaction.execute import CompactionReport
from colonnade.tableformat.repair.caches import LogRepairResult
from colonnade.tableformat.repair.rowsets import RepairResult
from colonnade.tableformat.table.epochs.erase import ErasureReport
from colonnade.tableformat.table.epochs.history import HistoryEntry
from colonnade.tableformat.table.report import database_facts as facts
from colonnade.tableformat.verify.findings import VerifyReport
from tests.cli.runner import SCHEMA, Run

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "command-line.md").read_text()
NAMES = list(COMMANDS)
KINDS = [
    each
    for each in vars(errors).values()
    if isinstance(each, type) and issubclass(each, errors.ColonnadeError)
]


@pytest.mark.parametrize("kind", KINDS)
def test_every_error_has_an_exit_code_and_keeps_its_sentence(
    kind: type[errors.ColonnadeError],
) -> None:
    code, sentence = explain(kind("The sentence."))
    assert code.name == kind.kind
    assert sentence == "The sentence."


def test_an_interruption_that_says_what_was_kept_is_believed() -> None:
    assert explain(KeyboardInterrupt("2 of 3 groups.")) == (ExitCode.INTERRUPTED, "2 of 3 groups.")
    assert "what was not committed" in explain(KeyboardInterrupt())[1]


def test_an_error_that_spark_hands_on_keeps_its_code() -> None:
    error = RuntimeError("[COLONNADE_NOT_FOUND] No such table.\nJVM stacktrace: ...")
    assert explain(error) == (ExitCode.NOT_FOUND, "No such table.")


def test_errors_of_files_name_the_file() -> None:
    assert explain(PermissionError(13, "Permission denied", "/a")) == (
        ExitCode.STORE,
        "Permission denied: /a.",
    )


def test_a_fault_is_one_sentence_and_a_traceback_only_on_demand(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> None:
        raise KeyError("x")

    monkeypatch.setattr("colonnade.cli.inspect.open_database", lambda path: broken())
    ran = run("ls", tmp_path)
    assert ran.code == 1
    assert ran.err.count("\n") == 1
    assert "please report it: KeyError: 'x'" in ran.err
    monkeypatch.setenv("COLONNADE_TRACEBACK", "1")
    with pytest.raises(KeyError):
        guarded(broken)()


def test_an_interruption_has_its_own_exit_code(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(path: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("colonnade.cli.inspect.open_database", interrupted)
    assert run("ls", tmp_path).code == 130


def test_an_error_is_json_where_results_are(run: Run, tmp_path: Path) -> None:
    error = orjson.loads(run("ls", tmp_path, "--json").err)["error"]
    assert error["kind"] == "NOT_FOUND"
    assert str(tmp_path) in error["message"]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("ls --nonsense --json", "--nonsense"),
        ("ls --json", "'DATABASE'"),
        ("verify --json x --depth 9", "'--depth'"),
        ("rowsets x --by size --json", "'size'"),
        ("nonsense x --json", "'nonsense'"),
        ("ls x y --json", "(y)"),
    ],
)
def test_a_line_that_is_wrong_and_asks_for_json_gets_its_error_in_json(
    line: str, told: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["colonnade", *line.split()])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == ExitCode.INVALID_INPUT
    printed = capsys.readouterr()
    assert printed.out == ""
    error = orjson.loads(printed.err)["error"]
    assert error["kind"] == "INVALID_INPUT"
    assert told in error["message"]
    assert error["message"].endswith(".")


@pytest.mark.parametrize(("path", "code"), [("", 0), ("nothing", 3)])
def test_a_line_that_asks_for_json_ends_with_the_code_of_its_command(
    path: str, code: int, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["colonnade", "show", str(shop / path), "--json"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == code


def test_a_wrong_option_is_bad_input(run: Run) -> None:
    assert run("ls", "--nonsense").code == ExitCode.INVALID_INPUT


def options_of(name: str) -> list[str]:
    """The long options of a command."""
    found = [each for option in loaded(name).params for each in option.opts]
    return [each for each in found if each.startswith("--")]


@pytest.mark.parametrize("name", NAMES)
def test_every_command_explains_itself_and_is_documented(run: Run, name: str) -> None:
    ran = run(name, "--help")
    assert ran.code == 0
    assert "--json" in ran.out
    assert f"\n| `{name} " in PAGE
    assert [each for each in options_of(name) if f"`{each}" not in PAGE] == []


@pytest.mark.parametrize("name", NAMES)
def test_the_list_of_commands_says_what_a_command_says_of_itself(name: str) -> None:
    assert COMMANDS[name].sentence == loaded(name).help.split("\n\n")[0]
    assert loaded(name).name == name


def test_the_paragraphs_of_a_help_are_as_wide_as_the_terminal(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = run("vacuum", "--help").out.split("Arguments")[0].splitlines()
    broken = [line.rstrip() for line, after in pairwise(lines) if line.strip() and after.strip()]
    assert [line for line in broken if len(line) < 60] == []


def test_every_exit_code_is_documented() -> None:
    documented = re.findall(r"^\| (\d+) \| `([A-Z_]+)` \|", PAGE, re.MULTILINE)
    assert documented == [(str(code.value), code.name) for code in ExitCode]


def test_the_documented_json_is_what_is_printed() -> None:
    modules = (doctor, epochs, export_rows, facts, import_rows, names, read_rows, write_report)
    classes: list[type] = [HistoryEntry, Round]
    for module in modules:
        classes += [
            each
            for each in vars(module).values()
            if isinstance(each, type)
            and dataclasses.is_dataclass(each)
            and each.__module__ == module.__name__
            and not each.__name__.startswith("_")
        ]
    fields = {each.__name__: [f.name for f in dataclasses.fields(each)] for each in classes}
    fields |= {
        "CompactionPlan": [*CompactionPlan.model_fields],
        "CompactionReport": [*CompactionReport.model_fields],
        "ErasureReport": [*ErasureReport(0, 0, 0, 0, 0, ()).to_json()],
        "LogRepairResult": [f.name for f in dataclasses.fields(LogRepairResult)],
        "RepairResult": [*RepairResult(None, (), 0, (), None).to_json()],
        "VerifyReport": [*VerifyReport(1, 0, (), 0, 0, 0, 0, 0).to_json()],
        "VacuumResult": [*VacuumResult(True, None, 0, 0, ()).to_json()],
    }
    table = PAGE.split("## JSON")[1]
    documented = dict(re.findall(r"^\| .* \| `(\w+)` \| (.*) \|$", table, re.MULTILINE))
    assert documented == {
        name: ", ".join(f"`{field}`" for field in names) for name, names in fields.items()
    }


def test_colour_is_for_terminals_that_want_it(
    run: Run, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "\x1b[" not in run("ls", shop).out
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[1;31m" in run("ls", shop / "nothing").err
    monkeypatch.setenv("NO_COLOR", "1")
    assert "31m" not in run("ls", shop / "nothing").err


@pytest.mark.slow
def test_characters_that_a_terminal_cannot_show_are_escaped_and_json_is_utf_8(
    tmp_path: Path,
) -> None:
    colonnade.create_database(tmp_path / "lake").create_table("züge", SCHEMA)

    def printed(*options: str) -> bytes:
        command = (sys.executable, "-m", "colonnade", "ls", str(tmp_path / "lake"), *options)
        environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
        return subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, check=True
        ).stdout

    assert b"z\\xfcge" in printed()
    assert orjson.loads(printed("--json"))[0]["name"] == "züge"


@pytest.mark.slow
def test_a_reader_that_stops_early_is_not_an_error(shop: Path) -> None:
    command = f"{sys.executable} -m colonnade history {shop} | head -n 1"
    ran = subprocess.run(command, shell=True, cwd=ROOT, capture_output=True, text=True, check=True)
    assert ran.stdout.startswith("epoch")
    assert ran.stderr == ""


def test_an_interruption_while_the_command_is_loaded_has_the_same_code(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupted(name: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("colonnade.cli.importlib.import_module", interrupted)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == ExitCode.INTERRUPTED


def test_an_interruption_while_the_script_loads_all_packages_shows_no_traceback() -> None:
    program = """
import os, signal, sys, time, colonnade_command
signal.signal(signal.SIGINT, signal.default_int_handler)  # also of a test run in the background
assert not {"colonnade", "pyarrow", "typer"} & set(sys.modules)

def load(name):
    try:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(60)
    except BaseException:
        raise ImportError(name)

colonnade_command.import_module = load
colonnade_command.main()
"""
    command = [sys.executable, "-c", program]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (ExitCode.INTERRUPTED, "", "")


def test_the_script_runs_the_command_and_is_interrupted_as_usual_from_then_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines: list[list[str]] = []
    handler = signal.getsignal(signal.SIGINT)

    def run(line: list[str]) -> None:
        assert signal.getsignal(signal.SIGINT) is handler
        lines.append(line)

    monkeypatch.setattr("colonnade.cli.load", lambda: run)
    monkeypatch.setattr(sys, "argv", ["colonnade", "ls", "lake"])
    colonnade_command.main()
    assert lines == [["ls", "lake"]]


def test_without_its_packages_the_command_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def missing(name: str) -> None:
        raise ModuleNotFoundError("No module named 'typer'", name="typer")

    monkeypatch.setattr("colonnade.cli.importlib.import_module", missing)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == ExitCode.MISSING
    assert capsys.readouterr().err == "The command line needs typer: install colonnade[cli].\n"


def completed(line: str) -> list[str]:
    """What bash is told to complete the last word of a line to."""
    words = line.split(" ")
    environment = {
        "_COLONNADE_COMPLETE": "complete_bash",
        "COMP_WORDS": "\n".join(words),
        "COMP_CWORD": str(len(words) - 1),
    }
    result = CliRunner().invoke(app, prog_name="colonnade", env=environment)
    return result.stdout.strip("\n").splitlines()


def read_by_bash(words: list[str]) -> list[str]:
    script = f"printf '%s\\0' {' '.join(words)}"
    ran = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    return ran.stdout.split("\0")[:-1]


def test_shells_are_told_how_to_complete_commands_and_choices() -> None:
    assert completed("colonnade re") == ["rename", "restore", "repair", "report"]
    assert completed("colonnade rowsets x --by ") == ["id", "bytes", "rows", "deleted"]
    assert completed("colonnade rowsets x --b") == ["--by"]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("count {}/", ["{}/orders", "{}/users"]),
        ("count {}/or", ["{}/orders"]),
        ("show {}/us", ["{}/users"]),
        ("count {}/orders/", []),
        ("count {}x/", []),
        ("count s3://bucket/lake/", []),
        ("head {}/orders --columns ", ["id", "day", "price", "at", "name"]),
        ("head {}/orders --columns id,p", ["id,price"]),
        ("head --columns id,p", []),
        ("head {}/orders --limit 3 --columns p", ["price"]),
        ("head {}/nothing --columns p", []),
        ("head {} --columns p", []),
        ("count {}/orders --tag ", ["spring", "summer"]),
        ("count {}/orders --tag sp", ["spring"]),
        ("restore {} --tag su", ["summer"]),
        ("tag {} s", ["spring", "summer"]),
    ],
)
def test_tables_columns_and_tags_of_a_database_are_completed(
    shop: Path, line: str, found: list[str]
) -> None:
    database = colonnade.open_database(shop)
    database.tag("spring")
    database.tag("summer")
    assert completed("colonnade " + line.format(shop)) == [each.format(shop) for each in found]


def test_zsh_is_told_no_name_that_it_would_read_as_another(tmp_path: Path) -> None:
    database = colonnade.create_database(tmp_path / "lake")
    for name in ["it's", '"q"', "o 6", "größe"]:
        database.create_table(name, pa.schema([("a", "int8")]))
    line = f"colonnade count {tmp_path}/lake/"
    asked = {"_COLONNADE_COMPLETE": "complete_zsh", "_TYPER_COMPLETE_ARGS": line}
    told = CliRunner().invoke(app, prog_name="colonnade", env=asked).stdout
    assert re.findall('"(.*)"', told) == [f"{tmp_path}/lake/größe", f"{tmp_path}/lake/o 6"]


@pytest.mark.parametrize("mark", ["", "'", '"'])
def test_a_name_with_any_sign_is_completed_to_a_word_that_bash_reads_as_the_name(
    tmp_path: Path, mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    signs = sorted(["o 6", "it's", "größe", '"q"', "a`b", "s;c", "d$HOME", "a&b", "*", "(x)", "#t"])
    database = colonnade.create_database(tmp_path / "lake")
    for name in signs:
        database.create_table(name, pa.schema([(each, "int8") for each in [*signs, "a,b"]]))
        database.tag(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)

    def read(line: str) -> list[str]:
        return read_by_bash([f"{mark}{each}{mark}" for each in completed(line)])

    assert read(f"colonnade count {mark}lake/") == [f"lake/{name}" for name in signs]
    assert read(f"colonnade head lake/größe --tag {mark}") == signs
    columns = read(f"colonnade head ~/lake/größe --columns {mark}")
    assert [split_names(each) for each in columns] == [(each,) for each in [*signs, "a,b"]]


@given(
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 100)), min_size=1, max_size=12),
    st.integers(-30, 300),
)
def test_columns_get_room_for_their_words_and_as_much_as_there_is_for_whole_cells(
    columns: list[tuple[int, int]], width: int
) -> None:
    words = [word for word, _ in columns]
    wholes = [word + more for word, more in columns]
    widths = fitted_widths(words, wholes, width)
    if widths is None:
        assert sum(words) > width
        return
    assert all(w <= found <= h for w, found, h in zip(words, widths, wholes, strict=True))
    assert sum(widths) == min(width, sum(wholes))
