"""Only names that mean something are removed."""

from __future__ import annotations

from tests.manifests.vacuum.world import PREFIX, World


def test_names_that_mean_nothing_are_never_touched() -> None:
    world = World()
    foreign = [
        "notes.txt",
        "_manifest/maintenance.jsonl",
        "_manifest/checkpoint/readme.json",
        f"{PREFIX}part-0.parquet",
        f"{PREFIX}{'a' * 32}.parquet",
        f"{PREFIX}{'a' * 32}/data.parquet",
        f"{PREFIX}{'A' * 32}.rowset",
        f"{'a' * 32}.rowset",
        f"{'a' * 17}/{'b' * 32}.rowset",
    ]
    for name in foreign:
        world.store.put(name, b"mine", sync=False)
    world.append(2)
    world.overwrite()
    assert world.vacuum().epoch is not None
    assert {info.name for info in world.store.list("")}.issuperset(foreign)
