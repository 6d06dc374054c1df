"""Decide which of the stored objects may be removed. Pure.

Spec: docs/spec/vacuum.md#victims
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from colonnade.manifests.ids import job_id_of
from colonnade.manifests.vacuum.objects import StoredFile


@dataclass(frozen=True, slots=True)
class Removal:
    """What may be removed: `victims`, which an epoch must name first, and their `files`.

    `leftovers` are files that no reader or writer can need. They need no epoch.
    """

    victims: tuple[str, ...]
    files: tuple[StoredFile, ...]
    leftovers: tuple[StoredFile, ...]

    def parts(self, limit: int) -> Iterator[tuple[tuple[str, ...], tuple[StoredFile, ...]]]:
        """Yield the victims of each epoch, at most `limit`, and their files."""
        for at in range(0, len(self.victims), limit):
            part = self.victims[at : at + limit]
            names = frozenset(part)
            yield part, tuple(each for each in self.files if each.object in names)


def plan_removal(
    stored: Sequence[StoredFile],
    used: Collection[str],
    leased_jobs: Collection[str],
    cutoff_ms: int,
    freed: range,
    newest: int,
) -> Removal:
    """Choose what to remove: unused objects, unfinished files, and objects in freed slots.

    `freed` are the slots that were freed. A writer that slept, or a killed run, left the objects in
    them. `newest` is the epoch of the head.

    An object stays if it is `used`, if a job that holds a lease wrote it, or if its name has no
    meaning. It also stays if one of its files is younger than `cutoff_ms` (ms since 1970 UTC), or
    if the store does not know when the file was written.
    """
    objects = [each for each in stored if each.object is not None]
    young = {each.object for each in objects if not _is_old(each, cutoff_ms)}
    unused = {each.object for each in objects if each.object not in used}
    victims = {
        name for name in unused - young if name is not None and job_id_of(name) not in leased_jobs
    }
    return Removal(
        tuple(sorted(victims)),
        tuple(each for each in objects if each.object in victims),
        tuple(
            each
            for each in stored
            if _is_in_freed_slot(each, freed)
            or (
                each.unfinished
                and _is_old(each, cutoff_ms)
                and (
                    each.kind in ("cache", "mark")
                    or (each.object is not None and each.object in used)
                    or (each.epoch is not None and each.epoch <= newest)
                )
            )
        ),
    )


def _is_in_freed_slot(each: StoredFile, freed: range) -> bool:
    return not each.unfinished and each.epoch is not None and each.epoch in freed


def _is_old(each: StoredFile, cutoff_ms: int) -> bool:
    # Without a time the object may be new, and a writer may be about to commit it.
    return each.info.modified_ms is not None and each.info.modified_ms <= cutoff_ms
