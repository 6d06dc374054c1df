"""A database of an earlier version is upgraded only after the user agrees."""

from __future__ import annotations

from pathlib import Path

import pytest

import colonnade
from colonnade.manifests.log.log import create_database
from colonnade.manifests.store import LocalStore
from tests.cli.runner import Run


@pytest.fixture
def old(tmp_path: Path) -> Path:
    create_database(LocalStore(tmp_path), lone_table=False, slot_block=None, shared_epochs=False)
    return tmp_path


def test_a_dry_run_says_what_changes_and_who_can_no_longer_read(run: Run, old: Path) -> None:
    told = run("upgrade", old, "--dry-run").out
    assert "would enable: freed_slots, shared_epochs, upgraded_slots." in " ".join(told.split())
    assert "do not know these features cannot read or write" in " ".join(told.split())
    assert colonnade.open_database(old).refresh().epoch == 0


def test_a_database_is_upgraded_when_the_user_agrees(run: Run, old: Path) -> None:
    declined = run("upgrade", old, answer="n\n")
    assert declined.code == 11
    assert "there is no way back. Upgrade" in declined.err
    assert colonnade.open_database(old).refresh().epoch == 0
    done = run("upgrade", old, "--yes", "--json").json
    assert (done["dry_run"], done["epoch"], done["kept_slots"]) == (False, 1, 1)
    again = run("upgrade", old)
    assert (again.code, "nothing to upgrade" in again.out) == (0, True)
    assert colonnade.open_database(old).refresh().epoch == 1


def test_a_table_of_a_database_cannot_be_upgraded_alone(run: Run, shop: Path) -> None:
    assert run("upgrade", shop / "orders").code == 2
    assert run("upgrade", shop, "--yes", "--json").json["features"] == []
