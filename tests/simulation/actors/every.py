"""All who work on a simulated database. A new kind of work is one class in a file beside this."""

from __future__ import annotations

from tests.simulation.actors.appender import Appender
from tests.simulation.actors.bringer import Bringer
from tests.simulation.actors.compactor import MANY, Compactor
from tests.simulation.actors.consumer import Consumer
from tests.simulation.actors.driver import Driver
from tests.simulation.actors.evolver import Evolver
from tests.simulation.actors.feed_reader import FeedReader
from tests.simulation.actors.filler import Filler
from tests.simulation.actors.follower import Follower
from tests.simulation.actors.keeper import Keeper
from tests.simulation.actors.keyed_writer import KeyedStreamer, KeyedWriter
from tests.simulation.actors.keyer import Keyer
from tests.simulation.actors.litterer import Litterer
from tests.simulation.actors.namer import Namer
from tests.simulation.actors.optimizer import Optimizer
from tests.simulation.actors.partitioner import Partitioner
from tests.simulation.actors.ranger import Cleaner, Ranger
from tests.simulation.actors.reader import Reader
from tests.simulation.actors.repairer import Repairer
from tests.simulation.actors.replacer import Replacer
from tests.simulation.actors.ruler import Ruler
from tests.simulation.actors.salvager import Salvager
from tests.simulation.actors.sorter import Sorter
from tests.simulation.actors.streamer import Streamer
from tests.simulation.actors.tightener import Tightener
from tests.simulation.actors.undropper import Undropper
from tests.simulation.actors.vacuumer import Vacuumer
from tests.simulation.actors.vandal import Vandal
from tests.simulation.actors.writer import Writer
from tests.simulation.world import Actor

ACTORS: tuple[Actor, ...] = (
    Writer(),
    Reader(),
    Keeper(),
    Compactor(),
    Compactor(0.7, most=MANY),
    Driver(),
    Undropper(),
    Optimizer(),
    Partitioner(),
    Streamer(),
    Vandal(),
    Repairer(),
    Vacuumer(),
    Litterer(),
    Consumer(),
    FeedReader(),
)

WAITING: tuple[Actor, ...] = (
    Appender(),
    Writer(2),
    Reader(2),
    Keeper(0.5),
    Compactor(0.5),
    Partitioner(0.5),
    Undropper(0.5),
    Driver(0.5),
    Vacuumer(1),
    Consumer(),
    FeedReader(),
)
"""Writers that wait for their turns, and the work that may come between."""

EVOLVED: tuple[Actor, ...] = (
    Writer(mix=(6, 2, 3, 3, 0.5, 0.3, 0.5)),
    Evolver(5),
    Filler(3),
    Tightener(2),
    Bringer(3),
    Replacer(4),
    Namer(2),
    Ruler(2),
    Driver(2),
    Reader(3),
    Compactor(1),
    Optimizer(0.5, earlier=0.5),
    Undropper(0.5),
    Vacuumer(0.5),
    Keeper(0.5),
    Consumer(),
    FeedReader(),
)
"""Writers of tables whose columns and constraints are added and dropped."""

RULED: tuple[Actor, ...] = (
    Writer(mix=(6, 2, 4, 0, 0, 0)),
    Ruler(6),
    Driver(2),
    Reader(1),
    Compactor(1),
    Undropper(0.5),
    Vacuumer(0.5),
)
"""Writers of tables whose constraints are added and dropped."""

SORTED: tuple[Actor, ...] = (
    Writer(mix=(6, 2, 3, 1, 0.5, 0.5, 1)),
    Sorter(3),
    Partitioner(0.5),
    Optimizer(3, earlier=0.3),
    Compactor(1),
    Driver(1),
    Undropper(1),
    Reader(2),
    Keeper(0.5),
    Vacuumer(0.5),
)
"""Writers of tables whose sort key changes."""

KEYED: tuple[Actor, ...] = (
    KeyedWriter(),
    KeyedStreamer(),
    Keyer(),
    Cleaner(0.7),
    Writer(1.5),
    Driver(0.5),
    Reader(1),
    Compactor(1),
    Optimizer(2, earlier=0.3),
    Partitioner(0.3),
    Undropper(0.7),
    Keeper(1.5),
    Vacuumer(0.7),
    Consumer(),
    FeedReader(),
)
"""Writers of tables with a primary key, which is dropped, given again and changed."""

RANGED: tuple[Actor, ...] = (
    Writer(mix=(8, 1, 4, 2, 1, 0.2, 0.5)),
    Ranger(),
    Cleaner(),
    Driver(1),
    Reader(4),
    Compactor(2),
    Compactor(0.5, most=MANY),
    Optimizer(1, earlier=0.3),
    Partitioner(0.3),
    Undropper(0.7),
    Keeper(0.7),
    Vacuumer(0.5),
    Consumer(),
    FeedReader(),
)
"""Writers of sorted tables whose ranges are deleted without being read."""

STREAMED: tuple[Actor, ...] = (
    Streamer(4, replaces=0.4),
    Writer(2),
    Reader(6),
    Compactor(1),
    Undropper(0.5),
    Keeper(1),
    Vacuumer(0.5),
    Consumer(),
    FeedReader(),
)
"""A stream whose batches append rows or make their table again, beside other work."""

FOLLOWED: tuple[Actor, ...] = (
    Follower(10),
    Writer(5, mix=(8, 2, 2, 2, 0.3, 0.3, 0.3)),
    Compactor(2),
    Optimizer(1),
    Driver(1),
    Streamer(0.5),
    Undropper(0.5),
    Partitioner(0.3),
    Keeper(0.7),
    Vacuumer(1),
)
"""Streams that read tables, beside all that changes them."""

FOLLOWED_KEYS: tuple[Actor, ...] = (
    Follower(10),
    KeyedWriter(6),
    KeyedStreamer(),
    Cleaner(0.5),
    Compactor(1),
    Optimizer(1),
    Undropper(0.5),
    Keeper(0.7),
    Vacuumer(0.7),
)
"""Streams that read tables with a primary key, also where rows are merged."""

LOSING: tuple[Actor, ...] = (
    Writer(),
    Reader(3),
    Keeper(),
    Compactor(1),
    Partitioner(0.5),
    Undropper(0.5),
    Driver(),
    Repairer(0.5),
    Vacuumer(2),
    Salvager(),
)
"""Writers and vacuums of a database whose oldest state is lost now and then."""
