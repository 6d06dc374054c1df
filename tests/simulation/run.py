"""One run: processes work on a database, are killed, and begin again; then all is checked."""

from __future__ import annotations

from collections.abc import Sequence

from colonnade.manifests.errors import ColonnadeError, CorruptionError
from tests.faults import Fault, Stopped
from tests.simulation.checks import check_world
from tests.simulation.counters import Counters
from tests.simulation.seeded import seeded
from tests.simulation.store import ProcessStore
from tests.simulation.world import Actor, World


def run(world: World, actors: Sequence[Actor], work: int = 60) -> None:
    """Let processes do pieces of work, then check everything in good weather.

    Raises AssertionError where something is wrong.
    """

    def process() -> None:
        while world.work < work:
            try:
                _live(world, actors, work)
            except Stopped:
                continue

    with seeded(world.order, world.form):
        world.turns.run([process] * world.seats)
        world.weather.calm()
        check_world(world)


def _live(world: World, actors: Sequence[Actor], work: int) -> None:
    try:
        database = world.open()
    except ColonnadeError:
        return
    weights = [actor.weight for actor in actors]
    while world.work < work:
        world.work += 1
        store = database._log.store
        assert isinstance(store, ProcessStore)
        world.pass_time(store)
        store.begin()
        mended = world.mended
        [actor] = world.order.choices(actors, weights)
        try:
            actor.act(database, world, world.order)
        except CorruptionError as error:
            if world.losses > mended:
                continue
            raise AssertionError(f"whole data was called damaged: {error}") from error
        except ColonnadeError:
            continue


def simulate(
    seed: int,
    actors: Sequence[Actor],
    counters: Counters | None = None,
    rate: float = 0.04,
    faults: Sequence[Fault] = tuple(Fault),
    *,
    waits: bool = False,
    far: bool = False,
    keyed: bool = False,
    ranged: bool = False,
) -> None:
    """Run one seed. Raises AssertionError that names it where something is wrong."""
    world = World(seed, rate, faults, waits=waits, far=far, keyed=keyed, ranged=ranged)
    try:
        run(world, actors)
    except Exception as error:
        raise AssertionError(f"seed {seed}, epoch {world.oracle.head}: {error!r}") from error
    finally:
        if counters is not None:
            counters.add(world)
