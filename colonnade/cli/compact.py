"""`compact`: fewer and larger RowSets, without the rows that are deleted; changes no row."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.text import Text

from colonnade.cli.arguments import JsonOption, TableArgument, WhereOption, split_names
from colonnade.cli.output import Output
from colonnade.cli.places import Place, open_place
from colonnade.cli.progress import Advance, progress
from colonnade.maintain.round import Compact
from manifests.compaction.plan import CompactionPlan
from manifests.errors import InvalidInputError
from manifests.snapshot import Snapshot, TableState
from tableformat.compaction.execute import CompactionReport
from tableformat.compaction.job import CompactionJob, CompactionOutcome
from tableformat.compaction.optimize import Optimize
from tableformat.compaction.run import run_job
from tableformat.database import Database
from tableformat.table import ArrowTable


def compact(
    table: TableArgument,
    where: WhereOption = None,
    zorder: Annotated[
        str | None,
        typer.Option("--zorder", metavar="A,B", help="Put all rows in z-order of these columns."),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(
            "--option", metavar="NAME=VALUE", help="Of the policy, such as min-rowsets=4."
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what it would do.")] = False,
    json: JsonOption = False,
) -> None:
    """Merge small and overlapping RowSets and leave out deleted rows, as the policy asks.

    No row changes, no writer fails, and what is done when it is interrupted stays done.
    """
    output, place = Output(json), open_place(table)
    options, names = [split_option(each) for each in option or ()], split_names(zorder)
    plan = described(place, where, options).plan()
    if dry_run:
        if names is not None:
            raise InvalidInputError("A z-order rewrites all RowSets; leave --dry-run out.")
        output.show(plan.model_dump(), Text(str(plan)))
        return
    total = plan.bytes_in if names is None else None
    with progress(output, f"compact {plan.name}", "bytes", total) as advance:
        begun = described(place, where, options, advance)
        report = begun.executeCompaction() if names is None else begun.executeZOrderBy(names)
    output.show(report.model_dump(), Text(str(report)))


def compactor(place: Place, output: Output) -> Compact:
    """Compacts the tables of a database in this process, and shows how far it is."""

    def compact_table(database: Database, plan: CompactionPlan) -> CompactionReport:
        with progress(output, f"compact {plan.name}", "bytes", plan.bytes_in) as advance:
            table = database.table(plan.name)
            return _optimize(place, table, advance).executeCompaction()

    return compact_table


def described(
    place: Place,
    where: str | None,
    options: list[tuple[str, str]],
    advance: Advance | None = None,
) -> Optimize:
    """A compaction of the place's table that tells `advance` the stored bytes of each group."""
    begun = _optimize(place, place.table, advance)
    for name, value in options:
        begun = begun.option(name, value)
    return begun if where is None else begun.where(where)


def split_option(text: str) -> tuple[str, str]:
    """Name and value. Raises InvalidInputError."""
    name, equals, value = text.partition("=")
    if not equals:
        raise InvalidInputError(f"{text!r} is no option; write it like min-rowsets=4.")
    return name.strip(), value.strip()


def _optimize(place: Place, table: ArrowTable, advance: Advance | None) -> Optimize:
    def newest() -> tuple[Snapshot, TableState]:
        return table.refresh(), table.state

    def run(job: CompactionJob) -> CompactionOutcome:
        outcome = run_job(job, place.location.store)
        if advance is not None:
            advance(job.group.bytes_in)
        return outcome

    return Optimize(place.log, newest, lambda snapshot: None, run=run)
