"""A vacuum lists a database in one pass, looks at no epoch or mark of thousands, and finds gaps."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonnade.manifests.epochs.freed_slots import put_mark
from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.object_names import epoch_name
from colonnade.manifests.store import LocalStore, MemoryStore
from colonnade.manifests.vacuum.listing import check_slots, read_listing
from tests.manifests.vacuum.world import World

FREED = st.builds(range, st.integers(1, 12), st.integers(0, 12))


@given(
    st.sets(st.integers(0, 12)), st.integers(0, 10), st.integers(0, 3), FREED, st.integers(0, 10)
)
def test_a_listing_is_whole_exactly_if_it_has_every_epoch_and_none_beyond_the_log(
    listed: set[int], before: int, more: int, freed: range, floor: int
) -> None:
    wanted = {0, *range(floor + 1, before + 1)} - {*freed}
    after = before + more
    if wanted <= listed and max(listed) <= after:
        check_slots(listed, before, after, "db", freed, floor)
    else:
        with pytest.raises(CorruptionError, match=r"db/_manifest/\d{20}\.json is missing"):
            check_slots(listed, before, after, "db", freed, floor)


def test_an_unfinished_file_of_an_epoch_does_not_fill_its_slot() -> None:
    world = World()
    head, store = world.append(), MemoryStore()
    store.put_if_absent(epoch_name(0), b"x")
    unfinished = epoch_name(1).replace("/", f"/.tmp-{'0' * 16}-")
    store._objects[unfinished] = b"x", 0
    found = read_listing(store, head)
    assert found.slots == {0}
    assert [each.epoch for each in found.files] == [1]
    assert found.files[0].unfinished


def test_only_files_in_slots_of_blocks_below_the_floor_are_listed_with_their_size() -> None:
    world = World()
    world.append(20)
    head = replace(world.head, floor=15, slot_block=4)
    for block in (0, 2):
        put_mark(world.store, head.blocks, block)
    found = read_listing(world.store, head)
    assert found.marks == {0, 2}
    assert found.slots == {*range(world.head.epoch + 1)}
    epochs = {each.epoch: each.info.size for each in found.files if each.epoch is not None}
    assert [*sorted(epochs)] == [*range(12)]
    assert all(epochs.values())
    others = {each.info.name for each in found.files if each.epoch is None}
    counted = {*map(epoch_name, found.slots), *map(head.blocks.mark, found.marks)}
    assert others == {i.name for i in world.store.list("")} - counted


def test_a_listing_on_local_disk_reads_each_folder_once_and_looks_at_no_epoch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = World()
    world.append(9)
    store = LocalStore(tmp_path)
    for name, (data, _) in sorted(world.store._objects.items()):
        store.put_if_absent(name, data)
    folders, looks = list[str](), list[str]()

    class Entry:
        def __init__(self, entry: os.DirEntry[str]) -> None:
            self.name, self._entry = entry.name, entry
            self.is_dir, self.is_file = entry.is_dir, entry.is_file

        def stat(self, *, follow_symlinks: bool) -> os.stat_result:
            looks.append(self.name)
            return self._entry.stat(follow_symlinks=follow_symlinks)

    class Entries:
        def __init__(self, folder: int) -> None:
            folders.append(os.readlink(f"/proc/self/fd/{folder}"))
            self._inner = scandir(folder)

        def __enter__(self) -> list[Entry]:
            return [Entry(each) for each in self._inner]

        def __exit__(self, *_: object) -> None:
            self._inner.close()

    scandir = os.scandir
    monkeypatch.setattr(os, "scandir", Entries)
    found = read_listing(store, world.head)
    assert len(folders) == len({*folders}) > 2
    assert found.slots == {*range(world.head.epoch + 1)}
    assert len(looks) == len(found.files) > 9
    assert not {*looks} & {epoch_name(n).rpartition("/")[2] for n in found.slots}
