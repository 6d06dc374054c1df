"""The list of all commands, and their error handling: one sentence and an exit code."""

from __future__ import annotations

import functools
import inspect
import os
import sys
from collections.abc import Callable
from io import TextIOWrapper
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from colonnade.cli.addresses import addressed
from colonnade.cli.arguments import ColumnsOption, PathArgument, TagOption
from colonnade.cli.commands import COMMANDS, Listed
from colonnade.cli.exit_codes import ExitCode, explain
from colonnade.manifests.later import later
from colonnade.manifests.version import VERSION

if TYPE_CHECKING:
    from colonnade.cli import output
else:
    output = later("colonnade.cli.output")

Command = Callable[..., None]

_UsageError: Any = typer.BadParameter.__base__
"""The base class of all errors about options and arguments; typer does not export it by name."""


class Commands(TyperGroup):
    """Lists all commands, and loads the one that a line names."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, found, rest = super().resolve_command(ctx, args)
        if found is not None:
            listed = str(found.name)
            found = _quick(listed, rest) if ctx.resilient_parsing else loaded(listed)
        return name, found, rest


def loaded(name: str) -> Any:
    """Return a command with its arguments and options; loads its module."""
    return _built(name, guarded(addressed(COMMANDS[name].load())), TyperCommand)


def _quick(name: str, words: list[str]) -> Any:
    """Return what completes the next word after `words`, without the command if that is possible.

    Each command completes its first path, columns and tags in the same way.
    """
    quick = _built(name, addressed(_shared), _Quick)
    known = {text for each in quick.params for text in each.opts}
    is_shared = not words or words[-1] in known
    options = {each for each in words if each[:1] == "-"}
    return quick if is_shared and options <= known else loaded(name)


def _shared(
    path: PathArgument,
    columns: ColumnsOption = None,
    tag: TagOption = None,
) -> None:
    """Take what is completed without a command."""


class _Quick(TyperCommand):
    """Stands for a command whose options are unknown until its module is loaded."""

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        command = loaded(str(self.name))
        with command.make_context(self.name, [], parent=ctx.parent, resilient_parsing=True) as own:
            return command.shell_complete(own, incomplete)


def _built(name: str, function: Command, kind: type[TyperCommand]) -> Any:
    alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    alone.command(name, cls=kind, help=_help(function))(function)
    return get_command(alone)


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
            output.Output(options.get("json", False)).fail(code.name, sentence)
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
        output.Output(as_json=True).fail(ExitCode.INVALID_INPUT.name, sentence)
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


app = typer.Typer(
    cls=Commands,
    callback=_root,
    help="Look into Colonnade databases, move rows in and out, and keep tables fast.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes and the JSON of each command: docs/command-line.md.",
)


def _list(name: str, listed: Listed) -> None:
    """List a command, which is loaded when a line names it."""

    @app.command(name, help=listed.sentence, rich_help_panel=listed.panel)
    def unloaded() -> None:
        raise NotImplementedError(name)


for name, listed in COMMANDS.items():
    _list(name, listed)
