"""Compaction runs without a question; files are removed only after the user agrees."""

from __future__ import annotations

from pathlib import Path

import fsspec
import pytest

import colonnade
from colonnade.manifests.object_names import JOURNAL
from tests.cli.runner import Run, order_rows


@pytest.mark.slow
def test_compaction_is_planned_printed_and_done(run: Run, shop: Path) -> None:
    orders = shop / "orders"
    plan = run("compact", orders, "--dry-run", "--option", "min-rowsets=2")
    assert "3 small RowSets" in plan.out
    groups = run("compact", orders, "--dry-run", "--option", "min-rowsets=2", "--json").json[
        "groups"
    ]
    assert [group["rowsets"] for group in groups] == [[2, 1, 0]]
    done = run("compact", orders, "--option", "min-rowsets=2", "--json").json
    assert (done["rowsets_removed"], done["rowsets_added"], done["rows_dropped"]) == (3, 1, 2)
    assert run("count", orders).out == "28\n"
    assert "nothing to compact" in run("compact", orders).out


def test_some_of_a_table_is_compacted_by_a_predicate(run: Run, shop: Path) -> None:
    part = run("compact", shop / "orders", "--where", "id >= 10", "--option", "min-rowsets=2")
    assert "2 RowSets became 1" in part.out
    assert run("show", shop / "orders", "--json").json["rowsets"] == 2


def test_rows_are_put_in_z_order(run: Run, tmp_path: Path) -> None:
    table = colonnade.create(tmp_path / "t", order_rows(0, 1).schema)
    for start in (0, 10):
        table.append(order_rows(start, 10))
    done = run("compact", tmp_path / "t", "--zorder", "id,day", "--json").json
    assert (done["rowsets_removed"], done["rowsets_added"]) == (2, 1)


def test_an_unknown_setting_of_the_policy_is_refused(run: Run, shop: Path) -> None:
    orders = shop / "orders"
    assert "has no value" in run("compact", orders, "--option", "min-rowsets").err
    assert run("compact", orders, "--option", "nonsense=1").code == 2
    assert run("compact", orders, "--where", "nothing = 1").code == 2
    assert run("compact", orders, "--zorder", "id", "--dry-run").code == 2
    assert run("compact", orders, "--zorder", "nothing").code in (2, 3)


def test_vacuum_says_what_would_go_and_asks(run: Run, shop: Path) -> None:
    orders = colonnade.open(shop / "orders")
    orders.overwrite(order_rows(0, 5))
    options = (shop, "--retention-hours", "0")
    plan = run("vacuum", *options, "--dry-run", "--json").json
    assert plan["dry_run"]
    assert plan["epochs_removed"] > 0
    assert "Would remove" in run("vacuum", *options, "--dry-run").out
    declined = run("vacuum", *options, answer="n\n")
    assert declined.code == 11
    assert f"{plan['epochs_removed']} epochs of {shop}?" in declined.err
    assert run("vacuum", *options, "--dry-run", "--json").json == plan
    done = run("vacuum", *options, "--yes", "--json").json
    assert done["epochs_removed"] == plan["epochs_removed"]
    assert run("count", shop / "orders").out == "5\n"
    assert run("count", shop / "orders", "--epoch", 3).code == 3
    again = run("vacuum", *options)
    assert again.code == 0, "asked although there was nothing to remove"


@pytest.mark.slow
def test_vacuum_keeps_what_is_tagged_and_what_is_not_old(run: Run, shop: Path) -> None:
    run("tag", shop, "loaded", "--epoch", 4)
    colonnade.open(shop / "orders").overwrite(order_rows(0, 5))
    assert run("vacuum", shop).code == 0
    assert run("vacuum", shop, "--retention-hours", "0", "--yes").code == 0
    assert run("count", shop / "orders", "--tag", "loaded").out == "30\n"
    assert run("vacuum", shop, "--retention-hours", "-1").code == 2


@pytest.mark.slow
def test_a_store_that_can_only_be_read_is_looked_at_and_left_alone(run: Run, shop: Path) -> None:
    memory = fsspec.filesystem("memory")
    memory.put(str(shop), "/read-only-shop", recursive=True)
    remote = "memory://read-only-shop"
    try:
        before = memory.find("/read-only-shop")
        assert run("count", f"{remote}/orders").out == "28\n"
        checks = {each["what"]: each for each in run("doctor", remote, "--json").json}
        assert checks["store"]["status"] == "absent"
        for command in (
            ("compact", f"{remote}/orders"),
            ("vacuum", remote, "--yes"),
            ("maintain", remote),
            ("tag", remote, "x"),
            ("restore", remote, "--epoch", "3", "--yes"),
        ):
            ran = run(*command)
            assert (ran.code, ran.err.count("\n")) == (2, 1), command
            assert "read" in ran.err
        assert memory.find("/read-only-shop") == before
    finally:
        memory.rm("/read-only-shop", recursive=True)


def test_a_damaged_log_stops_what_would_remove_and_keeps_every_file(run: Run, shop: Path) -> None:
    epoch = next((shop / "_manifest").glob("*3.json"))
    epoch.write_bytes(epoch.read_bytes().replace(b"append", b"appemd"))
    before = sorted(shop.rglob("*"))
    for command in ("vacuum", "maintain"):
        ran = run(command, shop)
        assert ran.code == 8
        assert str(epoch) in ran.err
    journal = shop / JOURNAL
    assert sorted(shop.rglob("*")) == sorted([*before, journal])


@pytest.mark.slow
def test_a_sound_database_is_said_to_be_sound_at_every_depth(run: Run, shop: Path) -> None:
    for depth in "1234":
        found = run("verify", shop, "--depth", depth, "--json").json
        assert found["sound"]
        assert found["findings"] == []
    only = run("verify", shop / "users", "--json").json
    assert (only["tables"], only["rowsets"]) == (1, 0)
    assert "Nothing is damaged." in run("verify", shop).out
    assert run("verify", shop, "--depth", "5").code == 2
    assert run("verify", shop / "nothing").code == 3


def test_damage_is_told_where_it_is_and_by_the_exit_code(run: Run, shop: Path) -> None:
    colonnade.open(shop / "orders").append(order_rows(0, 20_000))
    (file,) = shop.rglob("*.rowset")
    data = bytearray(file.read_bytes())
    data[10] ^= 1
    file.write_bytes(data)
    assert run("verify", shop, "--depth", "1").code == 0
    found = run("verify", shop / "orders", "--json")
    assert found.code == 8
    assert file.name in found.json["findings"][0]["file"]
    assert "There is damage." in run("verify", shop).out
    (shop / "_manifest" / "00000000000000000000.json").write_bytes(b"{}")
    assert run("verify", shop).code == 8


def test_rows_are_erased_when_the_user_agrees_and_what_still_holds_them_is_named(
    run: Run, shop: Path
) -> None:
    orders, where = shop / "orders", ("--where", "id < 5")
    assert run("erase", orders, *where, answer="n\n").code == 11
    assert run("count", orders).out == "28\n"
    held = run("erase", orders, *where, "--yes")
    assert held.code == 1
    assert "erase again with --all-tables" in held.out
    done = run("erase", orders, *where, "--yes", "--all-tables", "--json")
    assert (done.code, done.json["held_by"]) == (0, [])
    assert run("count", orders).out == "25\n"
    assert run("erase", orders, "--where", "nothing = 1", "--yes").code == 2
