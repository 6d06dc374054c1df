"""Objects of anchors are at two places, and one intact place restores the other."""

from __future__ import annotations

import numpy as np
import pytest

from colonnade.manifests.checkpoint.paged_map import PageTable
from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.model.codec import byte_check, seal
from colonnade.manifests.model.map_ref import Bundle
from colonnade.manifests.model.operations import CheckpointRef
from colonnade.manifests.object_names import checkpoint_name, copy_name
from colonnade.manifests.store import MemoryStore
from colonnade.manifests.vacuum.copies import (
    AnchorObject,
    Parts,
    copy_what_is_lost,
    damaged_places,
    restore,
)

DATA = seal(b'{"a":1}')
OBJECT = "ab" * 16
OWN, COPY = checkpoint_name(OBJECT), copy_name(OBJECT)
DAMAGED = DATA.replace(b"1}", b"2}")
WHOLE = AnchorObject(OBJECT, len(DATA), byte_check(DATA))
TABLE = PageTable(
    1, (Bundle(object=OBJECT, length=len(DATA)),), *(np.array([n]) for n in (0, 0, len(DATA)))
)
PAGES = AnchorObject(OBJECT, len(DATA), None, [TABLE])


def store(own: bytes | None, copy: bytes | None) -> MemoryStore:
    made = MemoryStore()
    for name, data in ((OWN, own), (COPY, copy)):
        if data is not None:
            made.put(name, data, sync=False)
    return made


def contents(found: MemoryStore) -> dict[str, bytes]:
    return {each.name: found.get(each.name) for each in found.list("")}


BOTH = {OWN: DATA, COPY: DATA}


@pytest.mark.parametrize("part", [WHOLE, PAGES])
@pytest.mark.parametrize("wrong", [DAMAGED, DATA[:-1], None])
@pytest.mark.parametrize("place", [OWN, COPY])
def test_the_intact_place_restores_the_other_one(
    part: AnchorObject, wrong: bytes | None, place: str
) -> None:
    found = store(wrong, DATA) if place == OWN else store(DATA, wrong)
    assert damaged_places(found, part).keys() == {place}
    assert restore(found, part) == (place,)
    assert contents(found) == BOTH
    assert restore(found, part) == ()


@pytest.mark.parametrize("own", [DAMAGED, None])
def test_without_an_intact_place_nothing_is_written(own: bytes | None) -> None:
    found = store(own, DAMAGED)
    before = contents(found)
    with pytest.raises(CorruptionError, match="Its copy is damaged or missing, too"):
        restore(found, WHOLE)
    assert contents(found) == before


@pytest.mark.parametrize("threads", [1, 4])
def test_only_parts_that_the_listing_lacks_or_shows_cut_are_copied(threads: int) -> None:
    for own, copy in ((DATA, None), (None, DATA), (DATA, DATA[:-1])):
        found = store(own, copy)
        parts = Parts()
        parts.add_root(CheckpointRef(epoch=1, root=OBJECT, check=byte_check(DATA)))
        sizes = {each.name: each.size for each in found.list("")}
        copy_what_is_lost(found, parts, sizes, threads)
        assert contents(found) == BOTH
    # Damage at full size costs no request here: only a read of the part shows it.
    found = store(DATA, DAMAGED)
    copy_what_is_lost(found, parts, {OWN: len(DATA), COPY: len(DATA)}, threads)
    assert contents(found) == {OWN: DATA, COPY: DAMAGED}


def test_an_object_that_two_anchors_share_is_one_part() -> None:
    parts = Parts()
    for epoch in (1, 2):
        parts.add_root(CheckpointRef(epoch=epoch, root=OBJECT, check=byte_check(DATA)))
    assert [each.object for each in parts] == [OBJECT]
    assert WHOLE.places == (OWN, COPY)
