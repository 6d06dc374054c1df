"""`compact`: merge RowSets into fewer and larger ones, without deleted rows; changes no row."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Annotated

import typer
from rich.text import Text

from colonnade.cli.arguments import JsonOption, TableArgument, given_names
from colonnade.cli.engine import (
    ABOVE,
    AboveOption,
    ChosenEngine,
    SparkChoice,
    SparkOption,
    choose_engine,
    start_spark,
)
from colonnade.cli.exit_codes import SparkFailedError, is_sparks
from colonnade.cli.output import Output
from colonnade.cli.places import DatabasePlace, open_place
from colonnade.cli.progress import with_progress
from colonnade.maintain.round import Compact
from colonnade.manifests.compaction.plan import CompactionPlan
from colonnade.manifests.errors import InvalidInputError
from colonnade.tableformat.compaction.execute import CompactionReport
from colonnade.tableformat.compaction.job import CompactionRunner
from colonnade.tableformat.compaction.optimize import Optimize
from colonnade.tableformat.compaction.run import compact_here
from colonnade.tableformat.table.database import ArrowDatabase
from colonnade.tableformat.table.report.database_facts import table_facts


@with_progress
def compact(
    table: TableArgument,
    where: Annotated[
        str | None,
        typer.Option("--where", help="Compact only RowSets that may hold such rows."),
    ] = None,
    zorder: Annotated[
        str | None,
        typer.Option("--zorder", metavar="A,B", help="Sort all rows in z-order of these columns."),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(
            "--option", metavar="NAME=VALUE", help="Override the policy, such as min-rowsets=4."
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only print what it would do.")
    ] = False,
    spark: SparkOption = "auto",
    spark_above: AboveOption = ABOVE,
    json: JsonOption = False,
) -> None:
    """Merge small and overlapping RowSets and drop deleted rows, as the table's policy asks.

    No row changes, and no concurrent writer fails. If the command is interrupted, the groups that
    it has committed stay compacted.
    """
    output, place = Output(json), open_place(table)
    begun, names = _described(place, where, option or ()), given_names(zorder)
    plan = begun.plan()
    if dry_run:
        if names is not None:
            raise InvalidInputError("A z-order rewrites all RowSets; leave out --dry-run.")
        output.show(plan.model_dump(), Text(str(plan)))
        return
    to_read = (
        plan.bytes_in if names is None else table_facts(place.log, place.head, place.state).bytes
    )
    engine = choose_engine(to_read, spark, spark_above)
    begun = begun._elsewhere(_runner(place, engine, output))
    report = begun.executeCompaction() if names is None else begun.executeZOrderBy(names)
    output.show(report.model_dump(), Text(str(report)))


def compactor(place: DatabasePlace, spark: SparkChoice, above: str, output: Output) -> Compact:
    """Return a function that compacts one table, a large one by Spark.

    The function raises errors of Spark as a ColonnadeError, so that a round continues.
    """

    def compact_table(database: ArrowDatabase, plan: CompactionPlan) -> CompactionReport:
        engine = choose_engine(plan.bytes_in, spark, above)
        runner = _runner(place, engine, output)
        return database.table(plan.name).optimize()._elsewhere(runner).executeCompaction()

    def explained(database: ArrowDatabase, plan: CompactionPlan) -> CompactionReport:
        try:
            return compact_table(database, plan)
        except Exception as error:
            if is_sparks(error):
                raise SparkFailedError(error) from error
            raise

    return explained


def _runner(place: DatabasePlace, engine: ChosenEngine, output: Output) -> CompactionRunner:
    """Return what runs the jobs of groups."""
    if engine.name != "spark":
        return compact_here(place.location.store)
    session = start_spark(engine, output)
    executors = importlib.import_module("colonnade.spark_ext.executors")
    chosen: CompactionRunner = executors.compact_on_executors(session)
    return chosen


def _described(place: DatabasePlace, where: str | None, options: Sequence[str]) -> Optimize:
    begun = place.table.optimize(where)
    for name, value in map(split_option, options):
        begun = begun.option(name, value)
    return begun


def split_option(text: str) -> tuple[str, str]:
    """Split `NAME=VALUE` into name and value. Raises InvalidInputError without an equals sign."""
    name, equals, value = text.partition("=")
    if not equals:
        raise InvalidInputError(f"--option {text!r} has no value; write it like min-rowsets=4.")
    return name.strip(), value.strip()
