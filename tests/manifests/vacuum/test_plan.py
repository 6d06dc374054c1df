"""A vacuum chooses no object that a kept state needs, and leaves no hole in the log."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from colonnade.manifests.object_names import (
    HINT,
    checkpoint_name,
    deletion_vector_name,
    epoch_name,
    packed_name,
)
from colonnade.manifests.store.base import ObjectInfo
from colonnade.manifests.vacuum.objects import StoredFile, describe
from colonnade.manifests.vacuum.plan import plan_removal

CUTOFF = 1_000
PREFIX = f"{'c' * 16}/"
JOBS = ("a" * 16, "b" * 16)
OBJECTS = [job + f"{number:016x}" for job in JOBS for number in range(3)]
TIMES = st.sampled_from((None, 0, CUTOFF - 1, CUTOFF, CUTOFF + 1))


def stored(name: str, time_ms: int | None, *, unfinished: bool = False) -> StoredFile:
    if unfinished:
        folder, slash, last = name.rpartition("/")
        name = f"{folder}{slash}.tmp-{'0' * 16}-{last}"
    return describe(ObjectInfo(name, 1, time_ms))


NAMES = st.one_of(
    st.builds(packed_name, st.just(PREFIX), st.sampled_from(OBJECTS)),
    st.builds(deletion_vector_name, st.just(PREFIX), st.sampled_from(OBJECTS)),
    st.builds(checkpoint_name, st.sampled_from(OBJECTS)),
    st.builds(epoch_name, st.integers(0, 12)),
    st.sampled_from((HINT, "readme.txt")),
)
LISTINGS = st.lists(st.builds(stored, NAMES, TIMES, unfinished=st.booleans()), max_size=25)


@given(LISTINGS, st.sets(st.sampled_from(OBJECTS)), st.sets(st.sampled_from(JOBS)))
def test_an_object_is_a_victim_exactly_if_no_reader_can_need_it_and_all_its_files_are_old(
    listing: list[StoredFile], used: set[str], leased: set[str]
) -> None:
    removal = plan_removal(listing, used, leased, CUTOFF, range(1), 12)
    for name in OBJECTS:
        times = [each.info.modified_ms for each in listing if each.object == name]
        is_old = bool(times) and all(time is not None and time <= CUTOFF for time in times)
        wanted = is_old and name not in used and name[:16] not in leased
        assert (name in removal.victims) == wanted
    assert [*removal.victims] == sorted({*removal.victims})
    assert [*removal.files] == [each for each in listing if each.object in removal.victims]


FREED = st.builds(range, st.integers(1, 12), st.integers(0, 12))


@given(LISTINGS, st.sets(st.sampled_from(OBJECTS)), FREED, st.integers(0, 12))
def test_leftovers_are_never_an_epoch_outside_the_freed_slots_nor_a_finished_object(
    listing: list[StoredFile], used: set[str], slots: range, newest: int
) -> None:
    leftovers = plan_removal(listing, used, (), CUTOFF, slots, newest).leftovers
    for each in listing:
        if each.info.name == epoch_name(each.epoch or 0):
            assert (each in leftovers) == (each.epoch in slots)
        elif not each.unfinished or each.info.modified_ms not in (0, CUTOFF - 1, CUTOFF):
            assert each not in leftovers
        elif each.kind == "epoch":
            # An unfinished file of a slot that is not taken yet may still become an epoch.
            assert (each in leftovers) == (each.epoch is not None and each.epoch <= newest)


@given(LISTINGS, st.integers(1, 4))
def test_the_parts_of_a_removal_hold_every_victim_with_all_its_files_once(
    listing: list[StoredFile], limit: int
) -> None:
    removal = plan_removal(listing, (), (), CUTOFF, range(1), 12)
    parts = list(removal.parts(limit))
    assert [name for names, _ in parts for name in names] == [*removal.victims]
    assert all(1 <= len(names) <= limit for names, _ in parts)
    for names, files in parts:
        assert [*files] == [each for each in removal.files if each.object in names]
