"""Epochs are tagged, and tables are restored only after the user agrees."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.runner import Run


@pytest.mark.slow
def test_a_tag_is_given_listed_read_and_removed(run: Run, shop: Path) -> None:
    assert run("tag", shop, "loaded", "--epoch", 4, "--json").json == [
        {"name": "loaded", "epoch": 4}
    ]
    assert run("count", shop / "orders", "--tag", "loaded").out == "30\n"
    assert run("tag", shop).out.split() == ["tag", "epoch", "loaded", "4"]
    assert run("show", shop, "--json").json["tags"] == {"loaded": 4}
    assert run("tag", shop, "loaded").code == 4
    assert run("tag", shop, "loaded", "--remove").code == 11
    assert run("tag", shop, "loaded", "--remove", "--yes", "--json").json == []
    assert run("count", shop / "orders", "--tag", "loaded").code == 3


def test_a_table_is_restored_when_the_user_agrees(run: Run, shop: Path) -> None:
    declined = run("restore", shop / "orders", "--epoch", 3, answer="n\n")
    assert declined.code == 11
    assert "to epoch 3? It is at epoch 6." in declined.err
    done = run("restore", shop / "orders", "--epoch", 3, "--yes", "--json").json
    assert (done["restored"], done["epoch"]) == (3, 7)
    assert run("count", shop / "orders").out == "20\n"
    assert run("count", shop / "orders", "--epoch", 6).out == "28\n"


def test_a_database_is_restored_with_all_of_its_tables(run: Run, shop: Path) -> None:
    assert run("restore", shop, "--epoch", 5, answer="y\n").code == 0
    assert [table["name"] for table in run("ls", shop, "--json").json] == ["orders"]


@pytest.mark.slow
def test_a_restore_or_a_tag_that_is_impossible_is_refused(run: Run, shop: Path) -> None:
    assert run("restore", shop / "orders").code == 2
    assert run("restore", shop / "orders", "--epoch", 99, "--yes").code == 3
    assert run("restore", shop / "orders", "--epoch", 1, "--tag", "x", "--yes").code == 2
    assert run("tag", shop, "--remove").code == 2
    assert run("tag", shop, "x", "--epoch", 99).code == 3
    assert run("tag", shop, "x", "--epoch", 10**20).code == 3
