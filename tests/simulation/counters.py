"""What simulated runs went through."""

from __future__ import annotations

from dataclasses import dataclass, fields

from tests.simulation.world import World


@dataclass
class Counters:
    """What runs went through."""

    runs: int = 0
    calls: int = 0
    faults: int = 0
    crashes: int = 0
    refusals: int = 0
    commits: int = 0
    ruled: int = 0
    evolved: int = 0
    numbered: int = 0
    generated: int = 0
    unique: int = 0
    ranges: int = 0
    feeds: int = 0
    moves: int = 0
    batches: int = 0
    repeated: int = 0
    reads: int = 0
    losses: int = 0
    given_up: int = 0

    def add(self, world: World) -> None:
        """Count one run."""
        self.runs += 1
        self.calls += world.weather.calls
        self.faults += world.weather.faults
        self.crashes += world.weather.crashes
        self.refusals += world.weather.refusals
        self.commits += world.oracle.head
        self.ruled += world.oracle.ruled
        self.evolved += world.oracle.evolved
        self.numbered += world.oracle.numbered
        self.generated += world.oracle.generated
        self.unique += world.oracle.unique
        self.ranges += world.oracle.ranges
        self.feeds += world.oracle.feeds
        self.moves += world.oracle.consumers.moves
        self.batches += world.streams.batches
        self.repeated += world.streams.repeated
        self.reads += world.oracle.reads
        self.losses += world.losses
        self.given_up += world.given_up

    def __add__(self, other: Counters) -> Counters:
        return Counters(
            **{
                each.name: getattr(self, each.name) + getattr(other, each.name)
                for each in fields(self)
            }
        )

    def __str__(self) -> str:
        return (
            f"{self.runs:,} runs, {self.calls:,} store calls, {self.faults:,} faults,"
            f" {self.refusals:,} refusals of a busy store, {self.crashes:,} crashes,"
            f" {self.commits:,} epochs,"
            f" {self.reads:,} verified reads, {self.feeds:,} verified feeds,"
            f" {self.moves:,} moves of consumers,"
            f" {self.batches:,} batches of streams, {self.repeated:,} of them again"
        )
