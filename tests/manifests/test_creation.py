"""A database is created once, and neither inside nor around another."""

from __future__ import annotations

from pathlib import Path

import pytest

from manifests.errors import AlreadyExistsError, InvalidInputError
from manifests.log import create_database
from manifests.store import LocalStore


def test_databases_do_not_nest_through_links(tmp_path: Path) -> None:
    create_database(LocalStore(tmp_path / "a"), lone_table=False)
    (tmp_path / "a" / "b").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "a" / "b")
    with pytest.raises(InvalidInputError, match="inside"):
        create_database(LocalStore(tmp_path / "link" / "c"), lone_table=True)


def test_databases_do_not_nest(tmp_path: Path) -> None:
    create_database(LocalStore(tmp_path / "a" / "b"), lone_table=False)
    with pytest.raises(InvalidInputError, match="around"):
        create_database(LocalStore(tmp_path / "a"), lone_table=False)
    with pytest.raises(InvalidInputError, match="inside"):
        create_database(LocalStore(tmp_path / "a" / "b" / "c" / "d"), lone_table=True)
    create_database(LocalStore(tmp_path / "a" / "z"), lone_table=True)
    with pytest.raises(AlreadyExistsError):
        create_database(LocalStore(tmp_path / "a" / "z"), lone_table=True)
