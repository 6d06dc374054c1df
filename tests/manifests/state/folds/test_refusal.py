"""An epoch that contradicts the state before it is damage, and is named."""

from __future__ import annotations

import json

import pytest
from pydantic import ValidationError

from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.model.operations import (
    CreateDatabase,
    DropDatabase,
    Operation,
    Restore,
    SetComment,
)
from colonnade.manifests.state.fold import apply_epoch
from colonnade.manifests.state.folds.refusal import refuse
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.store import MemoryStore
from tests.log_samples import ORDERS, TRIPS, change, database, epoch_after, make_log, table

WRONG: dict[str, tuple[Operation, ...]] = {
    "creates the database again": (CreateDatabase(database=ORDERS, slot_block=64),),
    "ends the log together with other operations": (
        SetComment(table=ORDERS, comment="last"),
        DropDatabase(),
    ),
    "adds a table to a database that holds one lone table": (table(TRIPS, "trips"),),
    f"names table {TRIPS}, which does not exist": (SetComment(table=TRIPS, comment="none"),),
    "restores table 'orders' to epoch 0": (Restore(table=ORDERS, epoch=0),),
    "restores table 'orders' to epoch 2": (Restore(table=ORDERS, epoch=2),),
}


def lone() -> Snapshot:
    """A database with one lone table, after epoch 1."""
    store = MemoryStore()
    return make_log(store).commit(change(table()), database(store, lone_table=True))


def test_a_refusal_is_damage_and_names_the_epoch() -> None:
    with pytest.raises(CorruptionError, match=r"Epoch 7 drops what never was\."):
        refuse(7, "drops what never was")


@pytest.mark.parametrize("problem", WRONG)
def test_operations_that_the_state_contradicts_are_damage(problem: str) -> None:
    head = lone()
    wrong = epoch_after(head, change(*WRONG[problem]))
    with pytest.raises(CorruptionError, match=f"Epoch 2 {problem}"):
        apply_epoch(head, wrong)


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        ({"epoch": 3}, "Epoch 3 does not follow epoch 1"),
        ({"previous": "f" * 32}, "files of the log were exchanged"),
    ],
)
def test_an_epoch_that_does_not_continue_the_log_is_damage(
    wrong: dict[str, object], problem: str
) -> None:
    head = lone()
    right = epoch_after(head, change(SetComment(table=ORDERS, comment="next")))
    with pytest.raises(CorruptionError, match=problem):
        apply_epoch(head, right.model_copy(update=wrong))
    assert apply_epoch(head, right).epoch == 2


def test_no_epoch_follows_the_end_of_the_log() -> None:
    head = lone()
    end = apply_epoch(head, epoch_after(head, change(DropDatabase())))
    with pytest.raises(CorruptionError, match="Epoch 3 follows the end of the log"):
        apply_epoch(end, epoch_after(end, change(SetComment(table=ORDERS, comment="late"))))


def test_the_clock_of_a_writer_is_stored_only_where_the_epoch_has_another_time() -> None:
    right = epoch_after(lone(), change(SetComment(table=ORDERS, comment="next")))
    stored = right.model_dump(mode="json", exclude_none=True)

    def read(clock_ms: int) -> Epoch:
        return Epoch.model_validate_json(json.dumps({**stored, "clock_ms": clock_ms}))

    assert read(right.time_ms - 1).clock_ms == right.time_ms - 1
    with pytest.raises(ValidationError, match="clock_ms is before time_ms"):
        read(right.time_ms)
