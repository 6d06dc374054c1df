"""A table is removed with its own files and nothing else, called as Java calls it."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import colonnade
from colonnade.manifests.errors import ColonnadeError, InvalidInputError
from colonnade.manifests.ids import new_job_id, new_object_id, new_table_id
from colonnade.manifests.log import removed_folder
from colonnade.manifests.object_names import epoch_name
from colonnade.spark_ext.planner.catalog.removal import remove_table
from colonnade.spark_ext.planner.read.load import load
from tests.faults import Stopped

ROWS = pa.table({"id": [1, 2], "name": ["a", "b"]})


@pytest.fixture
def lone(tmp_path: Path) -> Path:
    """A lone table with rows, in a folder of its own."""
    colonnade.create(tmp_path / "base" / "t", ROWS.schema).append(ROWS)
    return tmp_path / "base" / "t"


def rows_seen(path: Path) -> int:
    """What a planner sees that has perhaps seen an earlier table there."""
    found = load({"path": str(path), "options": {}})
    epoch: int = found["view"]["epoch"]
    return colonnade.open(path).scan(epoch=epoch).to_arrow().num_rows


def test_a_lone_table_is_removed_with_its_folder(lone: Path) -> None:
    assert remove_table({"path": str(lone)}) == {"yes": True}
    assert list(lone.parent.iterdir()) == []
    assert remove_table({"path": str(lone)}) == {"yes": False}


def test_another_table_takes_the_place_of_one_that_was_removed(lone: Path) -> None:
    assert rows_seen(lone) == 2
    remove_table({"path": str(lone)})
    colonnade.create(lone, ROWS.schema)
    assert rows_seen(lone) == 0


def test_a_running_writer_learns_that_the_table_was_dropped(lone: Path) -> None:
    writer = colonnade.open(lone)
    remove_table({"path": str(lone)})
    with pytest.raises(ColonnadeError):
        writer.append(ROWS)
    assert not lone.exists()


def test_a_table_that_is_created_beside_a_removal_outlives_it(
    lone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spark forgets the name first, so another session may create the table again meanwhile."""
    real = removed_folder._move_log

    def move(folder: str, only_dropped: bool) -> None:
        monkeypatch.setattr(removed_folder, "_move_log", real)
        colonnade.create(lone, ROWS.schema).append(ROWS)
        real(folder, only_dropped)

    monkeypatch.setattr(removed_folder, "_move_log", move)
    remove_table({"path": str(lone)})
    assert [each.name for each in lone.parent.iterdir()] == ["t"]
    assert rows_seen(lone) == 2


def test_a_removal_whose_process_was_killed_is_finished(
    lone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(folder: str, only_dropped: bool) -> None:
        raise Stopped

    with monkeypatch.context() as patch:
        patch.setattr(removed_folder, "_move_log", killed)
        with pytest.raises(Stopped):
            remove_table({"path": str(lone)})
    assert remove_table({"path": str(lone)}) == {"yes": True}
    assert not lone.exists()


def test_files_of_other_programs_stay(lone: Path) -> None:
    (lone / "notes.txt").write_text("mine")
    (lone / "data").mkdir()
    remove_table({"path": str(lone)})
    assert sorted(each.name for each in lone.iterdir()) == ["data", "notes.txt"]


@pytest.mark.parametrize("name", ["d41d8cd98f00b204e9800998ecf8427e.txt", ".tmp-mine", ".tmp-0"])
@pytest.mark.parametrize("table", ["", "0123456789abcdef", "mine"])
def test_a_file_whose_name_only_looks_like_an_object_stays(
    lone: Path, table: str, name: str
) -> None:
    (lone / table).mkdir(exist_ok=True)
    (lone / table / name).write_text("mine")
    remove_table({"path": str(lone)})
    left = [each for each in lone.rglob("*") if each.is_file()]
    assert left == [lone / table / name]


@pytest.mark.parametrize("end", ["", ".rowset", ".dv", ".origin"])
def test_files_that_a_killed_writer_left_are_removed(lone: Path, end: str) -> None:
    left, folder = f"{new_object_id(new_job_id())}{end}", lone / new_table_id()
    folder.mkdir()
    (folder / left).write_text("left")
    (folder / f".tmp-{0:016x}-{left}").write_text("left")
    remove_table({"path": str(lone)})
    assert not lone.exists()


def test_a_table_with_a_damaged_log_is_removed(lone: Path) -> None:
    for file in (lone / "_manifest").iterdir():
        file.chmod(0o644)
        file.write_bytes(b"garbage")
    assert remove_table({"path": str(lone)}) == {"yes": True}
    assert not lone.exists()


def test_a_dropped_table_of_a_database_can_be_restored(tmp_path: Path) -> None:
    database = colonnade.create_database(tmp_path / "shop")
    database.create_table("t", ROWS.schema).append(ROWS)
    before = database.refresh().epoch
    assert remove_table({"path": f"{database.path}/t"}) == {"yes": True}
    assert database.tables() == []
    assert database.restore(epoch=before) > before
    assert database.table("t").scan().to_arrow().num_rows == 2


def test_a_database_is_not_removed_for_a_table(tmp_path: Path) -> None:
    database = colonnade.create_database(tmp_path / "shop")
    with pytest.raises(InvalidInputError, match="is a database, not a table"):
        remove_table({"path": database.path})
    assert (tmp_path / "shop" / "_manifest").is_dir()


def test_a_database_with_a_damaged_head_is_not_removed_for_a_table(tmp_path: Path) -> None:
    """A damaged lone table is removed. A database would lose the log of all its tables."""
    database = colonnade.create_database(tmp_path / "shop")
    before = database.create_table("t", ROWS.schema).append(ROWS)
    newest = tmp_path / "shop" / epoch_name(before)
    newest.chmod(0o644)
    newest.write_bytes(b"garbage")
    with pytest.raises(InvalidInputError, match="is a database, not a table"):
        remove_table({"path": database.path})
    assert newest.exists()
