"""Epoch 0 makes an empty database, or is refused as damage."""

from __future__ import annotations

from typing import Any

import pytest

from colonnade.manifests.errors import CorruptionError, UnsupportedFormatError
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.model.operations import CreateDatabase, DropDatabase
from colonnade.manifests.state.folds.first_epoch import first_snapshot
from tests.log_samples import ORDERS


def epoch(*operations: Any, **fields: Any) -> Epoch:
    given = {"epoch": 0, "base": 0, "transaction": "1" * 32, "time_ms": 7, **fields}
    return Epoch(operation="create_database", engine="test", ops=operations, **given)


def create(**fields: Any) -> CreateDatabase:
    return CreateDatabase(database=ORDERS, slot_block=8, **fields)


def test_the_first_state_is_a_database_without_tables() -> None:
    state = first_snapshot(epoch(create(writer_features=("cubes",), lone_table=True)))
    assert (state.database, state.lone_table, state.tables) == (ORDERS, True, {})
    assert (state.epoch, state.floor, state.time_ms) == (0, 0, 7)
    assert (state.reader_features, state.writer_features) == (frozenset(), frozenset({"cubes"}))
    assert state.slot_block == 8


@pytest.mark.parametrize(
    "damaged",
    [
        epoch(),
        epoch(DropDatabase()),
        epoch(create(), create()),
        epoch(create(), epoch=1),
        epoch(create(), previous="2" * 32),
    ],
)
def test_an_epoch_that_creates_no_database_or_contradicts_itself_is_damage(damaged: Epoch) -> None:
    with pytest.raises(CorruptionError, match="Epoch 0"):
        first_snapshot(damaged)


def test_a_database_of_a_later_version_is_refused_by_its_features() -> None:
    with pytest.raises(UnsupportedFormatError, match="zebras; upgrade"):
        first_snapshot(epoch(create(reader_features=("zebras",))))
