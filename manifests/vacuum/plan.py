"""Which of the stored objects may go. Pure.

Spec: docs/spec/vacuum.md#victims
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.ids import job_of
from colonnade.manifests.object_names import epoch_name
from colonnade.manifests.vacuum.objects import Stored


@dataclass(frozen=True, slots=True)
class Removal:
    """What may go: objects that an epoch must name first, and the files that then are removed.

    `leftovers` are files of no object that anybody could miss: they need no epoch.
    """

    victims: tuple[str, ...]
    files: tuple[Stored, ...]
    leftovers: tuple[Stored, ...]

    def parts(self, limit: int) -> Iterator[tuple[tuple[str, ...], tuple[Stored, ...]]]:
        """The victims that each epoch names, at most `limit`, and the files of these."""
        for at in range(0, len(self.victims), limit):
            part = self.victims[at : at + limit]
            names = frozenset(part)
            yield part, tuple(each for each in self.files if each.object in names)


def plan_removal(
    stored: Sequence[Stored],
    used: Collection[str],
    leased_jobs: Collection[str],
    cutoff_ms: int,
    slots: range,
) -> Removal:
    """Choose what goes: objects that are not `used`, unfinished files, and what is in freed slots.

    `slots` are those from the first that was not freed up to the head. What is in an earlier slot,
    but for epoch 0, is left by a writer that slept or by a run that was killed.

    Left alone are objects a file of which is younger than the cutoff, those of jobs that hold a
    lease, and everything whose name says nothing.
    """
    objects = [each for each in stored if each.object is not None]
    young = {each.object for each in objects if not _is_old(each, cutoff_ms)}
    unused = {each.object for each in objects if each.object not in used}
    victims = {
        name for name in unused - young if name is not None and job_of(name) not in leased_jobs
    }
    return Removal(
        tuple(sorted(victims)),
        tuple(each for each in objects if each.object in victims),
        tuple(
            each
            for each in stored
            if _is_in_freed_slot(each, slots)
            or (
                each.unfinished
                and _is_old(each, cutoff_ms)
                and (
                    each.kind == "hint"
                    or (each.object is not None and each.object in used)
                    or (each.epoch is not None and each.epoch < slots.stop)
                )
            )
        ),
    )


def _is_in_freed_slot(each: Stored, slots: range) -> bool:
    return not each.unfinished and each.epoch is not None and 0 < each.epoch < slots.start


def check_listing(
    stored: Sequence[Stored], before: int, after: int, location: str, first: int = 0
) -> None:
    """Check that a listing shows a whole log, whose newest epoch was `before` it and `after` it.

    Slots before `first` were freed, but for that of epoch 0. A gap that is too long for a reader to
    notice shows here. Raises CorruptionError.
    """
    listed = {each.epoch for each in stored if each.epoch is not None and not each.unfinished}
    wanted = (0, *range(max(first, 1), before + 1))
    missing = next((number for number in wanted if number not in listed), None)
    beyond = max(listed, default=0) > after
    if missing is not None or beyond:
        name = epoch_name(after + 1 if missing is None else missing)
        raise CorruptionError(
            f"{location}/{name} is missing, although a later epoch is there: nothing is removed;"
            " restore that epoch."
        )


def _is_old(each: Stored, cutoff_ms: int) -> bool:
    return each.info.modified_ms is None or each.info.modified_ms <= cutoff_ms
