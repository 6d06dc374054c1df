"""An erasure erases the deleted keys that meet its condition, and every other key stays deleted."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pytest

from colonnade import ArrowTable
from colonnade.manifests.errors import ConflictError
from colonnade.tableformat.compaction import tombstones as module
from colonnade.tableformat.compaction.execute import execute_plan
from colonnade.tableformat.predicate import bind, evaluate, parse_predicate
from colonnade.tableformat.table.epochs.erase import erase
from tests.tableformat.statements.keyed.test_late_rows import tombstones
from tests.tableformat.statements.tables import another, made

SCHEMA = pa.schema(
    [
        pa.field("a", pa.int32(), nullable=False),
        pa.field("b", pa.string(), nullable=False),
        ("at", pa.int64()),
        ("word", pa.string()),
        pa.field("must", pa.int64(), nullable=False),
    ]
)
DELETED_AT, LATE = 100, 50
PEOPLE = [(a, b) for a in range(6) for b in "xy"]

Key = tuple[int, str]


def table_of(**design: Any) -> ArrowTable:
    return made(schema=SCHEMA, key=("a", "b"), properties={"sequence": "at"}, **design)


def rows(keys: list[Key], at: int, word: str | None) -> pa.Table:
    return pa.Table.from_pylist(
        [{"a": a, "b": b, "at": at, "word": word, "must": a} for a, b in keys], SCHEMA
    )


def bury(table: ArrowTable, keys: list[Key]) -> None:
    table.delete_keys(rows(keys, DELETED_AT, None).select(["a", "b", "at"]))


def forgotten(table: ArrowTable) -> set[Key]:
    """The keys whose late rows come back."""
    table.refresh()
    before = {(row["a"], row["b"]) for row in table.scan().to_arrow().to_pylist()}
    table.upsert(rows([key for key in PEOPLE if key not in before], LATE, "late"))
    found = table.scan(where="word = 'late'").to_arrow().to_pylist()
    return {(row["a"], row["b"]) for row in found}


def met(where: str) -> set[Key]:
    """The deleted keys that meet a condition on what tombstones have."""
    known = rows(PEOPLE, DELETED_AT, None).to_batches()[0]
    schema = table_of()._state.schema
    mask = evaluate(bind(parse_predicate(where), schema), known).fill_null(False).to_pylist()
    return {key for key, hit in zip(PEOPLE, mask, strict=True) if hit}


KNOWN = (
    "a = 3",
    "a = 3 AND b = 'x'",
    "a IN (1, 4) OR b = 'y'",
    "a > 1 AND a < 5",
    "b LIKE 'x%'",
    "NOT (a = 2)",
    "at = 100 AND a = 0",
    "a IS NOT NULL",
    "at IS NOT NULL AND a < 2",
    "a = 7",
)
"""Conditions on what a tombstone has."""

CONDITIONS = {
    **{where: where for where in KNOWN},
    "a = 3 OR word = 'w'": "a = 3",
    "must IS NULL OR a = 3": "a = 3",
    "a <> 3 AND must > 0": "FALSE",
    "word = 'w'": "FALSE",
    "word IS NULL": "FALSE",
    "word IS NOT NULL AND a = 3": "FALSE",
    "word <=> NULL AND b = 'x'": "FALSE",
}
"""For each condition, what it says of keys whose rows may have had anything in other columns."""


@pytest.mark.parametrize("where", CONDITIONS)
@pytest.mark.parametrize("partition_by", [[], ["b"], ["word"], ["bucket(3, a)"]])
def test_other_deleted_keys_stay_deleted(where: str, partition_by: list[str]) -> None:
    table = table_of(partition_by=partition_by)
    table.upsert(rows(PEOPLE, 1, "w"))
    rng = random.Random(where)
    people = rng.sample(PEOPLE, len(PEOPLE))
    bury(table, people[:5])
    bury(table, people[5:])
    report = erase(table, where)
    assert report.held_by == ()
    assert forgotten(table) == met(CONDITIONS[where])
    assert table.verify(depth=4).findings == ()


def merge(table: ArrowTable) -> None:
    another(table).optimize().option("min-rowsets", 2).executeCompaction()


def bury_more(table: ArrowTable) -> None:
    bury(another(table), [(5, "x"), (5, "y")])


@pytest.mark.parametrize("rival", [merge, bury_more], ids=["merge", "deletion"])
def test_an_erasure_beside_other_writers_of_deleted_keys_is_whole(
    rival: Callable[[ArrowTable], None],
) -> None:
    table = table_of()
    for key in PEOPLE[:8]:
        bury(table, [key])
    again = [rival, rival]

    def execute(log: Any, base: Any, plan: Any, **how: Any) -> Any:
        if again:
            again.pop()(table)
        return execute_plan(log, base, plan, **how)

    with patch.object(module, "execute_plan", execute):
        report = erase(table, "a = 1")
    assert report.held_by == ()
    kept = {*PEOPLE[:8], *(((5, "x"), (5, "y")) if rival is bury_more else ())}
    assert forgotten(table) == ({*PEOPLE} - kept) | {(1, "x"), (1, "y")}


def test_a_merge_that_read_erased_keys_does_not_bring_them_back() -> None:
    table = table_of()
    for key in PEOPLE[:4]:
        bury(table, [key])
    log, commit = table._log, table._log.commit_change
    waiting = [lambda: erase(another(table), "a = 1")]

    def commit_change(change: Any, base: Any, **how: Any) -> Any:
        if waiting:
            waiting.pop()()
        return commit(change, base, **how)

    with patch.object(log, "commit_change", commit_change):
        table.optimize().option("min-rowsets", 2).executeCompaction()
    assert not waiting
    assert {(1, "x"), (1, "y")} <= forgotten(table)
    assert not {(0, "x"), (0, "y")} & forgotten(table)


def test_an_erasure_that_others_disturb_again_and_again_is_a_conflict() -> None:
    table = table_of()
    bury(table, PEOPLE)

    def execute(log: Any, base: Any, plan: Any, **how: Any) -> Any:
        return base, None

    said = pytest.raises(ConflictError, match="Other writers rewrote the deleted keys of table")
    with patch.object(module, "execute_plan", execute), said:
        erase(table, "a = 1")


def test_rowsets_without_an_erased_key_are_not_rewritten() -> None:
    table = table_of()
    bury(table, [(0, "x"), (4, "x")])
    bury(table, [(0, "y"), (4, "y")])
    erase(table, "a = 0 AND b = 'x'")
    assert sorted(tombstones(table)) == [1, 2]
