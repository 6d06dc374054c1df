"""Lives of tables with lifetimes, ranges, keys and static values, compared at every epoch."""

from __future__ import annotations

import pytest

from tests.lived import Life


def live(life: Life, steps: int) -> None:
    for _ in range(steps):
        life.step()
    life.compare_all()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_every_epoch_of_a_life_shows_what_the_model_shows(seed: int) -> None:
    live(Life(seed), 15)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 160))
def test_every_epoch_of_many_long_lives_shows_what_the_model_shows(seed: int) -> None:
    live(Life(seed, rows=40), 60)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(200, 208))
def test_every_epoch_of_large_tables_shows_what_the_model_shows(seed: int) -> None:
    live(Life(seed, rows=70_000, devices=3_000), 12)
