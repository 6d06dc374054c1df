"""`maintain`: run one round of maintenance, or repeat rounds at an interval."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime, timezone
from typing import Annotated

import typer
from rich.console import RenderableType
from rich.text import Text

from colonnade.cli.arguments import DatabaseArgument, JsonOption
from colonnade.cli.care.compact import compactor
from colonnade.cli.engine import ABOVE, AboveOption, SparkOption
from colonnade.cli.exit_codes import code_of, explain
from colonnade.cli.output import Output, rows_table
from colonnade.cli.places import open_database
from colonnade.cli.progress import with_progress
from colonnade.maintain.journal import write_line
from colonnade.maintain.plan import Planned
from colonnade.maintain.round import Round, StepError, TableRound, read_plans, run_round
from colonnade.manifests.durations import parse_duration
from colonnade.manifests.errors import ColonnadeError, InvalidInputError, NotFoundError
from colonnade.manifests.sizes import size_text
from colonnade.manifests.store import StoreAddress
from colonnade.tableformat.location import find_store


@with_progress
def maintain(
    database: DatabaseArgument,
    every: Annotated[
        str | None, typer.Option("--every", metavar="TIME", help="Repeat every 30s, 10m, 6h or 1d.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only print what a round would compact.")
    ] = False,
    spark: SparkOption = "auto",
    spark_above: AboveOption = ABOVE,
    json: JsonOption = False,
) -> None:
    """Compact the tables by their policies, vacuum, and write a checkpoint.

    The command is fit for cron, and safe to run beside readers and writers. With --every it keeps
    running: it prints an error and tries the step again in the next round. Without --every, an
    error sets the exit code. On a local disk, each round appends a line to
    _manifest/maintenance.jsonl in the database.
    """
    output = Output(json)
    seconds = None if every is None else parse_interval(every)
    if dry_run:
        place = open_database(database)
        found = read_plans(place.log, place.head)
        text = "\n\n".join(map(_planned_text, found)) or "Nothing to compact."
        output.show([each.plan.model_dump() for each in found if not each.waits], Text(text))
        return

    def one_round() -> Round:
        begun = datetime.now(timezone.utc)
        try:
            place = open_database(database)
            work = compactor(place, spark, spark_above, output)
            done = run_round(place.database, place.log, work)
        except (NotFoundError, InvalidInputError):
            raise  # the arguments are wrong, and there may be no database to write to
        except (Exception, KeyboardInterrupt) as error:
            _write_end(database, begun, error, output)
            raise
        try:
            write_line(place.location.store, done, done.time)
        finally:
            output.show_line(done, *_view(done))
        return done

    if seconds is None:
        done = one_round()
        if done.errors:
            raise typer.Exit(int(code_of(done.errors[0].kind)))
    else:
        repeat(one_round, seconds, output)


def _write_end(path: StoreAddress, begun: datetime, error: BaseException, output: Output) -> None:
    """Write the journal line of a round that an error ended; print a note if that fails."""
    code, sentence = explain(error)
    seconds = (datetime.now(timezone.utc) - begun).total_seconds()
    failure = StepError("round", code.name, sentence)
    try:
        store = find_store(path)
        line = Round(begun, store.url, None, round(seconds, 3), errors=[failure])
        write_line(store, line, begun)
    except ColonnadeError as unwritten:
        output.note(f"This round has no line in the journal: {unwritten.message}")


def repeat(
    work: Callable[[], object],
    seconds: float,
    output: Output,
    *,
    rounds: int | None = None,
    sleep: Callable[[float], object] = time.sleep,
) -> None:
    """Start `work` every `seconds`, or at once if it took longer; print its errors and continue.

    Returns after `rounds` rounds. Without a number it runs until standard output is closed.
    """
    done, begun = 0, 0.0
    while rounds is None or done < rounds:
        if done:
            sleep(max(0.0, begun + seconds - time.monotonic()))
        begun = time.monotonic()
        try:
            work()
        except BrokenPipeError:
            raise
        except Exception as error:
            code, sentence = explain(error)
            output.fail(code.name, sentence)
        done += 1


def parse_interval(text: str) -> float:
    """Return the seconds of a text such as `10m`. Raises InvalidInputError for any other text."""
    try:
        return float(parse_duration(text))
    except ValueError:
        raise InvalidInputError(
            f"{text!r} is not an interval for --every; write it like 30s or 10m."
        ) from None


def _planned_text(planned: Planned) -> str:
    if not planned.waits:
        return str(planned.plan)
    size = size_text(planned.plan.bytes_in)
    return f"{planned.plan.name}: {size} to read wait for its schedule."


def _left_text(table: TableRound) -> str:
    if not table.left or not table.left.groups:
        return ""
    return size_text(table.left.bytes) + (" (waits)" if table.waits else "")


def _view(done: Round) -> list[RenderableType]:
    tables = rows_table(
        ("table", "groups", "RowSets", "read", "written", "seconds", "left to do"),
        [
            (
                each.table,
                each.groups,
                f"-{each.rowsets_removed} +{each.rowsets_added}",
                size_text(each.bytes_read),
                size_text(each.bytes_written),
                round(each.seconds, 1),
                _left_text(each),
            )
            for each in done.tables
        ],
    )
    said = [f"epoch {done.epoch}, {done.seconds:.1f} s"]
    if done.vacuum is not None and (done.vacuum.files or done.vacuum.epochs):
        said.append(
            f"vacuum removed {done.vacuum.files:,} files ({size_text(done.vacuum.bytes)}) and"
            f" {done.vacuum.epochs:,} epochs"
        )
    if done.vacuum is not None:
        said += [f"vacuum kept more because of the {who}" for who in done.vacuum.held_by]
    if done.checkpoint is not None:
        said.append(f"checkpoint of epoch {done.checkpoint}")
    errors = [Text(f"{each.step}: {each.message}", style="bold red") for each in done.errors]
    warnings = [Text(each, style="bold yellow") for each in done.warnings]
    return [tables, Text("; ".join(said) + "."), *warnings, *errors]
