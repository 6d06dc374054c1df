"""A folder that is moved away to see whether its database was dropped survives other drops."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from colonnade.manifests.errors import StoreError
from colonnade.manifests.log import removed_folder
from colonnade.manifests.log.dropping import drop_database
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.log.removed_folder import move_away
from colonnade.manifests.store import LocalStore


def _meanwhile(monkeypatch: pytest.MonkeyPatch, what: object) -> None:
    """Let something happen once, after a folder was moved and before its log is looked at."""
    real = removed_folder._is_dropped

    def look(folder: str) -> bool:
        monkeypatch.setattr(removed_folder, "_is_dropped", real)
        what()  # type: ignore[operator]
        return real(folder)

    monkeypatch.setattr(removed_folder, "_is_dropped", look)


def test_a_live_database_outlives_a_drop_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    live, other = LocalStore(tmp_path / "live"), LocalStore(tmp_path / "other")
    made = create_database(live, lone_table=False)
    create_database(other, lone_table=False)
    _meanwhile(monkeypatch, lambda: drop_database(Log(other), cascade=True))
    move_away(live)
    assert os.listdir(tmp_path) == ["live"]
    assert Log(LocalStore(tmp_path / "live")).read_head().transaction == made.transaction


def test_a_live_database_whose_place_was_taken_is_named_and_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "db"
    made = create_database(LocalStore(place), lone_table=False)
    _meanwhile(monkeypatch, lambda: create_database(LocalStore(place), lone_table=False))
    with pytest.raises(StoreError, match=r"Its folder is .*/_moved-[0-9a-f]{16} now"):
        move_away(LocalStore(place))
    drop_database(Log(LocalStore(place)), cascade=True)
    [left] = tmp_path.iterdir()
    assert Log(LocalStore(left)).read_head().transaction == made.transaction


def test_the_next_drop_removes_what_killed_ones_have_left(tmp_path: Path) -> None:
    for name in ("_moved-0123456789abcdef", "a"):
        create_database(LocalStore(tmp_path / name), lone_table=False)
    ended = Log(LocalStore(tmp_path / "_moved-0123456789abcdef"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("colonnade.manifests.log.dropping.move_away", lambda store: None)
        drop_database(ended, cascade=True)
    assert ended.is_dropped()
    (tmp_path / "_dropped-0123456789abcdee").mkdir()
    drop_database(Log(LocalStore(tmp_path / "a")), cascade=True)
    assert list(tmp_path.iterdir()) == []
