"""Epochs stay as long as the retention of the tables says."""

from __future__ import annotations

import re

import pytest

from colonnade.manifests.errors import (
    InvalidInputError,
)
from colonnade.manifests.model.operations import (
    SetProperties,
)
from colonnade.manifests.vacuum.retention import check_retention
from tests.log_samples import ORDERS, TRIPS, table
from tests.manifests.vacuum.world import World


def test_every_state_is_kept_as_long_as_the_retention_says() -> None:
    world = World()
    for _ in range(4):
        world.overwrite()
        world.wait(1)
    assert world.vacuum(2.5).floor == 3
    assert world.check().floor == 3
    assert len(world.files()) == 3


def test_a_number_of_epochs_stays_however_old_they_are() -> None:
    world = World()
    for _ in range(6):
        world.overwrite()
    assert world.vacuum(epochs=4).floor == 4
    world.check()


def test_the_longest_retention_of_the_tables_counts() -> None:
    world = World(properties={"retention.hours": "2", "retention.epochs": "2"})
    trips = table(TRIPS, "trips").model_copy(update={"properties": {"retention.hours": "10"}})
    world.commit(trips)
    world.overwrite()
    world.wait(5)
    world.overwrite()
    assert world.vacuum(None).floor == 0
    held = world.vacuum(0, only=ORDERS)
    assert held.floor == 0
    assert held.held_by == ("retention of table 'trips' (10 hours, 1 of the newest epochs)",)
    assert "More is kept because of the retention of table 'trips'" in str(held)
    assert world.vacuum(11, only=ORDERS).held_by == ()
    assert world.vacuum(0, only=TRIPS).floor == 3
    world.overwrite()
    world.wait(11)
    assert world.vacuum(None).floor == 5
    world.check()


def test_without_properties_a_week_is_kept() -> None:
    world = World()
    world.overwrite()
    world.wait(167)
    world.overwrite()
    assert world.vacuum(None).floor == 0
    world.wait(1.1)
    assert world.vacuum(None).floor == 2


@pytest.mark.parametrize("retention", [-1, float("nan"), float("inf"), "7", True])
def test_an_invalid_retention_is_refused(retention: object) -> None:
    world = World()
    with pytest.raises(InvalidInputError, match="number of hours"):
        world.vacuum(retention)  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="number of epochs"):
        world.vacuum(epochs=0)
    world.commit(SetProperties(table=ORDERS, set={"retention.hours": "a week"}))
    with pytest.raises(InvalidInputError, match=re.escape("'retention.hours': 'a week'")):
        world.vacuum(None)


def test_an_unknown_property_of_retention_is_refused() -> None:
    check_retention({"retention.hours": "720", "retention.epochs": "2", "team": "sales"})
    with pytest.raises(InvalidInputError, match="no property 'retention.days'.*retention.hours"):
        check_retention({"retention.days": "30"})
