"""Draws of identity values never conflict, and fail with a sentence where no value is left."""

from __future__ import annotations

from dataclasses import replace

import pytest

from colonnade.manifests.commit.change import Change
from colonnade.manifests.commit.identity_draws import after_own_draws, check_draws, exhausted
from colonnade.manifests.errors import ConflictError, InvalidInputError
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.operations import DrawIdentity, DropRowSet, SetComment
from colonnade.manifests.model.schema import IdentityColumn, TableSchema
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.store import MemoryStore
from tests.log_samples import ORDERS, SCHEMA, append, change, database, drop, make_log, table
from tests.manifests.state.alterations import X, alter

JOB, OTHER = "ab" * 8, "cd" * 8
ID = SCHEMA.fields[0].model_copy(update={"identity": IdentityColumn(), "nullable": False})
NUMBERED = table().model_copy(update={"table_schema": TableSchema(fields=(ID, *SCHEMA.fields[1:]))})


def draw(count: int, job: str = JOB) -> Change:
    return change(DrawIdentity(table=ORDERS, column=1, count=count, job=job), name="draw_identity")


def numbered() -> tuple[Log, Snapshot]:
    log = make_log(store := MemoryStore())
    return log, log.commit(change(NUMBERED), database(store))


def last(state: Snapshot) -> int:
    return state.table("orders").identities[0].last


def test_draws_planned_on_one_state_get_different_values() -> None:
    log, base = numbered()
    assert [last(log.commit(draw(n), base)) for n in (3, 1, 5)] == [3, 4, 9]


@pytest.mark.parametrize(
    "mine",
    [
        append(),
        change(SetComment(table=ORDERS, comment="new")),
        change(alter(ID, next_id=3)),
        change(DropRowSet(table=ORDERS, rowsets=())),
        drop(),
    ],
    ids=lambda each: each.ops[0].op,
)
def test_nothing_conflicts_with_a_draw_of_another_job(mine: Change) -> None:
    log, base = numbered()
    log.commit(draw(3), base)
    assert log.commit(mine, base).epoch == base.epoch + 2


def test_a_draw_follows_everything_but_the_drop_of_its_table_or_column() -> None:
    log, base = numbered()
    log.commit(append(), base)
    log.commit(change(SetComment(table=ORDERS, comment="new")), base)
    assert last(log.commit(draw(2), base)) == 11
    log.commit(change(alter(X, next_id=3)), log.reader.read_head())
    with pytest.raises(ConflictError, match="identity column with the id 1 was dropped"):
        log.commit(draw(1), base)
    log.commit(drop(), log.reader.read_head())
    with pytest.raises(ConflictError, match="dropped"):
        log.commit(draw(1), base)


def test_a_draw_of_more_values_than_the_type_has_says_how_many_are_left() -> None:
    log, base = numbered()
    base = log.commit(draw(2**63 - 3), base)
    with pytest.raises(InvalidInputError, match="needs 3 more values, but its type long has 2"):
        log.commit(draw(3), base)
    base = log.commit(draw(2), base)
    with pytest.raises(InvalidInputError, match="has 0 left"):
        check_draws(draw(1), base, base)
    assert "'id' of table 'orders'" in exhausted(base.table("orders"), ID, 1).message


def test_draws_of_its_own_job_are_no_other_epoch_for_a_change_that_expects_one() -> None:
    log, base = numbered()
    mine = replace(append(), expect_epoch=base.epoch, job_id=JOB)
    log.commit(draw(1), base)
    log.commit(draw(1), base)
    assert log.commit(mine, base).epoch == base.epoch + 3


def test_draws_of_other_jobs_are_other_epochs_for_a_change_that_expects_one() -> None:
    log, base = numbered()
    mine = replace(append(), expect_epoch=base.epoch, job_id=JOB)
    log.commit(draw(1), base)
    log.commit(draw(1, OTHER), base)
    with pytest.raises(ConflictError, match="expects epoch"):
        log.commit(mine, base)
    epochs = list(log.reader.read_epochs(base.epoch + 2, 2))
    assert [
        after_own_draws(mine, each) is mine for each in sorted(epochs, key=lambda e: e.epoch)
    ] == [
        False,
        True,
    ]
