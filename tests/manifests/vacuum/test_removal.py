"""Unfinished files of killed writers are removed, and no other unfinished ones."""

from __future__ import annotations

from pathlib import Path

from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.store import LocalStore
from colonnade.manifests.vacuum.run import VacuumRequest, vacuum
from tests.log_samples import change, table
from tests.manifests.vacuum.world import PREFIX


def test_only_unfinished_files_of_killed_writers_are_deleted(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    log = Log(store, checkpoint_interval=64)
    head = log.commit(change(table()), create_database(store, lone_table=False))
    unfinished = [
        f"{PREFIX}.tmp-0123456789abcdef-{'a' * 32}.rowset",
        f"{PREFIX}{'b' * 32}/.tmp-0123456789abcdef-1.col",
        "_manifest/.tmp-0123456789abcdef-00000000000000000001.json",
        "_manifest/.tmp-0123456789abcdef-hint.json",
        f"_manifest/.tmp-0123456789abcdef-freed-{head.database}-{0:020d}.json",
    ]
    others = [
        "_manifest/.tmp-0123456789abcdef-freed-notes.json",
        f"{PREFIX}.tmp-0123456789abcdef-notes.txt",
        f"{PREFIX}.tmp-nothex-{'a' * 32}.rowset",
        "_manifest/.tmp-0123456789abcdef-00000000000000000099.json",
        ".hidden",
    ]
    for name in (*unfinished, *others):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"x")
    result = vacuum(log, VacuumRequest(0))
    assert sorted(each.name for each in result.files) == sorted(unfinished)
    assert not [name for name in unfinished if (tmp_path / name).exists()]
    assert not (tmp_path / PREFIX / ("b" * 32)).exists()
    assert all((tmp_path / name).exists() for name in others)
    assert log.reader.refresh(head).epoch == result.epoch
