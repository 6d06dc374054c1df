"""The last step of a statement costs nothing in a table that promises nothing."""

from __future__ import annotations

from dataclasses import replace

from colonnade.manifests.ids import new_job_id
from colonnade.manifests.store import MemoryStore
from colonnade.tableformat.statements.append import evaluate_append
from colonnade.tableformat.statements.change import complete, complete_in_transaction
from tests.faults import FaultyStore
from tests.tableformat.statements.tables import SCHEMA, filled, log_of, made, rows


def test_a_table_without_a_key_keeps_the_statement_and_reads_nothing() -> None:
    store = FaultyStore(MemoryStore())
    table = filled(store)
    statement = evaluate_append(log_of(table), table._state, rows(1).to_batches(), new_job_id())
    before = len(store.trace)
    assert complete(statement, log_of(table), table._state) is statement
    assert complete_in_transaction(statement, log_of(table), table._state) is statement
    assert len(store.trace) == before


def test_a_table_with_a_key_compares_the_rows_once() -> None:
    table = made(schema=SCHEMA, key=["id"])
    statement = evaluate_append(log_of(table), table._state, rows(1).to_batches(), new_job_id())
    once = complete(statement, log_of(table), table._state)
    assert once.keyed is not None
    assert complete(once, log_of(table), table._state) is once
    alone = complete_in_transaction(statement, log_of(table), table._state)
    assert (alone.keyed, len(alone.keys)) == (None, 1)
    nothing = replace(statement, ops=())
    assert complete(nothing, log_of(table), table._state) is nothing
