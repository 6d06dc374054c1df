"""The real code between processes that fail, and mistakes that must be found in it.

`python -m tests.simulation --seconds 600` runs as many seeds as fit into the time.
"""

from __future__ import annotations

import pytest

from tests.simulation.actors.every import (
    ACTORS,
    EVOLVED,
    FOLLOWED,
    FOLLOWED_KEYS,
    KEYED,
    LOSING,
    RANGED,
    SORTED,
    STREAMED,
    WAITING,
)
from tests.simulation.bugs import BUGS, Bug
from tests.simulation.corpus import CORPUS, FOUND
from tests.simulation.counters import Counters
from tests.simulation.run import run, simulate
from tests.simulation.world import World

RUNS = 10
"""The numbers of seeds are parts and multiples of this number."""

LONG = (pytest.mark.long, pytest.mark.timeout(1800))
"""Seeds bound the search for a mistake. The time only ends a run that hangs."""


def seeds(first: int) -> pytest.MarkDecorator:
    """Parametrize by the first seeds, and by more of them for the long run."""
    further = pytest.param(range(first, 2 * RUNS), marks=LONG)
    return pytest.mark.parametrize("seeds", [range(first), further], ids=["first", "further"])


@pytest.mark.slow
@seeds(4)
def test_no_invariant_breaks_whatever_fails(seeds: range) -> None:
    counters = Counters()
    for seed, rate in CORPUS:
        simulate(seed, ACTORS, counters, rate)
    for seed in seeds:
        simulate(seed, ACTORS, counters)
    print(counters)
    assert counters.faults > 20 * len(seeds)
    assert counters.crashes > 5 * len(seeds)
    assert counters.reads > 10 * len(seeds)
    assert counters.feeds > 10 * len(seeds)
    assert counters.moves > 0


@pytest.mark.slow
def test_eight_processes_far_from_a_busy_bucket_lose_nothing_and_double_nothing() -> None:
    counters = Counters()
    for seed in range(RUNS // 5):
        simulate(seed, ACTORS, counters, far=True)
    print(counters)
    assert counters.refusals > 20 * counters.runs
    assert counters.faults > 10 * counters.runs
    assert counters.crashes > 2 * counters.runs


@pytest.mark.slow
@seeds(2)
def test_changes_that_wait_for_a_turn_land_once_and_every_writer_is_told_so(seeds: range) -> None:
    counters = Counters()
    for seed in seeds:
        simulate(seed, WAITING, counters, waits=True)
    print(counters)
    assert counters.crashes > 4 * len(seeds)


@pytest.mark.slow
@seeds(3)
def test_a_lost_oldest_state_is_given_up_beside_writers_whoever_is_killed(seeds: range) -> None:
    counters = Counters()
    for seed in seeds:
        simulate(seed, LOSING, counters)
    print(counters)
    assert counters.losses >= len(seeds) // 3
    assert counters.given_up <= counters.losses // 4


@pytest.mark.slow
def test_every_row_has_the_columns_and_constraints_of_its_epoch_whoever_was_first() -> None:
    counters = Counters()
    for seed in range(RUNS // 2):
        simulate(seed, EVOLVED, counters)
    print(counters)
    assert counters.evolved > RUNS
    assert counters.ruled > RUNS
    assert counters.generated > RUNS
    assert counters.numbered > RUNS


@pytest.mark.slow
def test_every_rowset_has_the_order_that_it_states_whoever_changed_the_key() -> None:
    counters = Counters()
    for seed in range(RUNS // 8):
        simulate(seed, SORTED, counters)
    print(counters)
    assert counters.reads > RUNS // 8


@pytest.mark.slow
@seeds(2)
def test_a_batch_lands_once_although_its_table_is_made_again(seeds: range) -> None:
    counters = Counters()
    for seed in seeds:
        simulate(seed, STREAMED, counters, waits=seed % 2 == 1)
    print(counters)
    assert counters.reads > len(seeds)


@pytest.mark.slow
@seeds(2)
def test_a_stream_has_each_row_and_each_change_once_whoever_is_killed(seeds: range) -> None:
    counters = Counters()
    for seed in seeds:
        keyed = seed % 2 == 1
        actors = FOLLOWED_KEYS if keyed else FOLLOWED
        simulate(seed, actors, counters, keyed=keyed, waits=seed % 8 in (6, 7))
    print(counters)
    assert counters.batches > 5 * len(seeds)
    assert counters.crashes > len(seeds)


@pytest.mark.slow
def test_no_two_rows_share_a_key_and_every_epoch_holds_merged_rows() -> None:
    counters = Counters()
    for seed in range(RUNS // 4):
        simulate(seed, KEYED, counters, keyed=True, waits=seed % 2 == 1)
    print(counters)
    assert counters.unique > 10 * RUNS
    assert counters.crashes > RUNS


@pytest.mark.slow
@pytest.mark.parametrize(
    "seeds", [range(3), pytest.param(range(3, 8 * RUNS), marks=LONG)], ids=["first", "further"]
)
def test_deleted_ranges_take_every_row_before_them_and_none_that_comes_later(seeds: range) -> None:
    counters = Counters()
    for seed in seeds:
        simulate(seed, RANGED, counters, ranged=True, waits=seed % 4 == 3)
    print(counters)
    assert counters.ranges > len(seeds)


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_many_runs_hold_merged_rows_at_every_epoch() -> None:
    counters = Counters()
    for seed in range(10 * RUNS):
        simulate(100 + seed, KEYED, counters, keyed=True, waits=seed % 3 == 2)
    print(counters)
    assert counters.unique > 1000 * RUNS


@pytest.mark.slow
def test_a_seed_tells_the_whole_run() -> None:
    def story() -> list[tuple[str, str, int]]:
        world = World(7)
        run(world, ACTORS, work=20)
        return [(each.transaction, each.operation, each.time_ms) for each in world.oracle.epochs]

    assert story() == story()


@pytest.mark.slow
@pytest.mark.parametrize(
    "bug",
    [pytest.param(bug, id=bug.name, marks=LONG if bug.long else ()) for bug in BUGS],
)
def test_planted_mistakes_are_found(bug: Bug) -> None:
    assert bug.find(FOUND.get(bug.name, 0)) is not None


def test_each_seed_to_begin_with_is_that_of_a_planted_mistake() -> None:
    assert FOUND.keys() <= {bug.name for bug in BUGS}
