"""A dropped database in a bucket loses all objects but its log, also after a failure."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from colonnade.manifests.errors import ColonnadeError, StoreError
from colonnade.manifests.log.removed_objects import remove_objects
from colonnade.manifests.object_names import MANIFEST, epoch_name
from colonnade.manifests.store import MemoryStore


class Failing(MemoryStore):
    """A store that refuses to delete one object, once."""

    refused = "t/b"

    def remove_many(self, names: Sequence[str]) -> dict[str, ColonnadeError]:
        refused = [name for name in names if name == self.refused]
        self.refused = ""
        super().remove_many([name for name in names if name not in refused])
        return {name: StoreError(f"{name} is busy.", True) for name in refused}


def names(store: MemoryStore) -> list[str]:
    return sorted(info.name for info in store.list(""))


def test_the_second_drop_removes_everything_but_the_log() -> None:
    store = Failing()
    for name in (epoch_name(0), epoch_name(1), f"{MANIFEST}/hint.json", "t/a", "t/b", "u/c"):
        store.put_if_absent(name, b"x")
    with pytest.raises(StoreError, match="1 of 3 objects could not.*t/b is busy") as told:
        remove_objects(store)
    assert told.value.retryable
    assert [name for name in names(store) if not name.startswith(MANIFEST)] == ["t/b"]
    remove_objects(store)
    assert names(store) == [epoch_name(0), epoch_name(1), f"{MANIFEST}/hint.json"]
