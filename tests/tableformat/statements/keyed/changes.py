"""Random changes of a keyed table, made to its model as well."""

from __future__ import annotations

import random

from colonnade import ArrowTable, WriteSettings
from colonnade.manifests.log.statement_log import StatementLog
from colonnade.manifests.model.entries import RowSetEntry
from colonnade.manifests.state.snapshot import TableState
from colonnade.tableformat.statements.append import write_added
from colonnade.tableformat.statements.statement import Statement, inserting, row_statement
from tests.keyed_world import KeyedWorld, random_rows, table_of
from tests.merge_model import Row


def upsert_at_random(table: ArrowTable, world: KeyedWorld, rng: random.Random) -> None:
    columns = world.columns(rng)
    batch = random_rows(rng, columns, rng.randrange(7))
    counts = table.upsert(table_of(batch, columns))
    assert (counts.rows_updated, counts.rows_inserted) == world.upsert(batch)


def change_at_random(table: ArrowTable, world: KeyedWorld, rng: random.Random) -> None:
    """Upsert, delete rows, update rows, or compact the table."""
    key = rng.randrange(4)
    match rng.randrange(5):
        case 0 | 1:
            upsert_at_random(table, world, rng)
        case 2:
            table.delete(f"a = {key}")
            world.rows = {each: row for each, row in world.rows.items() if each[0] != key}
        case 3:
            table.update({"number": "7"}, f"a >= {key}")
            for each, row in world.rows.items():
                row["number"] = 7 if each[0] >= key else row["number"]
        case 4:
            table.optimize().option("min-rowsets", 2).executeCompaction()


def written(
    log: StatementLog,
    table: TableState,
    job_id: str,
    parts: list[list[Row]],
    columns: list[str],
    settings: WriteSettings,
) -> Statement:
    """What a job reports whose tasks have written a part each."""
    entries: list[RowSetEntry] = []
    for part in parts:
        rows = table_of(part, columns).to_batches()
        entries += write_added(log, table, rows, job_id, None, "append").rowsets
    inserted = sum(len(part) for part in parts)
    statement = row_statement("append", table, (), entries, reads=(), inserted=inserted)
    given = frozenset(table.schema.field(name).id for name in columns)
    return inserting(statement, settings, given)
