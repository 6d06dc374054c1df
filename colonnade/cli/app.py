"""The list of all commands, and their error handling: one sentence and an exit code."""

from __future__ import annotations

import functools
import inspect
import os
import sys
from collections.abc import Callable
from io import TextIOWrapper
from typing import Annotated, Any

import typer

from colonnade.cli import look
from colonnade.cli.addresses import addressed
from colonnade.cli.care.compact import compact
from colonnade.cli.care.doctor import doctor
from colonnade.cli.care.erase import erase
from colonnade.cli.care.maintain import maintain
from colonnade.cli.care.repair import repair
from colonnade.cli.care.upgrade import upgrade
from colonnade.cli.care.vacuum import vacuum
from colonnade.cli.care.verify import verify
from colonnade.cli.care.write_report import report
from colonnade.cli.epochs import renumber, restore, tag
from colonnade.cli.exit_codes import ExitCode, explain
from colonnade.cli.output import Output
from colonnade.cli.rows.create import create
from colonnade.cli.rows.export_rows import export
from colonnade.cli.rows.import_rows import import_
from colonnade.cli.rows.read_rows import count, head
from colonnade.manifests.version import VERSION

Command = Callable[..., None]

_UsageError: Any = typer.BadParameter.__base__
"""The base class of all errors about options and arguments; typer does not export it by name."""

COMMANDS: dict[str, tuple[Command, ...]] = {
    "Look": (look.ls, look.show, look.schema, look.history, look.rowsets),
    "Rows": (create, head, count, import_, export),
    "Epochs": (tag, restore, renumber),
    "Care": (
        compact,
        erase,
        vacuum,
        verify,
        repair,
        maintain,
        upgrade,
        report,
        doctor,
    ),
}
"""The commands by the panel of the help that lists them; each has the name of its function."""

app = typer.Typer(
    help="Look into Colonnade databases, move rows in and out, and keep tables fast.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes and the JSON of each command: docs/command-line.md.",
)


def guarded(command: Command) -> Command:
    """Wrap a command so that any error becomes one sentence on standard error and an exit code."""

    @functools.wraps(command)
    def run(*arguments: Any, **options: Any) -> None:
        try:
            command(*arguments, **options)
        except (typer.Exit, typer.Abort, typer.BadParameter, BrokenPipeError):
            raise
        except (Exception, KeyboardInterrupt) as error:
            if os.environ.get("COLONNADE_TRACEBACK"):
                raise
            code, sentence = explain(error)
            Output(options.get("json", False)).fail(code.name, sentence)
            raise typer.Exit(int(code)) from error

    return run


def run(line: list[str]) -> None:
    """Run one command line and end the process with its exit code.

    With `--json`, errors about the line itself are JSON too, and all JSON is UTF-8. Without it,
    characters that the terminal or pipe cannot encode are printed as escapes.
    """
    as_json = "--json" in line
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(
                encoding="utf-8" if as_json else None,
                errors="strict" if as_json else "backslashreplace",
            )
    if not as_json:
        app(line, prog_name="colonnade")
        return
    try:
        code = app(line, prog_name="colonnade", standalone_mode=False)
    except _UsageError as error:
        sentence = error.format_message().rstrip(".") + "."
        Output(as_json=True).fail(ExitCode.INVALID_INPUT.name, sentence)
        code = ExitCode.INVALID_INPUT
    sys.exit(int(code or ExitCode.OK))


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(VERSION)
        raise typer.Exit


def _root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Accept `--version`, the only option that belongs to no command."""


def _help(command: Command) -> str:
    """Return a command's docstring as help text, with each paragraph on one line."""
    paragraphs = (inspect.getdoc(command) or "").split("\n\n")
    return "\n\n".join(" ".join(each.split()) for each in paragraphs)


app.callback()(_root)
for panel, commands in COMMANDS.items():
    for each in commands:
        name = each.__name__.rstrip("_")
        app.command(name, help=_help(each), rich_help_panel=panel)(guarded(addressed(each)))
