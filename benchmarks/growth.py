"""What opening one table costs in a database that has grown for years, beside a small one.

docs/growth.md derives the bounds that are measured here.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchmarks.measure import Figure, interleave
from colonnade.manifests.commit.change import Change
from colonnade.manifests.ids import new_table_id, new_transaction_id
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.model.operations import CreateTable, Operation, SetComment
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.store import open_store

SMALL_TABLES = 10
TABLES = 10_000
COLUMNS = 50
EPOCH_TABLES = 500
TARGET = 2.0


def run(folder: Path, scale: float, runs: int) -> list[Figure]:
    """Open one table by its name, in turn with one of a small database."""
    grown: dict[str, Callable[[Path], None]] = {
        f"one of {TABLES:,} tables of {COLUMNS} columns": partial(
            build_tables, count=max(SMALL_TABLES, round(TABLES * min(1.0, scale)))
        ),
    }
    small = built(folder / "growth-small", partial(build_tables, count=SMALL_TABLES))
    figures = []
    for number, (name, build) in enumerate(grown.items()):
        path = built(folder / f"growth-{number}-{scale:g}", build)
        ours, theirs, ratio = interleave(
            partial(open_one, path), partial(open_one, small), runs * 5
        )
        figures.append(Figure(f"open {name}", "ms", ours * 1e3, theirs * 1e3, ratio, target=TARGET))
    return figures


def open_one(path: Path) -> int:
    """Open a table by its name, as a process does that knows nothing of the database yet."""
    log = Log(open_store(path))
    table = log.read_head().table("table_1")
    return len(log.read_entries(table))


def built(path: Path, build: Callable[[Path], None]) -> Path:
    """The folder of a database, which is made unless it is there."""
    if not path.exists():
        building = path.with_suffix(".building")
        shutil.rmtree(building, ignore_errors=True)
        build(building)
        building.rename(path)
    return path


def build_tables(path: Path, count: int) -> None:
    """Make a database of `count` tables that ends with a checkpoint."""
    store = open_store(path, create=True)
    create_database(store, lone_table=False)
    log = Log(store, checkpoint_interval=2**40)
    state = log.read_head()
    schema = TableSchema(
        fields=tuple(
            SchemaField(id=number, name=f"column_{number}", type="long", nullable=True)
            for number in range(1, COLUMNS + 1)
        )
    )
    for start in range(0, count, EPOCH_TABLES):
        made: tuple[Operation, ...] = tuple(
            CreateTable(
                table=new_table_id(),
                name=f"table_{number}",
                table_schema=schema,
                next_column_id=COLUMNS + 1,
            )
            for number in range(start, min(start + EPOCH_TABLES, count))
        )
        state = log.commit(Change(new_transaction_id(), "create_tables", made), state)
    # A reader also reads the epoch of the checkpoint, which is to be one of an ordinary size.
    comment = SetComment(table=state.table("table_1").id, comment="the one that is opened")
    log.try_checkpoint(log.commit(Change(new_transaction_id(), "comment", (comment,)), state))
