"""Folders that another user can change, in every way that Colonnade looks for."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest


def _give_away(folder: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a folder to another user")
    os.chown(folder, 12345, 12345)


def _replace_by_link(folder: Path) -> None:
    moved = folder.with_name(f"{folder.name}-moved")
    folder.rename(moved)
    folder.symlink_to(moved)


OTHERS: dict[str, Callable[[Path], None]] = {
    "another owner": _give_away,
    "its group": lambda folder: folder.chmod(0o770),
    "everybody": lambda folder: folder.chmod(0o1777),
    "a link": _replace_by_link,
}
"""What makes a folder of this user one that another user can change."""
