"""Repair removes rows only after the user agrees, and says which rows are lost."""

from __future__ import annotations

from pathlib import Path

import colonnade
from colonnade.manifests.object_names import epoch_name
from tests.cli.runner import Run, order_rows


def test_a_damaged_rowset_is_removed_only_when_the_user_agrees(
    run: Run, shop: Path, tmp_path: Path
) -> None:
    colonnade.open(shop / "orders").append(order_rows(100, 20_000))
    (file,) = shop.rglob("*.rowset")
    data = bytearray(file.read_bytes())
    data[10] ^= 1
    file.write_bytes(data)
    findings = run("verify", shop / "orders", "--json").json["findings"]
    rowset, rescue = findings[0]["rowset"], tmp_path / "lost.parquet"
    options = (shop / "orders", "--rowsets", rowset, "--rescue", rescue)
    plan = run("repair", *options, "--dry-run", "--json").json
    assert plan["rows_lost"] == 20_000
    declined = run("repair", *options, answer="n\n")
    assert declined.code == 11
    assert "Drop 20,000 rows" in declined.err
    assert not rescue.exists()
    assert run("verify", shop).code == 8
    done = run("repair", *options, "--yes", "--json").json
    assert (done["rows_lost"], done["rescued"]) == (20_000, str(rescue))
    assert run("verify", shop).code == 0
    assert run("count", shop / "orders").out == "28\n"
    assert file.exists()


def test_checkpoint_and_hint_are_made_anew(run: Run, shop: Path) -> None:
    assert run("repair", shop, "--json").json["epoch"] == 6
    hint = shop / "_manifest" / "hint.json"
    assert hint.exists()
    hint.write_bytes(b"nonsense")
    assert run("repair", shop).code == 0
    assert hint.read_bytes() != b"nonsense"


def test_a_repair_that_is_not_clear_is_refused(run: Run, shop: Path, tmp_path: Path) -> None:
    lost = tmp_path / "lost.parquet"
    assert run("repair", shop / "orders", "--rowsets", 10**20, "--rescue", lost).code == 3
    orders, rescue = shop / "orders", tmp_path / "lost.parquet"
    for arguments in (
        ("--rescue", rescue),
        ("--rowsets", "0"),
        ("--rowsets", "x", "--rescue", rescue),
        ("--rowsets", "0", "--rescue", rescue),  # it can be read whole
    ):
        ran = run("repair", orders, *arguments)
        assert (ran.code, ran.err.count("\n")) == (2, 1), arguments
    assert not rescue.exists()


def test_lost_epochs_are_given_up_only_when_the_user_agrees(run: Run, shop: Path) -> None:
    colonnade.open_database(shop).repair()  # its hint proves that epoch 6 existed
    (shop / epoch_name(6)).unlink()
    before = files(shop)
    assert run("repair", shop).code == run("repair", shop, "--dry-run").code == 8
    plan = run("repair", shop, "--give-up-lost-epochs", "--dry-run", "--json").json
    assert "Would give up epoch 6" in run("repair", shop, "--give-up-lost-epochs", "--dry-run").out
    assert (plan["dry_run"], plan["epoch"], plan["given_up"]) == (True, 5, [6, 6])
    declined = run("repair", shop, "--give-up-lost-epochs", answer="n\n")
    assert declined.code == 11
    assert "Give up the lost epochs" in declined.err
    assert files(shop) == before
    done = run("repair", shop, "--give-up-lost-epochs", "--yes", "--json").json
    assert done == {**plan, "dry_run": False}
    assert run("verify", shop).code == 0
    again = run("repair", shop, "--give-up-lost-epochs", "--yes", "--json").json
    assert again["given_up"] is None


def test_a_dry_run_rebuilds_nothing(run: Run, shop: Path) -> None:
    before = files(shop)
    plan = run("repair", shop, "--dry-run", "--json").json
    assert files(shop) == before
    assert run("repair", shop, "--json").json == {**plan, "dry_run": False}


def files(folder: Path) -> dict[Path, tuple[bytes, int]]:
    """The bytes and the date of each file."""
    found = (path for path in folder.rglob("*") if path.is_file())
    return {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in found}
